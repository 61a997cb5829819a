#pragma once
// Simulated hosts in network namespaces, with delay, loss and NAT between them.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/process/child_process.h"

namespace gw::cli {

// Hosts 1 to n with the addresses 10.84.0.1, 10.84.0.2, ... on one switch (godwit-network-switch), which delays and drops packets as
// configured. A host behind NAT has a private address and a router in front of it. Needs root, iproute2, and nft for NAT. The destructor
// removes everything. One thread.
class DevNetwork {
 public:
  struct Config {
    std::size_t hosts = 1;
    std::size_t behind_nat = 0;      // the last so many
    std::vector<std::string> links;  // "FROM TO DELAY_MS JITTER_MS LOSS": hosts, or * for all
  };

  // Kind::unsupported: not root, or a tool is missing.
  static Result<std::unique_ptr<DevNetwork>> make(const Config& config);
  ~DevNetwork();

  // The command prefix that runs a program on that host.
  std::vector<std::string> enter(std::size_t host) const;
  // The address at which its daemon listens.
  std::string address(std::size_t host) const;

 private:
  explicit DevNetwork(const Config& config);
  Status build();
  Status add_host(std::size_t host);
  Status add_router(std::size_t host);
  Status add_namespace(const std::string& name);
  Status start_switch();
  Status tell_switch(const std::string& line);
  bool behind_nat(std::size_t host) const { return host + config_.behind_nat > config_.hosts; }
  std::string host_name(std::size_t host) const;
  std::string router_name(std::size_t host) const;

  const Config config_;
  const std::string prefix_;
  std::vector<std::string> namespaces_;  // made
  std::optional<os::ChildProcess> switch_;
  os::UniqueFd to_switch_, from_switch_;
};

// The lines of a file of links, without comments; each is checked. `hosts` is how many there are.
Result<std::vector<std::string>> read_links(const std::filesystem::path& file, std::size_t hosts);

}  // namespace gw::cli

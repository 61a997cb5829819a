#include "cli/daemon/dev_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <sstream>

#include "os/files/file.h"
#include "os/files/io.h"
#include "os/process/process.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLinkBytes = 1u << 20;
constexpr const char* kIp = "/usr/sbin/ip";

Status run_tool(std::vector<std::string> words) {
  GW_TRY(const os::ProcessResult done, os::run_process({.argv = words, .stdin_bytes = {}, .timeout = std::chrono::seconds(20)}));
  if (done.succeeded()) return ok();
  return fail(Kind::internal, "'{}' failed: {}", fmt::join(words, " "), done.err.substr(0, done.err.find('\n')));
}

Status ip(std::vector<std::string> words) {
  words.insert(words.begin(), kIp);
  return run_tool(std::move(words));
}

Result<fs::path> switch_program() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure).parent_path() / "godwit-network-switch";
  if (failure || !fs::exists(program, failure))
    return fail(Kind::not_found, "{} is missing: install it in the folder of godwit", program.string());
  return program;
}

bool names_host(const std::string& word, std::size_t hosts) {
  if (word == "*") return true;
  std::size_t host = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), host);
  return error == std::errc() && end == word.data() + word.size() && host >= 1 && host <= hosts;
}

struct Ends {
  os::UniqueFd read, write;
};
Result<Ends> make_ends() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Kind::internal, "cannot create a pipe: {}", os::reason(errno));
  return Ends{os::UniqueFd(ends[0]), os::UniqueFd(ends[1])};
}

}  // namespace

Result<std::vector<std::string>> read_links(const fs::path& file, std::size_t hosts) {
  GW_TRY(const Bytes bytes, os::read_file(file, kMaxLinkBytes));
  std::istringstream text{std::string(as_text(bytes))};
  std::vector<std::string> links;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    std::istringstream words(line);
    std::string from, to, more;
    double delay = 0, jitter = 0, loss = 0;
    if (!(words >> from)) continue;
    words >> to >> delay;
    const bool sound = !words.fail() && names_host(from, hosts) && names_host(to, hosts);
    if (!(words >> jitter)) words.clear();
    if (!(words >> loss)) words.clear();
    if (!sound || (words >> more))
      return fail(Kind::invalid, "{}, line {}: write FROM TO DELAY_MS [JITTER_MS [LOSS]], hosts from 1 to {} or *", file.string(), number,
                  hosts);
    links.push_back(fmt::format("{} {} {} {} {}", from, to, delay, jitter, loss));
  }
  return links;
}

DevNetwork::DevNetwork(const Config& config) : config_(config), prefix_(fmt::format("gwdev{}", ::getpid())) {}

DevNetwork::~DevNetwork() {
  to_switch_.reset();
  switch_.reset();
  for (const std::string& name : namespaces_)
    (void)ip({"netns", "delete", name});  // a namespace that cannot be deleted lasts until the machine restarts
}

Result<std::unique_ptr<DevNetwork>> DevNetwork::make(const Config& config) {
  if (::geteuid() != 0)
    return fail(Kind::unsupported, "--latency, --loss and --nat need network namespaces, which need root: use sudo, or drop these options");
  std::unique_ptr<DevNetwork> network(new DevNetwork(config));
  GW_TRY_VOID(network->build());
  return network;
}

Status DevNetwork::build() {
  GW_TRY_VOID(start_switch());
  for (std::size_t host = 1; host <= config_.hosts; ++host) {
    GW_TRY_VOID(add_host(host));
    if (behind_nat(host)) GW_TRY_VOID(add_router(host));
  }
  for (const std::string& link : config_.links) GW_TRY_VOID(tell_switch("link " + link));
  return ok();
}

std::string DevNetwork::host_name(std::size_t host) const { return fmt::format("{}-{}", prefix_, host); }
std::string DevNetwork::router_name(std::size_t host) const { return fmt::format("{}-{}r", prefix_, host); }

std::vector<std::string> DevNetwork::enter(std::size_t host) const { return {kIp, "netns", "exec", host_name(host)}; }

std::string DevNetwork::address(std::size_t host) const {
  return behind_nat(host) ? fmt::format("192.168.{}.2", host % 256) : fmt::format("10.84.{}.{}", host / 256, host % 256);
}

Status DevNetwork::add_namespace(const std::string& name) {
  GW_TRY_VOID(ip({"netns", "add", name}));
  namespaces_.push_back(name);
  return ip({"-n", name, "link", "set", "lo", "up"});
}

// A host behind NAT is connected to the switch through its router.
Status DevNetwork::add_host(std::size_t host) {
  GW_TRY_VOID(add_namespace(host_name(host)));
  if (behind_nat(host)) GW_TRY_VOID(add_namespace(router_name(host)));
  const std::string plugged = behind_nat(host) ? router_name(host) : host_name(host);
  GW_TRY_VOID(tell_switch("port " + plugged));
  GW_TRY_VOID(ip({"-n", plugged, "address", "add", fmt::format("10.84.{}.{}/16", host / 256, host % 256), "dev", "eth0"}));
  return ip({"-n", plugged, "link", "set", "eth0", "up"});
}

Status DevNetwork::add_router(std::size_t host) {
  const std::string inside = host_name(host), router = router_name(host), subnet = fmt::format("192.168.{}", host % 256);
  GW_TRY_VOID(ip({"-n", router, "link", "add", "lan", "type", "veth", "peer", "name", "eth0", "netns", inside}));
  GW_TRY_VOID(ip({"-n", router, "address", "add", subnet + ".1/24", "dev", "lan"}));
  GW_TRY_VOID(ip({"-n", router, "link", "set", "lan", "up"}));
  GW_TRY_VOID(ip({"-n", inside, "address", "add", subnet + ".2/24", "dev", "eth0"}));
  GW_TRY_VOID(ip({"-n", inside, "link", "set", "eth0", "up"}));
  GW_TRY_VOID(ip({"-n", inside, "route", "add", "default", "via", subnet + ".1"}));
  GW_TRY_VOID(ip({"netns", "exec", router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"}));
  return ip({"netns", "exec", router, "nft",
             "add table ip nat; add chain ip nat post { type nat hook postrouting priority 100; }; "
             "add rule ip nat post oifname \"eth0\" masquerade"});
}

Status DevNetwork::start_switch() {
  GW_TRY(const fs::path program, switch_program());
  GW_TRY(Ends in, make_ends());
  GW_TRY(Ends out, make_ends());
  GW_TRY(os::ChildProcess child,
         os::ChildProcess::start({.argv = {program.string()}, .env = {}, .descriptors = {{in.read.get(), 0}, {out.write.get(), 1}}}));
  switch_.emplace(std::move(child));
  to_switch_ = std::move(in.write);
  from_switch_ = std::move(out.read);
  return ok();
}

Status DevNetwork::tell_switch(const std::string& line) {
  GW_TRY_VOID(os::write_fully(to_switch_.get(), as_bytes(line + "\n")));
  std::string answer;
  for (char c = 0; ::read(from_switch_.get(), &c, 1) == 1 && c != '\n';) answer.push_back(c);
  if (answer == "ok") return ok();
  return fail(Kind::internal, "the network switch failed: {}", answer.empty() ? "it has exited" : answer);
}

}  // namespace gw::cli

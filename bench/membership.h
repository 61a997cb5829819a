#pragma once
// Processes that shall know each other: ours, and serf's agents.

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "os/files/file.h"
#include "os/process/child_process.h"

namespace gw::bench {

// A number of members on one loopback interface. The first one is started alone, the others join it.
class Membership {
 public:
  virtual ~Membership() = default;

  Status start_first();
  // All at once.
  Status start_others(std::size_t count);
  void kill(std::size_t member) { members_[member].kill(); }
  std::size_t size() const { return members_.size(); }

  // How many others a member takes for alive now.
  virtual Result<std::size_t> alive(std::size_t member) = 0;

  // The average over all running members.
  Result<double> resident_kib() const;
  Result<double> cpu_seconds() const;

 protected:
  Membership() = default;
  virtual std::vector<std::string> command(std::size_t member) const = 0;
  virtual bool ready(std::size_t member) = 0;
  std::filesystem::path folder() const { return folder_.path(); }
  std::filesystem::path log(std::size_t member) const { return folder_.path() / (std::to_string(member) + ".log"); }
  static int port(std::size_t member) { return 17000 + static_cast<int>(member); }

 private:
  Status start(std::size_t member);
  Status wait_until_ready(std::size_t member);

  os::TempDir folder_ = os::TempDir::make().value();
  std::vector<os::ChildProcess> members_;
};

class GodwitMembership final : public Membership {
 public:
  Result<std::size_t> alive(std::size_t member) override;

 private:
  std::vector<std::string> command(std::size_t member) const override;
  bool ready(std::size_t member) override;
  std::filesystem::path socket(std::size_t member) const { return folder() / (std::to_string(member) + ".socket"); }
};

// Asks their logs: a question to an agent would cost it more than what is measured.
class SerfMembership final : public Membership {
 public:
  // Kind::not_found: it is not installed.
  static Result<std::unique_ptr<SerfMembership>> make();
  Result<std::size_t> alive(std::size_t member) override;

 private:
  struct Reader {
    std::streamoff position = 0;
    std::set<std::string> alive;
  };

  explicit SerfMembership(std::filesystem::path program) : program_(std::move(program)) {}
  std::vector<std::string> command(std::size_t member) const override;
  bool ready(std::size_t member) override;
  Reader& read(std::size_t member);

  const std::filesystem::path program_;
  std::vector<Reader> readers_;
};

}  // namespace gw::bench

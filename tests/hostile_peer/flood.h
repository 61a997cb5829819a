#pragma once
// Every kind of message with every field out of range.

#include "answers.h"
#include "options.h"
#include "own_job.h"
#include "stranger.h"

namespace gw::hostile {

// Sends as a stranger without rights, or as the leader of a job of its own, whose threads the target then hosts and keeps.
class Flood {
 public:
  enum class As : std::uint8_t { stranger, leader };

  Flood(const Protocol& protocol, const Options& options, As as);

  // The exit code: 1 if the target is gone.
  int run();
  // Sends each kind once with nothing wrong in it, and prints those on which the target hangs up: their fields are not attacked one by one.
  int print_baseline();

 private:
  struct Shot {
    std::size_t kind, site;
    int variant;
  };
  static constexpr std::size_t kNoSite = ~std::size_t{0};

  std::vector<Shot> all_shots();
  bool fire(const Shot& shot);
  Status come_as_leader();
  void on_message(const std::string& encoded);
  void answer_wanted_blob(pb::Message& job);

  const Protocol& protocol_;
  const Options& options_;
  const As as_;
  Mutator mutator_;
  Answers answers_;
  Stranger stranger_;
  std::optional<OwnJob> own_;
  std::size_t own_identity_ = 0;  // of the stranger, that leads it
  std::size_t sent_ = 0;
};

}  // namespace gw::hostile

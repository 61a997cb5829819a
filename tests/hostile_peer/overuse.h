#pragma once
// Attacks that use the rights of every peer without end.

#include "answers.h"
#include "options.h"
#include "own_job.h"
#include "stranger.h"

namespace gw::hostile {

// The stranger leads jobs of its own, which is its right, and asks for more than its share.
class Overuse {
 public:
  Overuse(const Protocol& protocol, const Options& options);

  // Has the target keep images, thread after thread, of which no page is like another.
  int fill_disk();
  // Reserves and claims slots for many jobs, and runs nothing.
  int hold_slots();

 private:
  std::string image();
  Status lead(std::uint64_t nonce);
  void on_message(const std::string& encoded);

  const Protocol& protocol_;
  const Options& options_;
  Answers answers_;
  Stranger stranger_;
  Rng rng_;
  std::map<std::string, OwnJob> jobs_;
  std::uint64_t asked_bytes_ = 0, claimed_ = 0;
};

}  // namespace gw::hostile

#pragma once
// The standard input of a job, at its home.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "job/actions.h"
#include "wire/records.pb.h"

namespace gw::job {

// Input as numbered pieces: supplied once by the owner of the job, given to the thread that reads them as often as it is replayed, cut at
// the same places each time. docs/design/008-one-home.md, "Standard input".
//
// Invariants: a piece is written down before it is given out; it stays until a stable image contains it; the last one stays to the end,
// because it says which comes next. Limits: Config. A machine without I/O or threads: its home owns and drives it.
class StandardInput {
 public:
  struct Config {
    std::size_t bytes = 64u << 20;  // that no stable image contains
  };
  // Who reads, and what it wants.
  struct Want {
    PeerId host;
    std::uint64_t epoch = 0;
    std::uint64_t piece = 0;
    std::uint64_t in_image = 0;  // pieces before this one are in a stable image of the thread
  };
  // Whether images of the thread are made, so that it can be waited for one.
  enum class Images : std::uint8_t { none, some };

  StandardInput(const Config& config, const JobId& job, ThreadId thread, Images images)
      : config_(config), job_(job), thread_(thread), images_(images) {}

  // Before anything else. Kind::corrupt if a piece is missing between two.
  Status recover(std::map<std::uint64_t, wire::pb::InputRecord> pieces);

  // The piece; none: it has to be supplied first, and people are told (InputWanted). Kind::not_found: it was dropped, so the thread cannot
  // go on from where it is; Kind::overloaded: there is more input than is kept for a thread without images.
  Result<std::optional<wire::pb::InputRecord>> on_want(const Want& want, Actions& out);
  // The next piece; an empty one is the end. One that is there already is right too: the sender has not heard of it. Kind::invalid: it is
  // not the next one, too long, or comes after the end.
  Status supply(std::uint64_t piece, std::string bytes, Actions& out);
  // REQUIRES: it is there.
  const std::string& bytes_of(std::uint64_t piece) const { return pieces_.at(piece).bytes(); }
  // Who waits for a piece that is there now; once.
  std::optional<Want> take_answerable();
  // The thread has ended.
  void clear(Actions& out);

 private:
  std::uint64_t next() const { return pieces_.empty() ? 0 : pieces_.rbegin()->first + 1; }
  bool ended() const { return !pieces_.empty() && pieces_.rbegin()->second.bytes().empty(); }
  std::string key(std::uint64_t piece) const;
  void drop_before(std::uint64_t piece, Actions& out);

  const Config config_;
  const JobId job_;
  const ThreadId thread_;
  const Images images_;
  std::map<std::uint64_t, wire::pb::InputRecord> pieces_;
  std::size_t bytes_ = 0;     // of them
  std::optional<Want> want_;  // not answered yet
  bool told_ = false;         // people know that the next piece is wanted
};

}  // namespace gw::job

#pragma once
// The standard input of a job, at its home.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "job/actions.h"
#include "wire/records.pb.h"

namespace gw::job {

// Input as numbered pieces: supplied once by the submitter of the job, and given to the reading thread as often as it is replayed, cut at
// the same places each time. docs/design/008-one-home.md, "Standard input".
//
// Invariants: a piece is recorded before it is given out; it stays as long as Config::keep says; the last piece stays until the thread
// ends, because its number says which piece is next. Limits: Config. A machine without I/O or threads: its home owns and drives it.
class StandardInput {
 public:
  struct Config {
    std::size_t bytes = 64u << 20;  // of input that no stable image contains
    // How long a piece stays. until_taken: for threads that are not continued when they are lost, so no input is replayed.
    enum class Keep : std::uint8_t { until_in_image, until_taken };
    Keep keep = Keep::until_in_image;
  };
  // The host of the reading thread, and the piece it asks for.
  struct Want {
    PeerId host;
    std::uint64_t epoch = 0;
    std::uint64_t piece = 0;
    std::uint64_t in_image = 0;  // pieces before this one are in a stable image of the thread
  };
  // Whether images of the thread are made: input that is in an image can be dropped.
  enum class Images : std::uint8_t { none, some };

  StandardInput(const Config& config, const JobId& job, ThreadId thread, Images images)
      : config_(config), job_(job), thread_(thread), images_(images) {}

  // Called before any other function. Kind::corrupt if a piece is missing between two.
  Status recover(std::map<std::uint64_t, wire::pb::InputRecord> pieces);

  // Sends the piece, or tells people that it has to be supplied first (InputWanted). Kind::not_found: it was dropped, so the thread cannot
  // go on from where it is; Kind::overloaded: there is more input than is kept for a thread without images.
  Status on_want(const Want& want, Actions& out);
  // Adds the next piece; an empty one is the end. Sends it to the host that waits for it. A piece that is already here is right too: the
  // sender has not received the acknowledgement. Kind::invalid: the piece is not the next one, too long, or comes after the end.
  Status supply(std::uint64_t piece, std::string bytes, Actions& out);
  // The number of pieces that have been supplied, without the end.
  std::uint64_t supplied() const { return ended() ? next() - 1 : next(); }
  // Whether the thread could read it from the beginning again.
  bool has_beginning(ThreadId thread) const { return thread != thread_ || !dropped_; }
  // The thread has ended.
  void clear(Actions& out);

 private:
  std::uint64_t next() const { return pieces_.empty() ? 0 : pieces_.rbegin()->first + 1; }
  bool ended() const { return !pieces_.empty() && pieces_.rbegin()->second.bytes().empty(); }
  std::string key(std::uint64_t piece) const;
  void send(const Want& want, const std::string& bytes, Actions& out) const;
  void drop_before(std::uint64_t piece, Actions& out);

  const Config config_;
  const JobId job_;
  const ThreadId thread_;
  const Images images_;
  std::map<std::uint64_t, wire::pb::InputRecord> pieces_;
  std::size_t bytes_ = 0;     // of pieces_
  bool dropped_ = false;      // pieces that are in an image
  std::optional<Want> want_;  // not answered yet
  bool told_ = false;         // InputWanted was notified for the next piece
};

}  // namespace gw::job

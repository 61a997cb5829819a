#pragma once
// Which records hold what a job has written, and how much of that will never change.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/effect_gate.h"
#include "job/names.h"
#include "node/control.h"

namespace gw::node {

// What an effect adds to a stream of its job. Without a stream it adds nothing.
std::optional<Stream> stream_of(const job::Effect& effect);
std::uint64_t stream_bytes(const job::Effect& effect);
std::string stream_content(const job::Effect& effect);

// The output of a job is that of task 0 from beginning to end, then task 1, and so on, then that of forked threads by id. Final is what
// stands before the first thread that has not ended, and what that thread has written so far; of forked threads only when the job is over,
// since more may come.
//
// Holds sizes, not bytes: 16 for each effect. A value without threads.
class OutputIndex {
 public:
  // Some bytes of one effect.
  struct Part {
    job::ThreadId thread;
    std::uint64_t sequence;
    std::uint64_t skip;
    std::uint64_t size;
  };
  struct Plan {
    std::vector<Part> parts;
    bool end = false;  // nothing comes after these
  };

  explicit OutputIndex(std::uint32_t tasks);

  // REQUIRES: effects of a thread come in their order, each once.
  void add(const job::Effect& effect);
  void on_ended(job::ThreadId thread);
  void on_over();

  std::uint64_t final_size(Stream stream) const;
  // Up to `limit` bytes from `offset` on.
  Plan plan(Stream stream, std::uint64_t offset, std::uint64_t limit) const;

 private:
  struct Piece {
    std::uint64_t sequence;
    std::uint64_t end;  // so many bytes of the thread's stream up to and with this one
  };
  struct Written {
    std::array<std::vector<Piece>, kStreams> pieces;  // by stream
    bool ended = false;
    std::uint64_t size(Stream stream) const;
  };
  static std::size_t slot(Stream stream) { return static_cast<std::size_t>(stream) - 1; }
  const Written* find(job::ThreadId thread) const;
  void advance();
  static void add_parts(job::ThreadId id, const std::vector<Piece>& pieces, std::uint64_t from, std::uint64_t to, Plan& plan);

  std::vector<job::ThreadId> order_;  // tasks; with the forked threads once the job is over
  std::map<job::ThreadId, Written> threads_;
  std::size_t open_ = 0;                          // the first of order_ that has not ended
  std::array<std::uint64_t, kStreams> closed_{};  // bytes before it
  bool over_ = false;
};

}  // namespace gw::node

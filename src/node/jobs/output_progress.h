#pragma once
// How much of a running job's output is final.

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "job/effects/stored_effect.h"
#include "job/names.h"
#include "node/control.h"

namespace gw::node {

// The stream of a job to which an effect of this kind adds its bytes.
std::optional<Stream> output_stream_of(job::EffectKind kind);

// The output of a job is that of task 0 from beginning to end, then task 1, and so on, then that of forked threads by id. Output is final
// up to and including the present output of the first task that has not ended. The output of forked threads is final when the job is over,
// since more threads may be forked.
//
// Holds sizes, for each thread that has written and whose output is not final. A value without threads.
class OutputProgress {
 public:
  // The output of a task before its end may become void if failed tasks run again.
  enum class Unfinished : std::uint8_t { final, may_be_void };
  explicit OutputProgress(std::uint32_t tasks, std::vector<job::TaskSpan> selected = {}, Unfinished unfinished = Unfinished::final);

  void add(job::ThreadId thread, job::EffectKind kind, std::uint64_t bytes);
  void on_ended(job::ThreadId thread);
  // A run of the thread has failed: what it has printed is void.
  void on_repeated(job::ThreadId thread);
  void on_over();

  std::uint64_t final_size(Stream stream) const;

 private:
  struct Written {
    std::array<std::uint64_t, kStreams> size{};  // by stream
    bool ended = false;
  };
  static std::size_t slot(Stream stream) { return static_cast<std::size_t>(stream) - 1; }
  void advance();
  bool skip_unselected();

  const std::uint32_t tasks_;
  const std::vector<job::TaskSpan> selected_;  // of the array; empty: all
  std::size_t span_ = 0;                       // of selected_: that of open_
  const Unfinished unfinished_;
  std::map<job::ThreadId, Written> threads_;
  std::uint32_t open_ = 0;                        // the first task that has not ended
  std::array<std::uint64_t, kStreams> closed_{};  // bytes before it
  std::array<std::uint64_t, kStreams> all_{};
  bool over_ = false;
};

}  // namespace gw::node

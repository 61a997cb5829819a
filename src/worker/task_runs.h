#pragma once
// The tasks of an array that this worker has been given, and the results on their way out.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "isolate/fork_point.h"
#include "isolate/isolate.h"
#include "job/authority/task_config.h"
#include "job/thread_id.h"
#include "wire/messages/worker_frames.h"
#include "worker/outgoing_frames.h"

namespace gw::worker {

class VirtualThread;

// A queue from which the task threads of all lanes take the next task, in order, and a buffer that gathers results into frames
// (docs/design/013-task-plane.md). A frame leaves when no task waits, when kMostResults or kMostBytes have gathered, and kLongest after
// its first result.
//
// Memory is bounded: while kMaxUnsentBytes of frames wait for a parent that does not read, no task is taken. At most kMaxRanges wait.
// Any thread, except where said. Its lock is the innermost: nothing else is locked while it is held.
class TaskRuns {
 public:
  using Time = std::chrono::nanoseconds;  // os::monotonic_now()
  using Ranges = google::protobuf::RepeatedPtrField<wire::pb::TaskRange>;
  static constexpr std::size_t kMaxRanges = 1u << 16;
  static constexpr int kMostResults = 256;
  static constexpr std::size_t kMostBytes = 256u << 10;
  static constexpr std::chrono::microseconds kLongest{500};
  static constexpr std::size_t kMaxUnsentBytes = 4u << 20;

  struct Setup {
    wire::pb::ThreadConfig config;  // that all tasks share
    std::uint32_t tasks = 0;        // of the job
    wire::pb::TaskValues values = {};
    Time promote_after{0};
  };
  struct Task {
    std::uint32_t number;
    std::optional<wire::pb::TaskRow> row = {};
  };

  // `configs`: of the setup, without its files.
  TaskRuns(Setup setup, job::TaskConfigs configs, OutgoingFrames& outgoing);
  static Result<job::TaskConfigs> configs_of(const Setup& setup);

  // --- constant

  std::uint32_t tasks() const { return tasks_; }
  Time promote_after() const { return promote_after_; }
  job::ThreadId thread_of(std::uint32_t task) const { return job::thread_of_task(task, tasks_); }
  // Kind::invalid: the task has no good configuration.
  Result<isolate::GuestStart> start_of(const Task& task) const;
  // The image from which the first instance is made. The inputs are in it, and nowhere else.
  isolate::IsolateConfig config(const isolate::Limits& limits) const;

  // --- pool threads

  // The state that every task starts from; `make` makes it, once.
  using Point = std::shared_ptr<const isolate::ForkPoint>;  // shared by the task threads of all lanes
  Result<Point> start_point(const std::function<Result<isolate::ForkPoint>()>& make);
  // The next task, which is in progress until end() or add_promoted(). None: lets what has gathered leave.
  std::optional<Task> take();
  // The task that was taken has come to its end; without a result: it was dropped, or could not be made.
  void end(std::optional<wire::pb::TaskResult> result);
  // The task that was taken goes on as a thread.
  void add_promoted(std::shared_ptr<VirtualThread> thread);

  // --- the loop

  // Kind::invalid: there is no such task. Kind::overloaded: too many ranges wait.
  Status add(const wire::pb::ToWorker::Tasks& tasks);
  // The number of tasks that run at once, at most, from now on; tasks promoted after the first `promoted` ones keep lanes too.
  void set_lanes(std::uint64_t lanes, std::uint64_t promoted);
  // Forgets those that have not been taken.
  void drop(const Ranges& ranges);
  void drop(std::uint32_t task);
  std::vector<std::shared_ptr<VirtualThread>> take_promoted();
  // A task waits or is in progress.
  bool busy() const;
  // When results have to leave.
  std::optional<Time> next() const;
  void on_tick(Time now);
  // The next frame to send.
  std::optional<Bytes> take_frame();
  // Whether task threads may take tasks again that found the parent too far behind; true once.
  bool take_released();

 private:
  struct Range {
    std::uint32_t first, count;
  };
  void drop_locked(const Range& dropped);
  // Makes a frame of what has gathered. Encoded with the lock, so that results leave in the order in which they came. True: the loop has to
  // be woken.
  bool close_frame_locked();

  const std::uint32_t tasks_;
  const Time promote_after_;
  const wire::pb::ThreadConfig config_;  // with its inputs
  const job::TaskConfigs configs_;       // without them
  OutgoingFrames& outgoing_;

  std::mutex point_mutex_;
  Point point_;  // guarded by point_mutex_

  mutable std::mutex mutex_;
  std::deque<Range> waiting_;                        // guarded by mutex_, like all below
  std::map<std::uint32_t, wire::pb::TaskRow> rows_;  // of tasks that wait
  std::size_t in_progress_ = 0;
  std::uint64_t lanes_ = 0;       // with the promotions that the parent has heard of
  std::uint64_t promotions_ = 0;  // of all tasks
  std::vector<std::shared_ptr<VirtualThread>> promoted_;
  wire::pb::FromWorker gathered_;
  std::size_t gathered_bytes_ = 0;
  Time gathered_since_{0};
  bool loop_knows_ = false;  // that results gather
  std::deque<Bytes> frames_;
  std::size_t frame_bytes_ = 0;
  bool held_ = false;  // a task was not taken because of them
};

}  // namespace gw::worker

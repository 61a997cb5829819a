#pragma once
// A set of tasks of an array, as ranges.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gw::job {

// Tasks `first` to `first + count - 1`.
struct TaskSpan {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const TaskSpan&) const = default;
};

// Tasks by number. A million tasks that follow each other cost one entry; the worst case is one entry for every second task. Operations
// cost O(log ranges), and add() and remove() of a span also O(ranges in it). A value without threads.
class TaskSet {
 public:
  bool contains(std::uint32_t task) const;
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void add(TaskSpan span);
  void add(std::uint32_t task) { add(TaskSpan{task, 1}); }
  // Returns how many tasks of the span were in the set.
  std::size_t remove(TaskSpan span);
  bool remove(std::uint32_t task) { return remove(TaskSpan{task, 1}) > 0; }
  // Removes the first tasks that follow each other, at most `most`. None: the set is empty, or `most` is 0.
  std::optional<TaskSpan> take_first(std::size_t most);
  // The last tasks that follow each other, at most `most`.
  std::optional<TaskSpan> last(std::size_t most) const;
  void clear();

  std::vector<TaskSpan> spans() const;
  // The tasks of the set that are in the span, as ranges.
  std::vector<TaskSpan> within(TaskSpan span) const;

 private:
  std::map<std::uint32_t, std::uint32_t> ranges_;  // first task -> behind the last
  std::size_t size_ = 0;
};

}  // namespace gw::job

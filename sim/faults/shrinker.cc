#include "faults/shrinker.h"

#include <algorithm>
#include <utility>

namespace gw::sim {
namespace {

class Shrinker {
 public:
  Shrinker(FaultScript script, std::size_t runs, const StillFails& still_fails)
      : smallest_(std::move(script)), runs_(runs), still_fails_(still_fails) {}

  FaultScript shrink() {
    leave_out_kinds();
    leave_out_faults();
    halve(&FaultScript::tasks, 1);
    halve(&FaultScript::peers, 2);
    leave_out_kinds();
    leave_out_faults();
    return smallest_;
  }

 private:
  bool take_if_failing(FaultScript candidate) {
    if (runs_ == 0) return false;
    --runs_;
    if (!still_fails_(candidate)) return false;
    smallest_ = std::move(candidate);
    return true;
  }

  void leave_out_kinds() {
    for (const FaultMix::Field& field : FaultMix::fields()) {
      if (smallest_.mix.*field.value == FaultMix::none().*field.value) continue;
      FaultScript candidate = smallest_;
      candidate.mix.*field.value = FaultMix::none().*field.value;
      take_if_failing(std::move(candidate));
    }
  }

  void leave_out_faults() {
    std::size_t part = smallest_.faults.size();
    while (part > 0) {
      bool smaller = false;
      for (std::size_t begin = 0; begin < smallest_.faults.size();) {
        FaultScript candidate = smallest_;
        const std::size_t end = std::min(begin + part, candidate.faults.size());
        candidate.faults.erase(candidate.faults.begin() + static_cast<std::ptrdiff_t>(begin),
                               candidate.faults.begin() + static_cast<std::ptrdiff_t>(end));
        if (take_if_failing(std::move(candidate))) {
          smaller = true;
        } else {
          begin += part;
        }
      }
      if (!smaller || part > smallest_.faults.size()) part /= 2;
    }
  }

  void halve(std::uint32_t FaultScript::* number, std::uint32_t least) {
    while (smallest_.*number > least) {
      FaultScript candidate = smallest_;
      candidate.*number = std::max(least, candidate.*number / 2);
      if (!take_if_failing(std::move(candidate))) break;
    }
    while (smallest_.*number > least) {
      FaultScript candidate = smallest_;
      --(candidate.*number);
      if (!take_if_failing(std::move(candidate))) break;
    }
  }

  FaultScript smallest_;
  std::size_t runs_;
  const StillFails& still_fails_;
};

}  // namespace

FaultScript shrink(FaultScript script, std::size_t runs, const StillFails& still_fails) {
  return Shrinker(std::move(script), runs, still_fails).shrink();
}

}  // namespace gw::sim

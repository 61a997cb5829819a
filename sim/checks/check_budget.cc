#include <fmt/format.h>

#include "checks/checkers.h"

namespace gw::sim {

void BudgetChecker::on_sent(const wire::pb::PeerMessage& message, std::size_t bytes) {
  if (!message.has_job()) return;
  ++messages_;
  bytes_ += bytes;
}

void BudgetChecker::on_started(const job::JobId& job, ThreadId thread, std::uint64_t epoch) { epochs_[{job, thread}].insert(epoch); }

// The limits are 1.5 times the largest values seen over many seeds.
Complaint BudgetChecker::check(const Run& run) const {
  constexpr double kMessagesPerTask = 150;
  constexpr double kMessagesPerStep = 8;  // effects, determinants, images and their acknowledgements
  constexpr double kMorePerFault = 0.25;
  constexpr double kBytesPerMessage = 300;
  constexpr std::uint64_t kEpochsWithoutFault = 2;
  for (const auto& [thread, epochs] : epochs_) {
    const auto resumed = resumed_.find(thread.first);
    const std::size_t resumptions = resumed == resumed_.end() ? 0 : resumed->second;
    if (epochs.size() > run.faults + run.owner_returns + resumptions + kEpochsWithoutFault)
      return fmt::format(
          "thread {} began {} times in a run with {} faults, in which owners came back {} times and its job was resumed {} times",
          thread.second.value(), epochs.size(), run.faults, run.owner_returns, resumptions);
  }
  const double messages = static_cast<double>(run.tasks) * (kMessagesPerTask + kMessagesPerStep * static_cast<double>(run.steps)) *
                          (1 + kMorePerFault * static_cast<double>(run.faults));
  if (static_cast<double>(messages_) > messages)
    return fmt::format("{} messages for {} tasks of {} steps in a run with {} faults: {:.0f} are enough", messages_, run.tasks, run.steps,
                       run.faults, messages);
  if (static_cast<double>(bytes_) > messages * kBytesPerMessage)
    return fmt::format("{} bytes for {} tasks of {} steps in a run with {} faults: {:.0f} are enough", bytes_, run.tasks, run.steps,
                       run.faults, messages * kBytesPerMessage);
  return "";
}

}  // namespace gw::sim

#include "overlay/failures/failure_reports.h"

#include <algorithm>
#include <vector>

#include "base/reached.h"

namespace gw::overlay {

void FailureReports::add(const PeerId& peer, const Incarnation& incarnation, unsigned times) {
  const auto known = reports_.find(peer);
  if (known != reports_.end()) {
    if (known->second.incarnation < incarnation) known->second = {incarnation, times};
    return;
  }
  if (reports_.size() >= config_.most) {
    GW_REACHED("rumours: one made room for another");
    reports_.erase(std::ranges::min_element(reports_, {}, [](const auto& report) { return report.second.left; }));
  }
  reports_.emplace(peer, Report{incarnation, times});
}

void FailureReports::add_to(Message& message) {
  if (reports_.empty()) return;
  std::vector<std::pair<const PeerId, Report>*> order;
  for (auto& report : reports_)
    if (report.second.left > 0) order.push_back(&report);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return a->second.left != b->second.left ? a->second.left > b->second.left : a->first < b->first;
  });
  if (order.size() > static_cast<std::size_t>(config_.per_message)) order.resize(static_cast<std::size_t>(config_.per_message));
  for (auto* report : order) {
    --report->second.left;
    Message::Rumour& told = *message.add_rumours();
    told.set_peer(report->first.bytes());
    told.set_boot(report->second.incarnation.boot);
    told.set_stamp(report->second.incarnation.stamp);
  }
}

bool FailureReports::has_news() const {
  return std::ranges::any_of(reports_, [](const auto& report) { return report.second.left > 0; });
}

}  // namespace gw::overlay

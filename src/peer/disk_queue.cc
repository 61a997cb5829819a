#include "peer/disk_queue.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/reached.h"
#include "peer/message_kinds.h"

namespace gw::peer {

using job::Action;

void DiskQueue::add(job::Actions& turn, std::deque<Action>& ready) {
  if (!turn.records.empty() || !turn.appends.empty()) {
    batches_.push_back({.ticket = ++next_ticket_});
    ready.push_back(job::Persist{next_ticket_, std::move(turn.records), std::move(turn.appends)});
  }
  for (Action& action : turn.now) ready.push_back(std::move(action));
  if (batches_.empty()) {
    std::ranges::move(turn.later, std::back_inserter(ready));
    return;
  }
  // The disk has been full for long.
  std::size_t bytes = message_bytes(turn.later);
  if (waiting_ + turn.later.size() > config_.waiting || waiting_bytes_ + bytes > config_.waiting_bytes) {
    GW_REACHED("peer: messages that waited for the disk were dropped");
    std::erase_if(turn.later, [](const Action& action) { return std::holds_alternative<job::Send>(action); });
    bytes = 0;
  }
  waiting_ += turn.later.size();
  waiting_bytes_ += bytes;
  batches_.back().bytes += bytes;
  if (batches_.back().then.empty()) {
    batches_.back().then = std::move(turn.later);
  } else {
    std::ranges::move(turn.later, std::back_inserter(batches_.back().then));
  }
}

void DiskQueue::on_persisted(job::Ticket ticket, std::vector<Action>& ready) {
  GW_ASSERT(!batches_.empty() && batches_.front().ticket <= ticket);
  for (; !batches_.empty() && batches_.front().ticket <= ticket; batches_.pop_front()) {
    waiting_ -= batches_.front().then.size();
    waiting_bytes_ -= batches_.front().bytes;
    if (ready.empty()) {
      ready = std::move(batches_.front().then);
    } else {
      std::ranges::move(batches_.front().then, std::back_inserter(ready));
    }
  }
}

}  // namespace gw::peer

#include "transport/relay/fair_share.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace gw::transport {

Status FairShare::push(Flow flow, Bytes bytes) {
  GW_ASSERT(!bytes.empty());
  if (bytes.size() > config_.waiting - waiting_)
    return fail(Kind::overloaded, "{} bytes wait to be handed on already, which is all there is room for", waiting_);
  auto [queue, fresh] = flows_.try_emplace(flow);
  if (fresh) turns_.push_back(flow);
  waiting_ += bytes.size();
  queue->second.bytes += bytes.size();
  auto& pieces = queue->second.pieces;
  if (!pieces.empty() && pieces.back().size() + bytes.size() <= config_.quantum) {
    pieces.back().insert(pieces.back().end(), bytes.begin(), bytes.end());
  } else {
    pieces.push_back(std::move(bytes));
  }
  return ok();
}

std::optional<FairShare::Piece> FairShare::take(Time now) {
  if (turns_.empty() || bucket_.paid(now) > now) return std::nullopt;
  for (;;) {
    const Flow flow = turns_.front();
    Queue& queue = flows_.at(flow);
    const std::size_t size = queue.pieces.front().size();
    if (queue.deficit < size) {
      queue.deficit += config_.quantum;
      turns_.pop_front();
      turns_.push_back(flow);
      continue;
    }
    Piece piece{flow, std::move(queue.pieces.front())};
    queue.pieces.pop_front();
    queue.deficit -= size;
    queue.bytes -= size;
    waiting_ -= size;
    bucket_.take(now, static_cast<double>(size));
    if (queue.pieces.empty()) {  // its unused credit is lost: a queue cannot save up turns
      flows_.erase(flow);
      turns_.pop_front();
    }
    return piece;
  }
}

Time FairShare::next_deadline(Time now) { return turns_.empty() ? Time::max() : bucket_.paid(now); }

void FairShare::drop(Flow flow) {
  const auto found = flows_.find(flow);
  if (found == flows_.end()) return;
  waiting_ -= found->second.bytes;
  flows_.erase(found);
  std::erase(turns_, flow);
}

}  // namespace gw::transport

#include "transport/connection/request_table.h"

#include <algorithm>
#include <utility>

namespace gw::transport {

Result<std::uint32_t> RequestTable::open(Time deadline, Done done) {
  if (open_.size() >= limit_)
    return fail(Kind::overloaded, "{} requests to this peer wait for an answer already: try again later", open_.size());
  while (next_stream_ == 0 || open_.contains(next_stream_)) ++next_stream_;  // numbers come round after 2^32 requests
  open_.emplace(next_stream_, Open{deadline, std::move(done)});
  return next_stream_++;
}

void RequestTable::on_answer(std::uint32_t stream, Result<Bytes> answer) {
  auto found = open_.extract(stream);
  if (found) found.mapped().done(std::move(answer));
}

void RequestTable::on_tick(Time now) {
  // The function of a request may open another request, so each turn searches anew.
  auto expired = [&] { return std::ranges::find_if(open_, [&](const auto& entry) { return entry.second.deadline <= now; }); };
  for (auto found = expired(); found != open_.end(); found = expired())
    open_.extract(found).mapped().done(fail(Kind::timeout, "the peer did not answer a request in time"));
}

Time RequestTable::next_deadline() const {
  Time first = Time::max();
  for (const auto& [stream, request] : open_) first = std::min(first, request.deadline);
  return first;
}

void RequestTable::fail_all(const Error& error) {
  for (auto& [stream, request] : std::exchange(open_, {})) request.done(error);
}

}  // namespace gw::transport

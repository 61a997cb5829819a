#include "node/driver/bulk_pacer.h"

#include <algorithm>

namespace gw::node {
namespace {

// A tenth of a second: no burst that an owner would notice.
constexpr double kBurstSeconds = 0.1;
// A request whose blob has not come may be repeated after the blob had twice the time it needs, and this.
constexpr std::chrono::seconds kPatience{2};

}  // namespace

void BulkPacer::set_limit(Time now, std::uint64_t bytes_per_s) {
  out_.reset();
  in_.reset();
  on_their_way_.clear();
  if (bytes_per_s == 0) return;
  const auto rate = static_cast<double>(bytes_per_s);
  out_.emplace(TokenBucket::Config{rate, rate * kBurstSeconds}, now);
  in_.emplace(TokenBucket::Config{rate, rate * kBurstSeconds}, now);
}

void BulkPacer::add_blob(job::Send message) {
  const std::size_t bytes = message.message.ByteSizeLong();
  if (waiting_bytes_ + bytes > kMaxWaitingBytes) return;
  if (!blob_keys_.insert({message.to, message.message.job().blob().hash()}).second) return;
  waiting_bytes_ += bytes;
  blobs_.push_back({std::move(message), bytes});
}

void BulkPacer::add_request(Time now, job::Send message) {
  const std::string& hash = message.message.job().want_blob().hash();
  if (const auto found = on_their_way_.find(hash); found != on_their_way_.end() && now < found->second) return;
  if (requests_.size() < kMaxRequests && request_keys_.insert(hash).second) requests_.push_back(std::move(message));
}

void BulkPacer::on_received(Time now, const job::JobMessage& message, std::size_t bytes) {
  const bool asked = message.has_blob() && on_their_way_.erase(message.blob().hash()) > 0;
  in_->take(now, static_cast<double>(bytes) - (asked ? static_cast<double>(kMaxBlobBytes) : 0));
}

std::vector<job::Send> BulkPacer::take_due(Time now) {
  std::vector<job::Send> due;
  while (!blobs_.empty() && (!out_ || out_->paid(now) <= now)) {
    Waiting& first = blobs_.front();
    if (out_) out_->take(now, static_cast<double>(first.bytes));
    waiting_bytes_ -= first.bytes;
    blob_keys_.erase({first.message.to, first.message.message.job().blob().hash()});
    due.push_back(std::move(first.message));
    blobs_.pop_front();
  }
  while (!requests_.empty() && (!in_ || in_->paid(now) <= now)) {
    const std::string hash = requests_.front().message.job().want_blob().hash();
    request_keys_.erase(hash);
    if (in_) {
      in_->take(now, static_cast<double>(kMaxBlobBytes));
      if (on_their_way_.size() >= kMaxRequests) std::erase_if(on_their_way_, [&](const auto& entry) { return entry.second <= now; });
      if (on_their_way_.size() < kMaxRequests) on_their_way_[hash] = in_->paid(now) + kPatience;
    }
    due.push_back(std::move(requests_.front()));
    requests_.pop_front();
  }
  return due;
}

std::optional<BulkPacer::Time> BulkPacer::next(Time now) {
  std::optional<Time> next;
  const auto sooner = [&](Time time) { next = next ? std::min(*next, time) : time; };
  if (!blobs_.empty()) sooner(out_ ? out_->paid(now) : now);
  if (!requests_.empty()) sooner(in_ ? in_->paid(now) : now);
  return next;
}

}  // namespace gw::node

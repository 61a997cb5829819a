#pragma once
// The owner's limit on the bytes that this machine moves for jobs of other peers.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/token_bucket.h"
#include "job/actions.h"

namespace gw::node {

// Two token buckets, one for each direction. A blob waits until the bytes before it are paid for. Bytes that are on their way cannot be
// held back, so the *requests* for blobs wait: each is charged with a whole blob, and the rest is given back when the blob has come. Output
// of programs counts, and is not held back: home has to hear how its job gets on.
//
// A blob or request that waits already, or was sent a moment ago, is not added again: its sender repeats it, which would multiply the
// traffic that is to be limited. Limits: kMaxWaitingBytes of blobs wait, and kMaxRequests requests; what is beyond is dropped, and repeated
// later. Time is passed in; pure. Belongs to the node thread.
class BulkPacer {
 public:
  using Time = TokenBucket::Time;
  static constexpr std::size_t kMaxWaitingBytes = 64u << 20;
  static constexpr std::size_t kMaxRequests = 4096;
  static constexpr std::size_t kMaxBlobBytes = 1u << 20;

  // 0: no limit. Messages that wait are due at once then.
  void set_limit(Time now, std::uint64_t bytes_per_s);
  bool limited() const { return out_.has_value(); }

  // REQUIRES of these: limited(). `message` has a blob, or the request for one.
  void add_blob(job::Send message);
  void add_request(Time now, job::Send message);
  // Content that is not held back.
  void on_sent(Time now, std::size_t bytes) { out_->take(now, static_cast<double>(bytes)); }
  void on_received(Time now, const job::JobMessage& message, std::size_t bytes);

  // The messages that may go now.
  std::vector<job::Send> take_due(Time now);
  // When the next one may go; none: no message waits.
  std::optional<Time> next(Time now);

 private:
  using Key = std::pair<job::PeerId, std::string>;  // who gets the message, and which blob it is about
  struct Waiting {
    job::Send message;
    std::size_t bytes;
  };

  std::optional<TokenBucket> out_, in_;
  std::deque<Waiting> blobs_;
  std::set<Key> blob_keys_;  // of those
  std::size_t waiting_bytes_ = 0;
  std::deque<job::Send> requests_;
  std::set<std::string> request_keys_;        // of those
  std::map<std::string, Time> on_their_way_;  // blobs that were asked for, and when a request may be repeated
};

}  // namespace gw::node

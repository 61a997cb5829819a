#include "peer/uploads.h"

#include <algorithm>

namespace gw::peer {

using job::Actions;
using job::Time;

namespace {

const job::JobId kNoJob{};  // no peer can read blobs in the name of this job

}  // namespace

Error Uploads::no_room(std::string_view what) {
  return fail(Kind::overloaded, "the disk of the daemon is full, so it takes {}: free some space, for example with 'godwit job prune'",
              what);
}

void Uploads::add(Time now, job::Blob blob, Actions& out) {
  const Hash256 hash = blob.hash;
  auto found = uploads_.find(hash);
  if (found == uploads_.end()) {
    if (blobs_.disk_full()) return out.notify(job::BlobRefused{hash, no_room("no data for new jobs")});
    if (uploads_.size() >= config_.blobs)
      return out.notify(job::BlobRefused{
          hash, fail(Kind::overloaded, "{} blobs wait for a job to be submitted, which is the limit: submit one, or wait", config_.blobs)});
    found = uploads_.emplace(hash, Upload{}).first;
    blobs_.put(std::move(blob), kNoJob, out);
    blobs_.set_cached(hash);
  }
  found->second = {.until = now + config_.keep};
  look_at_ = std::min(look_at_, found->second.until);
  announce(hash, found->second, out);
}

Status Uploads::check_stored(const std::vector<Hash256>& blobs) const {
  const auto missing =
      std::ranges::find_if_not(blobs, [&](const Hash256& blob) { return blobs_.has(blob) || blobs_.cache().contains(blob); });
  return missing == blobs.end() ? ok() : fail(Kind::not_found, "blob {} of the job is not here: upload it first", missing->hex());
}

void Uploads::announce(const Hash256& hash, Upload& upload, Actions& out) {
  if (upload.announced || !blobs_.has(hash)) return;
  upload.announced = true;
  out.notify(job::BlobUploaded{hash});
}

void Uploads::on_stored(const Hash256& hash, Actions& out) {
  if (const auto found = uploads_.find(hash); found != uploads_.end()) announce(hash, found->second, out);
}

void Uploads::on_tick(Time now, Actions& out) {
  if (now < look_at_) return;
  look_at_ = job::kNever;
  std::erase_if(uploads_, [&](const auto& entry) {
    if (entry.second.until > now) {
      look_at_ = std::min(look_at_, entry.second.until);
      return false;
    }
    blobs_.release(entry.first, kNoJob, out);
    return true;
  });
}

Time Uploads::next_deadline() const { return look_at_; }

}  // namespace gw::peer

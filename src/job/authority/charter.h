#pragma once
// The charter of a job: its submitter, its grid, its manifest's hash and its first home.

#include <cstdint>
#include <optional>

#include "base/signature.h"
#include "job/names.h"
#include "wire/peer.pb.h"

namespace gw::job {

// The nonce of a job with this key: the same submission again is the same charter, and so the same job.
std::uint64_t nonce_of_key(std::string_view key);

// A charter whose signature and fields have been checked; code that has one need not check it again. An immutable value.
class Charter {
 public:
  static constexpr std::size_t kMaxKey = 128;

  // Takes the bytes of a pb::SignedCharter. Kind::invalid with the reason.
  static Result<Charter> check(ByteView signed_charter);
  // Signs `content`, whose version and submitter are set here.
  static Bytes sign(wire::pb::JobCharter content, const SigningKey& key);

  const JobId& id() const { return id_; }  // SHA-256 of bytes()
  const PeerId& first_home() const { return first_home_; }
  // Where the job runs. None: in the first grid of its home.
  const std::optional<wire::GridId>& grid() const { return grid_; }
  // The key of the user whose job it is.
  const Hash256& submitter() const { return submitter_; }
  const Hash256& manifest() const { return manifest_; }
  // The key is that of one job of its submitter; empty: the job has none.
  const std::string& key() const { return key_; }
  const wire::pb::SignedCharter& signed_charter() const { return signed_; }
  // The bytes as they were submitted.
  std::string bytes() const { return signed_.SerializeAsString(); }

 private:
  JobId id_;
  PeerId first_home_;
  std::optional<wire::GridId> grid_;
  Hash256 submitter_;
  Hash256 manifest_;
  std::string key_;
  wire::pb::SignedCharter signed_;
};

}  // namespace gw::job

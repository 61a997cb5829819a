#pragma once
// A peer of the grid that takes part in no job of others and tries to use up what its neighbours lend and store.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/signature.h"
#include "job/authority/authority.h"
#include "job/names.h"
#include "wire/peer.pb.h"
#include "world_signer.h"

namespace gw::sim {

// Speaks beside a normal peer, in its name, with jobs of its own, whose charters, rosters and grants are right. It searches for and claims
// slots for ever new jobs and renews the claims without ever giving them a thread, and it has images of ever new threads kept. The answers
// of the normal peer about these jobs, which would end them, are not sent. An object of the simulation.
class Stranger {
 public:
  struct Victim {
    std::size_t node;
    job::PeerId id;
  };
  struct Told {
    std::size_t to;
    wire::pb::JobMessage message;
  };

  Stranger(const SigningKey& key, std::uint64_t seed, std::vector<Victim> victims);
  Stranger(const Stranger&) = delete;  // its roster refers to its signer

  // The next messages.
  std::vector<Told> speak();
  // The answers to a message that a victim has sent to this peer.
  std::vector<Told> hear(std::size_t from, const wire::pb::JobMessage& message);
  bool owns(const std::string& job) const { return charters_.contains(job); }

 private:
  std::string new_job();
  wire::pb::JobMessage about(const std::string& job) const;
  wire::pb::JobMessage next_search(const std::string& job);
  wire::pb::JobMessage next_image(const job::PeerId& keeper);

  const SigningKey key_;
  const PublicKey public_key_;
  const job::PeerId self_;
  const WorldSigner signer_;
  const std::vector<Victim> victims_;
  std::uint64_t nonce_;
  std::uint64_t rounds_ = 0;
  std::map<std::string, wire::pb::SignedCharter> charters_;
  std::map<std::size_t, std::pair<std::string, std::uint64_t>> claims_;  // by victim: job and claim
  std::string kept_job_;                                                 // the job whose images are kept
  job::LeaderRoster roster_;
  wire::pb::SignedRoster signed_roster_;
  std::uint64_t next_thread_ = 1;
  std::map<std::string, std::string> blobs_;  // by hash: the parts of its images
};

}  // namespace gw::sim

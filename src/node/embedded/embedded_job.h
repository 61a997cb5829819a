#pragma once
// The job that a command makes of its program, and the peer that it gives it to.

#include "base/signature.h"
#include "job/names.h"
#include "peer/peer.h"
#include "wire/job_spec.pb.h"
#include "wire/signer.h"

namespace gw::node {

// The peer of a command has no other peer to prove itself to: one well-known key serves all commands, and a job file is not bound to the
// machine that made it. The signatures that the peer makes for itself are only hashes: a signature that proves nothing need not cost 0.1
// ms.
class CommandSigner final : public wire::Signer {
 public:
  CommandSigner();

  const SigningKey& key() const { return key_; }
  wire::PeerId self() const { return id_of(key_.public_key()); }
  wire::PeerId id_of(const PublicKey& key) const override;
  Signature sign(ByteView text) const override;
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override;

 private:
  const SigningKey key_;
};

// Whether the program continues after everything was killed.
enum class Survival : std::uint8_t { none, file };
peer::Peer::Config embedded_config(Survival survival);

struct EmbeddedJob {
  Bytes manifest;
  Bytes signed_charter;
  job::JobId id;
};
// The part of the program that the peer has to know. The worker gets its configuration from the command, as a whole and without limits on
// its length.
struct EmbeddedProgram {
  ByteView module;
  ByteView image;  // that it begins with, without the module; empty: it starts
};
EmbeddedJob make_embedded_job(const wire::pb::JobSpec& spec, const EmbeddedProgram& program, const CommandSigner& signer);

std::uint64_t random_number();

}  // namespace gw::node

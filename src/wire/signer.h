#pragma once
// Signatures of peers, for machines without I/O.

#include "base/signature.h"
#include "wire/names.h"

namespace gw::wire {

// Signs with the key of this peer, and checks signatures of all. The daemon's is Ed25519; the simulator's is a hash that only the owner can
// make.
class Signer {
 public:
  virtual ~Signer() = default;
  virtual PeerId id_of(const PublicKey& key) const = 0;
  virtual Signature sign(ByteView text) const = 0;
  virtual bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const = 0;
};

}  // namespace gw::wire

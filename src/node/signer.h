#pragma once
// Signatures of descriptors and of a leader's statements.

#include "overlay/membership/descriptor.h"
#include "transport/identity/identity.h"

namespace gw::node {

// Ed25519 with the key of the peer's TLS certificate, so that the peer at the other end of a connection and the signer have the same id.
// The identity outlives this object.
class PeerSigner final : public overlay::Signer {
 public:
  explicit PeerSigner(const transport::Identity& identity) : identity_(identity) {}

  overlay::PeerId id_of(const PublicKey& key) const override { return {transport::id_of(key)}; }
  Signature sign(ByteView text) const override { return identity_.sign(text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override {
    return verify(key, text, signature).has_value();
  }

 private:
  const transport::Identity& identity_;
};

}  // namespace gw::node

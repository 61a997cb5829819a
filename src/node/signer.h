#pragma once
// Signatures of what peers say about themselves.

#include "overlay/descriptor.h"
#include "transport/identity.h"

namespace gw::node {

// Ed25519 with the key that also opens connections, so that whoever is met there and whoever signed are the same. The identity outlives it.
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

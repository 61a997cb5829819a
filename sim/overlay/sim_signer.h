#pragma once
// Signatures for simulations: cheap, and not to be forged by anybody in them.

#include "overlay/descriptor.h"

namespace gw::sim::overlay_simulation {

// A keyed hash. Everybody can check one, since all notaries share the secret; but a notary signs only with the key it was made for.
class SimSigner final : public gw::overlay::Signer {
 public:
  SimSigner(const PublicKey& key, std::uint64_t secret) : key_(key), secret_(secret) {}

  gw::overlay::PeerId id_of(const PublicKey& key) const override;
  Signature sign(ByteView text) const override { return made_by(key_, text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override { return made_by(key, text) == signature; }

  const PublicKey& key() const { return key_; }

 private:
  Signature made_by(const PublicKey& key, ByteView text) const;

  PublicKey key_;
  std::uint64_t secret_;
};

// Of the host of that number.
PublicKey sim_key(std::uint64_t seed, std::uint32_t number);

}  // namespace gw::sim::overlay_simulation

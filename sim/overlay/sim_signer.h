#pragma once
// Signatures for simulations: cheap, and unforgeable within a simulation.

#include "overlay/membership/descriptor.h"

namespace gw::sim::overlay_simulation {

// A keyed hash. Every SimSigner can check a signature, since all share the secret; but each signs only with its own key.
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

// The signer of the host with that number.
PublicKey sim_key(std::uint64_t seed, std::uint32_t number);

}  // namespace gw::sim::overlay_simulation

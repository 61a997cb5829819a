#pragma once
// Signatures in a simulated world: fast, and no peer makes one for another.

#include <cstring>

#include "overlay/membership/descriptor.h"

namespace gw::sim {

// A hash over key and text stands for a signature. Lying peers repeat signed messages of others; they do not compute signatures.
class WorldSigner final : public overlay::Signer {
 public:
  explicit WorldSigner(const PublicKey& key) : key_(key) {}

  overlay::PeerId id_of(const PublicKey& key) const override { return {sha256(key)}; }
  Signature sign(ByteView text) const override { return mixture(key_, text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override { return signature == mixture(key, text); }

 private:
  static Signature mixture(const PublicKey& key, ByteView text) {
    std::uint64_t state = 0xcbf29ce484222325u;
    for (const ByteView part : {ByteView(key), text})
      for (const std::uint8_t byte : part) state = (state ^ byte) * 0x100000001b3u;
    Signature signature{};
    std::memcpy(signature.data(), &state, sizeof state);
    return signature;
  }

  const PublicKey key_;
};

}  // namespace gw::sim

#pragma once
// Ed25519: who wrote something. Signing is deterministic: the same key and bytes give the same signature.

#include <array>
#include <cstdint>

#include "base/bytes.h"

namespace gw {

using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

// A private key: the 32 secret bytes from which everything else follows. A value; code that stores one sets the file's permissions.
class SigningKey {
 public:
  explicit SigningKey(const std::array<std::uint8_t, 32>& secret);

  const PublicKey& public_key() const { return public_key_; }
  Signature sign(ByteView message) const;

 private:
  std::array<std::uint8_t, 32> secret_;
  PublicKey public_key_;
};

// Kind::invalid if `signature` is not one of `key` over `message`, whatever is wrong with it.
Status verify(const PublicKey& key, ByteView message, ByteView signature);

}  // namespace gw

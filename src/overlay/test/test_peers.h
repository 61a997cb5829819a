#pragma once
// Peers as the tests of overlay machines need them: quickly made, and signed in a way that costs nothing.

#include <algorithm>
#include <cstring>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// Signatures are a mixture of key and text: a test that calls sign() acts as the owner of `key`. Tests do not forge one by chance.
class TestSigner : public Signer {
 public:
  TestSigner() = default;
  explicit TestSigner(const PublicKey& key) : key_(key) {}

  PeerId id_of(const PublicKey& key) const override {
    PeerId id;
    std::ranges::copy(key, id.hash.bytes.begin());
    return id;
  }
  Signature sign(ByteView text) const override { return mixture(key_, text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override { return signature == mixture(key, text); }

 private:
  static Signature mixture(const PublicKey& key, ByteView text) {
    std::uint64_t state = 0xcbf29ce484222325u;
    const auto mix = [&](ByteView bytes) {
      for (const std::uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3u;
    };
    mix(key);
    mix(text);
    Signature signature{};
    std::memcpy(signature.data(), &state, sizeof state);
    return signature;
  }

  PublicKey key_{};
};

// The id is the key; the number is spread over its first bytes, so that ids of consecutive numbers are far apart.
inline PublicKey test_key(std::uint64_t number) {
  std::uint64_t z = number * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
  PublicKey key{};
  for (std::size_t i = 0; i < 8; ++i) {
    key[i] = static_cast<std::uint8_t>(z >> (56 - 8 * i));
    key[8 + i] = static_cast<std::uint8_t>(number >> (56 - 8 * i));
  }
  return key;
}
inline PeerId test_id(std::uint64_t number) { return TestSigner().id_of(test_key(number)); }

inline Descriptor test_peer(std::uint64_t number, std::uint32_t stamp = 1) {
  Descriptor descriptor;
  descriptor.key = test_key(number);
  descriptor.id = test_id(number);
  descriptor.address = fmt::format("peer-{}:1", number);
  descriptor.incarnation = {1, stamp};
  sign(GridId{}, TestSigner(descriptor.key), descriptor);
  return descriptor;
}

}  // namespace gw::overlay

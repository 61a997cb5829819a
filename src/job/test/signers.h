#pragma once
// A fast fake signer for tests.

#include <algorithm>
#include <cstring>

#include "job/authority/charter.h"
#include "wire/messages/peer_messages.h"
#include "wire/signer.h"

namespace gw::job::test {

inline PublicKey key_of(std::uint8_t number) {
  PublicKey key{};
  key[0] = number;
  return key;
}
inline PeerId id_of(std::uint8_t number) { return {sha256(key_of(number))}; }

// A hash over key and text stands for a signature.
class TestSigner final : public wire::Signer {
 public:
  explicit TestSigner(std::uint8_t number) : key_(job::test::key_of(number)) {}

  PeerId id_of(const PublicKey& key) const override { return {sha256(key)}; }
  Signature sign(ByteView text) const override { return mixture(key_, text); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override { return signature == mixture(key, text); }

 private:
  static Signature mixture(const PublicKey& key, ByteView text) {
    ByteWriter writer;
    writer.bytes(key);
    writer.bytes(text);
    const Hash256 hash = sha256(writer.take());
    Signature signature{};
    std::ranges::copy(hash.bytes, signature.begin());
    return signature;
  }

  const PublicKey key_;
};

// A charter of a job that peer `home` leads.
inline Charter charter_of(std::uint8_t home, std::uint64_t nonce = 1) {
  wire::pb::JobCharter content;
  content.set_nonce(nonce);
  content.set_first_home(id_of(home).bytes());
  content.set_manifest(std::string(32, 'm'));
  return Charter::check(Charter::sign(content, SigningKey(std::array<std::uint8_t, 32>{9}))).value();
}

}  // namespace gw::job::test

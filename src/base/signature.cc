#include "base/signature.h"

#include <openssl/evp.h>

#include <memory>

namespace gw {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* state) const { EVP_MD_CTX_free(state); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using Digest = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

Key private_key(const std::array<std::uint8_t, 32>& secret) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret.data(), secret.size()));
  GW_ASSERT(key != nullptr);  // any 32 bytes are a key
  return key;
}

}  // namespace

SigningKey::SigningKey(const std::array<std::uint8_t, 32>& secret) : secret_(secret) {
  std::size_t size = public_key_.size();
  GW_ASSERT(EVP_PKEY_get_raw_public_key(private_key(secret_).get(), public_key_.data(), &size) == 1 && size == public_key_.size());
}

Signature SigningKey::sign(ByteView message) const {
  const Key key = private_key(secret_);
  const Digest state(EVP_MD_CTX_new());
  Signature signature;
  std::size_t size = signature.size();
  GW_ASSERT(EVP_DigestSignInit(state.get(), nullptr, nullptr, nullptr, key.get()) == 1);
  GW_ASSERT(EVP_DigestSign(state.get(), signature.data(), &size, message.data(), message.size()) == 1 && size == signature.size());
  return signature;
}

Status verify(const PublicKey& public_key, ByteView message, ByteView signature) {
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, public_key.data(), public_key.size()));
  const Digest state(EVP_MD_CTX_new());
  const bool good = key != nullptr && EVP_DigestVerifyInit(state.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                    EVP_DigestVerify(state.get(), signature.data(), signature.size(), message.data(), message.size()) == 1;
  if (!good) return fail(Kind::invalid, "the signature does not belong to these bytes and the key {}", hex(public_key));
  return ok();
}

}  // namespace gw

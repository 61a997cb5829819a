#include "base/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace gw {
namespace {

// Fetched once: OpenSSL 3 otherwise looks the algorithm up again on every call, which costs more than hashing a small input. The first use
// in a process would read the system's configuration file, a millisecond; nothing in it concerns hashing.
const EVP_MD* algorithm() {
  static const EVP_MD* const kFetched = [] {
    GW_ASSERT(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1);
    return EVP_MD_fetch(nullptr, "SHA256", nullptr);
  }();
  GW_ASSERT(kFetched != nullptr);
  return kFetched;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<Hash256> parse_hash(std::string_view text) {
  Hash256 hash;
  if (text.size() != 2 * hash.bytes.size()) return fail(Kind::invalid, "a SHA-256 hash has 64 hexadecimal digits, not {}", text.size());
  for (std::size_t i = 0; i < hash.bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return fail(Kind::invalid, "'{}' is not a hash of lower-case hexadecimal digits", text);
    hash.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return hash;
}

Hash256 sha256(ByteView bytes) {
  Hash256 hash;
  GW_ASSERT(EVP_Digest(bytes.data(), bytes.size(), hash.bytes.data(), nullptr, algorithm(), nullptr) == 1);
  return hash;
}

void Sha256::FreeState::operator()(void* state) const { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(state)); }

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  GW_ASSERT(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(state_.get()), algorithm(), nullptr) == 1);
}

void Sha256::update(ByteView bytes) {
  GW_ASSERT(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(state_.get()), bytes.data(), bytes.size()) == 1);
}

Hash256 Sha256::finish() {
  Hash256 hash;
  GW_ASSERT(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(state_.get()), hash.bytes.data(), nullptr) == 1);
  return hash;
}

}  // namespace gw

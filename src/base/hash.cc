#include "base/hash.h"

#include <openssl/sha.h>

// OpenSSL's functions from before it had providers, of which it disapproves: with a provider, the first hash of a process takes a
// millisecond, as long as hashing one and a half megabytes.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

namespace gw {
namespace {

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
  SHA256_CTX state;
  GW_ASSERT(SHA256_Init(&state) == 1 && SHA256_Update(&state, bytes.data(), bytes.size()) == 1);
  GW_ASSERT(SHA256_Final(hash.bytes.data(), &state) == 1);
  return hash;
}

void Sha256::FreeState::operator()(void* state) const { delete static_cast<SHA256_CTX*>(state); }

Sha256::Sha256() : state_(new SHA256_CTX) { GW_ASSERT(SHA256_Init(static_cast<SHA256_CTX*>(state_.get())) == 1); }

void Sha256::update(ByteView bytes) { GW_ASSERT(SHA256_Update(static_cast<SHA256_CTX*>(state_.get()), bytes.data(), bytes.size()) == 1); }

Hash256 Sha256::finish() {
  Hash256 hash;
  GW_ASSERT(SHA256_Final(hash.bytes.data(), static_cast<SHA256_CTX*>(state_.get())) == 1);
  return hash;
}

}  // namespace gw

#pragma clang diagnostic pop

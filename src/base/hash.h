#pragma once
// SHA-256, the content id of everything: modules, pages, images, build results.

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace gw {

struct Hash256 {
  std::array<std::uint8_t, 32> bytes{};

  std::string hex() const { return gw::hex(bytes); }
  auto operator<=>(const Hash256&) const = default;
};

// Reads 64 hexadecimal digits.
Result<Hash256> parse_hash(std::string_view text);

Hash256 sha256(ByteView bytes);

// The hashes of two texts, in the time of one if they have the same length and the processor has instructions for it.
std::pair<Hash256, Hash256> sha256_both(ByteView first, ByteView second);

// The same over bytes that come in pieces. finish() may be called once.
class Sha256 {
 public:
  Sha256();
  void update(ByteView bytes);
  Hash256 finish();

 private:
  struct FreeState {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, FreeState> state_;  // EVP_MD_CTX, kept out of this header
};

}  // namespace gw

template <>
struct std::hash<gw::Hash256> {
  // The bytes of a digest are uniform already.
  std::size_t operator()(const gw::Hash256& hash) const noexcept {
    std::size_t word;
    std::memcpy(&word, hash.bytes.data(), sizeof word);
    return word;
  }
};

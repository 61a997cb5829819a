#include "base/hash.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace gw {
namespace {

// FIPS 180-2, appendix B.1.
constexpr std::string_view kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Hash, MatchesTheStandard) { EXPECT_EQ(sha256(as_bytes("abc")).hex(), kAbc); }

TEST(Hash, PiecesGiveTheSameAsTheWhole) {
  Sha256 pieces;
  pieces.update(as_bytes("a"));
  pieces.update({});
  pieces.update(as_bytes("bc"));
  EXPECT_EQ(pieces.finish(), sha256(as_bytes("abc")));
}

TEST(Hash, ParsesItsOwnText) {
  EXPECT_EQ(parse_hash(kAbc).value(), sha256(as_bytes("abc")));
  EXPECT_FALSE(parse_hash(kAbc.substr(1)));
  EXPECT_FALSE(parse_hash(std::string(64, 'x')));
  EXPECT_FALSE(parse_hash(std::string(64, 'A')));
}

TEST(Hash, IsAKey) {
  std::unordered_set<Hash256> seen{sha256(as_bytes("a")), sha256(as_bytes("b")), sha256(as_bytes("a"))};
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace gw

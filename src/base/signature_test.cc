#include "base/signature.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gw {
namespace {

std::array<std::uint8_t, 32> secret(std::uint8_t fill) {
  std::array<std::uint8_t, 32> bytes;
  bytes.fill(fill);
  return bytes;
}

// RFC 8032, 7.1, test 1: the empty message.
TEST(Signature, IsTheOneOfTheStandard) {
  const std::string text = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
  std::array<std::uint8_t, 32> key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  const SigningKey signer(key);
  EXPECT_EQ(hex(signer.public_key()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(hex(signer.sign({})).substr(0, 32), "e5564300c360ac729086e2cc806e828a");
}

TEST(Signature, HoldsForItsKeyAndBytesOnly) {
  const SigningKey alice(secret(1));
  const SigningKey bob(secret(2));
  const ByteView message = as_bytes("run this");
  const Signature signature = alice.sign(message);
  EXPECT_TRUE(verify(alice.public_key(), message, signature).has_value());
  EXPECT_EQ(verify(bob.public_key(), message, signature).error().kind, Kind::invalid);
  EXPECT_FALSE(verify(alice.public_key(), as_bytes("run that"), signature).has_value());
  EXPECT_FALSE(verify(alice.public_key(), message, ByteView(signature).first(63)).has_value());
  Signature damaged = signature;
  damaged[40] ^= 1;
  EXPECT_FALSE(verify(alice.public_key(), message, damaged).has_value());
}

}  // namespace
}  // namespace gw

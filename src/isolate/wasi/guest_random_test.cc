#include "isolate/wasi/guest_random.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace gw::isolate {
namespace {

Bytes draw(GuestRandom& random, std::size_t count) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

// RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce zero, block counters 0 and 1.
TEST(GuestRandom, IsTheKeyStreamOfChaCha20) {
  GuestRandom random;
  EXPECT_EQ(hex(draw(random, 64)),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  EXPECT_EQ(hex(draw(random, 32)), "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed");
}

TEST(GuestRandom, GoesOnFromASavedPosition) {
  GuestRandom::Seed seed{};
  seed[3] = 7;
  GuestRandom whole(seed, 0), first(seed, 0);
  Bytes expected = draw(whole, 300);
  Bytes got = draw(first, 77);
  GuestRandom second(first.seed(), first.position());
  Bytes rest = draw(second, 223);
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace gw::isolate

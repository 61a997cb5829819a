#include "wire/invitation.h"

#include <gtest/gtest.h>

#include "wire/base32.h"

namespace gw::wire {
namespace {

SigningKey test_grid_key(std::uint8_t seed = 7) {
  std::array<std::uint8_t, 32> secret{};
  secret.fill(seed);
  return SigningKey(secret);
}

Invitation example() {
  const SigningKey key = test_grid_key();
  Invitation invitation{.grid_key = key.public_key(), .name = "lab", .serial = 0x1234567890ab0000, .until = 1'900'000'000, .uses = 3};
  invitation.addresses = {"192.0.2.7:7400", "[2001:db8::1]:7400"};
  sign(key, invitation);
  return invitation;
}

// The text with other bytes inside, and a check sum that is right again.
template <class Change>
std::string altered(Change change) {
  Bytes bytes = parse_base32(std::string_view(text_of(example())).substr(kInvitationScheme.size())).value();
  bytes.resize(bytes.size() - 4);
  change(bytes);
  const Hash256 sum = sha256(bytes);
  bytes.insert(bytes.end(), sum.bytes.begin(), sum.bytes.begin() + 4);
  return std::string(kInvitationScheme) + base32(bytes);
}

std::string complaint(std::string_view text) {
  const auto parsed = parse_invitation(text);
  return parsed ? "" : parsed.error().detail;
}

TEST(Base32, IsThatOfRfc4648) {
  EXPECT_EQ(base32(as_bytes("foobar")), "mzxw6ytboi");
  EXPECT_EQ(base32({}), "");
  for (const std::string_view text : {"f", "fo", "foo", "foob", "fooba", "foobar"})
    EXPECT_EQ(as_text(parse_base32(base32(as_bytes(text))).value()), text);
  EXPECT_EQ(as_text(parse_base32("MZXW6YTBOI").value()), "foobar");
  for (const char* wrong : {"m", "mz1", "mzx", "mz xw", "m\xff"}) EXPECT_FALSE(parse_base32(wrong)) << wrong;
}

TEST(Invitation, ComesBackAsItWasMade) {
  EXPECT_EQ(parse_invitation(text_of(example())).value(), example());
  EXPECT_EQ(parse_invitation(" \n" + text_of(example()) + "\n").value(), example());
}

// Users have invitations on paper and in their mail: the format must not change.
TEST(Invitation, TheTextFormatDoesNotChange) {
  EXPECT_EQ(text_of(example()),
            "godwit:ahveu3dd4kofecv66vihwezoyx4zkr3wv27l464siipou2iui3jcyaaavoihqvrucialgp3raaaaaaadaaaag3dbmiba4mjzgixdalr"
            "sfy3tunzugaybewzsgaydcotemi4duorrlu5donbqgcjtpcrkwz4qnmuc4bmi2a5x6prhaixsfjr7tc4rzqwosyaisfz7gbvd476simf3jnaj5"
            "sjanezo6obt2h223zl77jwelkfpototvaygym7y4ea");
}

TEST(Invitation, EveryChangedCharacterIsNoticed) {
  const std::string text = text_of(example());
  for (std::size_t i = kInvitationScheme.size(); i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'a' ? 'b' : 'a';
    EXPECT_NE(complaint(changed).find("checksum"), std::string::npos) << i;
    EXPECT_NE(complaint(text.substr(0, i)), "") << i;
  }
}

TEST(Invitation, AnAlteredOneIsNotSignedAnyMore) {
  for (const std::size_t at : {1u, 33u, 41u, 49u, 51u, 53u, 60u, 120u})
    EXPECT_NE(complaint(altered([at](Bytes& bytes) { bytes[at] ^= 1; })), "") << at;
  EXPECT_NE(complaint(altered([](Bytes& bytes) { bytes[41] ^= 1; })).find("was altered"), std::string::npos);
}

TEST(Invitation, SaysWhatIsWrong) {
  EXPECT_NE(complaint("10.0.0.1:7400").find("begin with 'godwit:'"), std::string::npos);
  EXPECT_NE(complaint("godwit:" + std::string(2000, 'a')).find("characters"), std::string::npos);
  EXPECT_NE(complaint(altered([](Bytes& bytes) { bytes[0] = 2; })).find("version 2"), std::string::npos);
  EXPECT_NE(complaint(altered([](Bytes& bytes) { bytes.insert(bytes.end() - 64, 0); })).find("is invalid"), std::string::npos);
}

}  // namespace
}  // namespace gw::wire

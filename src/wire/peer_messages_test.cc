#include "wire/peer_messages.h"

#include <gtest/gtest.h>

namespace gw::wire {
namespace {

using pb::PeerMessage;

PeerMessage assign() {
  PeerMessage message;
  message.set_version(kPeerProtocol);
  message.set_boot(7);
  PeerMessage::Assign& assign = *message.mutable_assign();
  assign.set_job(std::string(32, 'j'));
  assign.set_claim(3);
  assign.set_thread(1);
  assign.set_epoch(2);
  assign.set_keeper(std::string(32, 'k'));
  return message;
}

std::optional<Kind> refusal(const PeerMessage& message) {
  const auto decoded = decode_peer_message(encode(message).value());
  return decoded ? std::nullopt : std::optional(decoded.error().kind);
}

// Golden: what one version of godwit writes the next one must read.
TEST(PeerMessages, HaveTheBytesOfTheirProtocol) {
  EXPECT_EQ(hex(encode(assign()).value()), "080210078a014a0a20" + hex(as_bytes(std::string(32, 'j'))) + "1003" + "18012002" + "3a20" +
                                               hex(as_bytes(std::string(32, 'k'))));
}

TEST(PeerMessages, ComeBackAsTheyWere) {
  const auto decoded = decode_peer_message(encode(assign()).value());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().detail;
  EXPECT_EQ(decoded->SerializeAsString(), assign().SerializeAsString());
}

TEST(PeerMessages, OfAnotherProtocolAreNotSupported) {
  PeerMessage message = assign();
  message.set_version(kPeerProtocol + 1);
  EXPECT_EQ(refusal(message), Kind::unsupported);
}

TEST(PeerMessages, ThatBreakARuleAreRefused) {
  PeerMessage message = assign();
  message.set_boot(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "no life";
  message = assign();
  message.mutable_assign()->set_job("short");
  EXPECT_EQ(refusal(message), Kind::invalid) << "a job's name";
  message = assign();
  message.mutable_assign()->set_epoch(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "no epoch";
  message = assign();
  message.clear_assign();
  EXPECT_EQ(refusal(message), Kind::invalid) << "nothing";
  EXPECT_FALSE(decode_peer_message(as_bytes("\xff\xff\xff")).has_value());
}

TEST(PeerMessages, EffectsSpeakForOneThread) {
  PeerMessage message = assign();
  PeerMessage::Effects& effects = *message.mutable_effects();
  effects.set_job(std::string(32, 'j'));
  effects.set_thread(5);
  effects.set_epoch(1);
  pb::Effect& effect = *effects.add_effects();
  effect.set_thread(5);
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_end()->set_exit_code(0);
  EXPECT_EQ(refusal(message), std::nullopt);
  effect.set_thread(6);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, EffectsHaveNoGaps) {
  PeerMessage message = assign();
  PeerMessage::Effects& effects = *message.mutable_effects();
  effects.set_job(std::string(32, 'j'));
  effects.set_thread(1);
  effects.set_epoch(1);
  for (const std::uint64_t sequence : {4, 5}) {
    pb::Effect& effect = *effects.add_effects();
    effect.set_thread(1);
    effect.set_epoch(1);
    effect.set_sequence(sequence);
    effect.set_report("r");
  }
  EXPECT_EQ(refusal(message), std::nullopt);
  effects.mutable_effects(1)->set_sequence(6);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, ListsAreBounded) {
  PeerMessage message = assign();
  message.mutable_status()->set_job(std::string(32, 'j'));
  message.mutable_status()->set_claim(1);
  message.mutable_status()->set_number(1);
  for (int i = 0; i < kMaxHeld; ++i) message.mutable_status()->add_held()->set_thread(1);
  EXPECT_EQ(refusal(message), std::nullopt);
  message.mutable_status()->add_held();
  EXPECT_EQ(refusal(message), Kind::invalid);

  message = assign();
  message.mutable_image_is()->set_job(std::string(32, 'j'));
  message.mutable_image_is()->set_thread(1);
  message.mutable_image_is()->set_epoch(1);
  for (int i = 0; i <= kMaxDeterminants; ++i) message.mutable_image_is()->add_determinants()->set_index(static_cast<std::uint64_t>(i));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, TooLongOnesAreNotMade) {
  PeerMessage message = assign();
  message.mutable_blob()->set_hash(std::string(32, 'h'));
  message.mutable_blob()->set_bytes(std::string(kMaxPeerMessageBytes, 'x'));
  EXPECT_EQ(encode(message).error().kind, Kind::overloaded);
  message.mutable_blob()->set_bytes(std::string(kMaxBlobBytes + 1, 'x'));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

}  // namespace
}  // namespace gw::wire

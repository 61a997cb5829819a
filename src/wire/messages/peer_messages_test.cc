#include "wire/messages/peer_messages.h"

#include <gtest/gtest.h>

#include "wire/messages/rules.h"
#include "wire/messages/streams.h"

namespace gw::wire {
namespace {

using pb::JobMessage;
using pb::PeerMessage;

PeerMessage assign() {
  PeerMessage message;
  message.set_version(kPeerProtocol);
  message.set_boot(7);
  message.mutable_job()->set_job(std::string(32, 'j'));
  message.mutable_job()->set_term(1);
  JobMessage::Assign& assign = *message.mutable_job()->mutable_assign();
  assign.set_claim(3);
  assign.set_thread(1);
  assign.set_epoch(2);
  write(StreamMarks{{kLogStream, 2}}, *assign.mutable_stored());
  assign.add_keepers(std::string(32, 'k'));
  assign.set_keeper_generation(4);
  assign.mutable_grant()->set_grant("g");
  assign.mutable_grant()->set_signature(std::string(64, 's'));
  return message;
}

// A message of the same job, of another kind.
JobMessage& about_job(PeerMessage& message) {
  message = assign();
  message.mutable_job()->clear_assign();
  return *message.mutable_job();
}

std::optional<Kind> refusal(const PeerMessage& message) {
  const auto decoded = decode_peer_message(encode(message).value());
  return decoded ? std::nullopt : std::optional(decoded.error().kind);
}

// Golden: what one version of godwit writes the next one must read.
TEST(PeerMessages, HaveTheBytesOfTheirProtocol) {
  EXPECT_EQ(hex(encode(assign()).value()), "0808100752a0010a20" + hex(as_bytes(std::string(32, 'j'))) + "1001" + "8a0179" + "080310011802" +
                                               "2206" + "0a020802" + "1002" + "3220" + hex(as_bytes(std::string(32, 'k'))) + "3804" +
                                               "5245" + "0a0167" + "1240" + hex(as_bytes(std::string(64, 's'))));
}

TEST(PeerMessages, ComeBackAsTheyWere) {
  const auto decoded = decode_peer_message(encode(assign()).value());
  ASSERT_TRUE(decoded.has_value()) << decoded.error().detail;
  EXPECT_EQ(decoded->SerializeAsString(), assign().SerializeAsString());
}

TEST(PeerMessages, AboutTasksNameTasksThatAJobMayHave) {
  PeerMessage message = assign();
  pb::JobMessage::TaskBatch& batch = *message.mutable_job()->mutable_task_batch();
  batch.set_claim(3);
  EXPECT_TRUE(decode_peer_message(encode(message).value())) << "an acknowledgement";
  batch.mutable_tasks()->set_count(1);
  EXPECT_EQ(refusal(message), Kind::invalid) << "a batch without a number";
  batch.set_number(1);
  EXPECT_TRUE(decode_peer_message(encode(message).value()));
  batch.mutable_tasks()->set_first(kMaxTasks);
  EXPECT_EQ(refusal(message), Kind::invalid);
  batch.mutable_tasks()->set_first(1);
  batch.mutable_tasks()->set_count(kMaxTasks);
  EXPECT_EQ(refusal(message), Kind::invalid) << "it ends behind the last task";
  batch.mutable_tasks()->set_count(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "no task";
}

TEST(PeerMessages, ThatReportTasksHaveWholeResults) {
  PeerMessage message = assign();
  pb::JobMessage::TaskReport& report = *message.mutable_job()->mutable_task_report();
  report.set_claim(3);
  report.set_number(1);
  pb::TaskResult& result = *report.add_results();
  EXPECT_EQ(refusal(message), Kind::invalid) << "no end";
  pb::Effect& end = *result.add_effects();
  end.set_thread(2);
  end.set_epoch(1);
  end.set_sequence(1);
  end.mutable_end();
  set_stream(end);
  EXPECT_TRUE(decode_peer_message(encode(message).value()));
  end.set_epoch(2);
  EXPECT_EQ(refusal(message), Kind::invalid) << "a task is in its first epoch";
  end.set_epoch(1);
  *result.add_effects() = end;
  result.mutable_effects(1)->set_sequence(2);
  EXPECT_EQ(refusal(message), Kind::invalid) << "an effect after the end";
  result.mutable_effects()->RemoveLast();
  report.add_lost(kMaxTasks);
  EXPECT_EQ(refusal(message), Kind::invalid);
  report.clear_lost();
  report.set_number(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "a result without a number";
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
  message.mutable_job()->set_job("short");
  EXPECT_EQ(refusal(message), Kind::invalid) << "a job's name";
  message = assign();
  message.mutable_job()->mutable_assign()->set_epoch(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "no epoch";
  message = assign();
  message.mutable_job()->mutable_assign()->set_epoch(~std::uint64_t{0});
  EXPECT_EQ(refusal(message), Kind::invalid) << "an epoch out of the air";
  message = assign();
  message.mutable_job()->mutable_assign()->set_task(kMaxTasks);
  EXPECT_EQ(refusal(message), Kind::invalid) << "a task that no job has";
  message = assign();
  message.mutable_job()->set_term(0);
  EXPECT_EQ(refusal(message), Kind::invalid) << "no term";
  message = assign();
  message.mutable_job()->mutable_assign()->mutable_grant()->set_signature("short");
  EXPECT_EQ(refusal(message), Kind::invalid) << "a signature that cannot be one";
  message = assign();
  message.mutable_job()->clear_assign();
  EXPECT_EQ(refusal(message), Kind::invalid) << "nothing";
  EXPECT_FALSE(decode_peer_message(as_bytes("\xff\xff\xff")).has_value());
}

TEST(PeerMessages, EffectsOfAMessageBelongToOneThread) {
  PeerMessage message;
  JobMessage::Effects& effects = *about_job(message).mutable_effects();
  effects.set_thread(5);
  effects.set_epoch(1);
  pb::Effect& effect = *effects.add_effects();
  effect.set_thread(5);
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_end()->set_exit_code(0);
  set_stream(effect);
  EXPECT_EQ(refusal(message), std::nullopt);
  effect.set_thread(6);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, EffectsOfAStreamHaveNoGaps) {
  PeerMessage message;
  JobMessage::Effects& effects = *about_job(message).mutable_effects();
  effects.set_thread(1);
  effects.set_epoch(1);
  for (const std::uint64_t sequence : {4, 5}) {
    pb::Effect& effect = *effects.add_effects();
    effect.set_thread(1);
    effect.set_epoch(1);
    effect.set_sequence(sequence);
    effect.set_report("r");
    set_stream(effect);
  }
  EXPECT_EQ(refusal(message), std::nullopt);
  pb::Effect fork = effects.effects(0);
  fork.mutable_spawn()->set_child(7);
  set_stream(fork);
  fork.set_sequence(1);
  *effects.add_effects() = fork;
  effects.mutable_effects()->SwapElements(1, 2);
  EXPECT_EQ(refusal(message), std::nullopt) << "4, a fork, 5: each stream has its own numbers";
  effects.mutable_effects(2)->set_sequence(6);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, AnEffectIsInItsStream) {
  PeerMessage message;
  JobMessage::Effects& effects = *about_job(message).mutable_effects();
  effects.set_thread(1);
  effects.set_epoch(1);
  pb::Effect& fork = *effects.add_effects();
  fork.set_thread(1);
  fork.set_epoch(1);
  fork.set_sequence(1);
  fork.mutable_spawn()->set_child(7);
  EXPECT_EQ(refusal(message), Kind::invalid) << "in no stream";
  write(kHomeStream, *fork.mutable_stream());
  EXPECT_EQ(refusal(message), Kind::invalid);
  write(kLogStream, *fork.mutable_stream());
  EXPECT_EQ(refusal(message), std::nullopt);
  fork.mutable_stream()->set_id(3);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, WhatIsStoredIsSaidOfEachStreamOnce) {
  PeerMessage message;
  JobMessage::Stored& stored = *about_job(message).mutable_stored();
  stored.set_thread(1);
  stored.set_epoch(1);
  write(StreamMarks{{kHomeStream, 5}, {kLogStream, 0}}, *stored.mutable_streams());
  EXPECT_EQ(refusal(message), std::nullopt);
  *stored.add_streams() = stored.streams(0);
  EXPECT_EQ(refusal(message), Kind::invalid);
  stored.mutable_streams(2)->mutable_stream()->set_kind(pb::Stream::NONE);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, ListsAreBounded) {
  PeerMessage message;
  JobMessage::Status& status = *about_job(message).mutable_status();
  status.set_claim(1);
  status.set_number(1);
  const auto hold = [&] {
    status.add_held()->set_thread(1);
    status.mutable_held(status.held_size() - 1)->set_epoch(1);
  };
  for (int i = 0; i < kMaxHeld; ++i) hold();
  EXPECT_EQ(refusal(message), std::nullopt);
  hold();
  EXPECT_EQ(refusal(message), Kind::invalid);

  JobMessage::ImageIs& image = *about_job(message).mutable_image_is();
  image.set_thread(1);
  image.set_epoch(1);
  image.set_keeper_generation(1);
  for (int i = 0; i < 2; ++i) image.add_determinants()->set_index(static_cast<std::uint64_t>(i));
  EXPECT_EQ(refusal(message), std::nullopt);
  for (int i = 2; i <= kMaxDeterminants; ++i) image.add_determinants()->set_index(static_cast<std::uint64_t>(i));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, AnnouncementsAndNamedHoldersAreLimited) {
  PeerMessage message;
  JobMessage::Have& have = *about_job(message).mutable_have();
  for (int i = 0; i < kMaxHave; ++i) have.add_chunks(static_cast<std::uint64_t>(i));
  EXPECT_EQ(refusal(message), std::nullopt);
  have.add_chunks(1);
  EXPECT_EQ(refusal(message), Kind::invalid);
  JobMessage::Blob& blob = *message.mutable_job()->mutable_blob();
  blob.set_hash(std::string(32, 'h'));
  blob.set_missing(true);
  blob.add_holders(std::string(32, 'p'));
  EXPECT_EQ(refusal(message), std::nullopt);
  blob.add_holders("short");
  EXPECT_EQ(refusal(message), Kind::invalid);
  blob.mutable_holders()->RemoveLast();
  for (int i = 0; i < kMaxBlobHolders; ++i) blob.add_holders(std::string(32, 'p'));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, TooLongOnesAreNotMade) {
  PeerMessage message;
  JobMessage::Blob& blob = *about_job(message).mutable_blob();
  blob.set_hash(std::string(32, 'h'));
  blob.set_bytes(std::string(kMaxPeerMessageBytes, 'x'));
  EXPECT_EQ(encode(message).error().kind, Kind::overloaded);
  blob.set_bytes(std::string(kMaxBlobBytes + 1, 'x'));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, DeterminantsGoOnWhereTheImageEnds) {
  PeerMessage message;
  JobMessage::ImageIs& image = *about_job(message).mutable_image_is();
  image.set_thread(1);
  image.set_epoch(1);
  image.set_keeper_generation(1);
  image.set_in_image(5);
  image.add_determinants()->set_index(5);
  EXPECT_EQ(refusal(message), std::nullopt);
  image.set_in_image(0);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

// A keeper took determinants that fit one by one, and its answer with all of them was too long to be sent.
TEST(PeerMessages, TheLongestDeterminantsFitIntoOneAnswer) {
  PeerMessage message;
  JobMessage& about = about_job(message);
  message.set_boot(~std::uint64_t{0});
  about.set_term(kMaxTerm);
  about.set_roster_version(~std::uint64_t{0});
  JobMessage::ImageIs& image = *about.mutable_image_is();
  image.set_thread(~std::uint64_t{0});
  image.set_epoch(kMaxEpoch);
  image.set_keeper_generation(~std::uint64_t{0});
  image.set_image_root(std::string(32, 'p'));
  image.set_in_image(kMaxDeterminantIndex - kMaxDeterminants);
  for (int i = 0; i < kMaxDeterminants; ++i) {
    pb::Determinant& one = *image.add_determinants();
    one.set_index(image.in_image() + static_cast<std::uint64_t>(i));
    one.set_kind(pb::Determinant::INPUT_READY);
    one.set_what(kMaxDeterminantWhat - 1);
    one.set_value(~std::uint64_t{0});
  }
  EXPECT_TRUE(encode(message).has_value());
  EXPECT_EQ(refusal(message), std::nullopt);
}

TEST(PeerMessages, DeterminantsAreSmall) {
  PeerMessage message;
  JobMessage::KeepDeterminants& keep = *about_job(message).mutable_keep_determinants();
  keep.set_thread(1);
  keep.set_epoch(1);
  keep.set_keeper_generation(1);
  pb::Determinant& one = *keep.add_determinants();
  one.set_index(kMaxDeterminantIndex);
  one.set_what(kMaxDeterminantWhat - 1);
  EXPECT_EQ(refusal(message), std::nullopt);
  one.set_what(kMaxDeterminantWhat);
  EXPECT_EQ(refusal(message), Kind::invalid);
  one.set_what(0);
  one.set_index(kMaxDeterminantIndex + 1);
  EXPECT_EQ(refusal(message), Kind::invalid);

  JobMessage::KeepImage& image = *about_job(message).mutable_keep_image();
  image.set_thread(1);
  image.set_epoch(1);
  image.set_keeper_generation(1);
  image.set_image_root(std::string(32, 'p'));
  image.set_determinants(kMaxDeterminantIndex);
  EXPECT_EQ(refusal(message), std::nullopt);
  image.set_determinants(kMaxDeterminantIndex + 1);
  EXPECT_EQ(refusal(message), Kind::invalid);

  JobMessage::ImageIs& answer = *about_job(message).mutable_image_is();
  answer.set_thread(1);
  answer.set_epoch(1);
  answer.set_keeper_generation(1);
  answer.set_in_image(kMaxDeterminantIndex + 1);
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, AnOfferAndADeclineNameTheRoundOfASearch) {
  PeerMessage message;
  JobMessage::Decline& decline = *about_job(message).mutable_decline();
  decline.set_sentence("its owner \x1b[31muses it");
  EXPECT_EQ(refusal(message), Kind::invalid);
  decline.set_round(1);
  EXPECT_EQ(decode_peer_message(encode(message).value())->job().decline().sentence(), "its owner  [31muses it");
  decline.set_sentence(std::string(kMaxRefusalBytes + 1, 'x'));
  EXPECT_EQ(refusal(message), Kind::invalid);
  decline.set_sentence("x");
  decline.set_why(static_cast<JobMessage::Decline::Why>(77));
  EXPECT_EQ(refusal(message), Kind::invalid);
  JobMessage::Offer& offer = *about_job(message).mutable_offer();
  offer.set_slots(1);
  offer.set_claim(1);
  EXPECT_EQ(refusal(message), Kind::invalid);
  offer.set_round(1);
  EXPECT_EQ(refusal(message), std::nullopt);
  offer.mutable_host();
  EXPECT_EQ(refusal(message), Kind::invalid) << "a descriptor has a key";
}

TEST(PeerMessages, ASearchIsOfBoundedSizeAndWay) {
  PeerMessage message;
  JobMessage::Search& search = *about_job(message).mutable_search();
  search.mutable_charter()->set_charter("c");
  search.mutable_charter()->set_signature(std::string(64, 's'));
  search.set_query("q");
  search.set_signature(std::string(64, 's'));
  EXPECT_EQ(refusal(message), Kind::invalid) << "nobody to answer";
  pb::Descriptor& home = *search.mutable_home();
  home.set_key(std::string(32, 'k'));
  home.set_signature(std::string(64, 's'));
  home.set_boot(1);
  for (int i = 0; i < 4; ++i) home.mutable_coordinate()->add_position(0);
  EXPECT_EQ(refusal(message), std::nullopt);
  search.set_hops(kMaxSearchHops + 1);
  EXPECT_EQ(refusal(message), Kind::invalid);
  search.set_hops(kMaxSearchHops);
  search.set_query(std::string(kMaxQueryBytes + 1, 'q'));
  EXPECT_EQ(refusal(message), Kind::invalid);
}

TEST(PeerMessages, SentencesHaveNoEscapeSequences) {
  PeerMessage message;
  JobMessage::ThreadName& failed = *about_job(message).mutable_thread_failed();
  failed.set_thread(1);
  failed.set_epoch(1);
  failed.set_failure("\x1b[31mred");
  EXPECT_EQ(decode_peer_message(encode(message).value())->job().thread_failed().failure(), " [31mred");
}

// Every kind without any of its fields, and of every number field at its highest: refused or taken, never the end of the process.
TEST(PeerMessages, EveryEmptyKindIsJudged) {
  for (int kind = 12; kind <= 201; kind = kind == 34 ? 200 : kind + 1) {
    PeerMessage message;
    const std::string empty{static_cast<char>(((kind << 3 | 2) & 0x7f) | 0x80), static_cast<char>(kind >> 4), '\0'};
    ASSERT_TRUE(about_job(message).MergeFromString(empty)) << kind;
    ASSERT_EQ(message.job().kind_case(), kind);
    const bool has_no_fields = kind == JobMessage::kWantRoster || kind == JobMessage::kAskKept || kind == JobMessage::kForget;
    EXPECT_EQ(refusal(message), has_no_fields ? std::nullopt : std::optional(Kind::invalid)) << kind;
  }
}

}  // namespace
}  // namespace gw::wire

#include "job/test/at_home.h"

namespace gw::job {
namespace home_mail_test {

using home_test::kFirst;
using home_test::seconds;
using test::id_of;

class MailAtHome : public home_test::AtHome {
 protected:
  using Assign = JobMessage::Assign;

  static Effect message_of(const Assign& from, std::uint64_t sequence, const Assign& to, std::uint64_t spawns = 0) {
    Effect effect = output_of(from, sequence);
    effect.mutable_message()->set_to(to.thread());
    effect.mutable_message()->set_tag(sequence);
    effect.mutable_message()->set_bytes(fmt::format("message {}", sequence));
    effect.mutable_message()->set_spawns(spawns);
    wire::set_stream(effect);
    return effect;
  }
  static Effect watch_of(const Assign& from, std::uint64_t sequence, std::uint64_t thread) {
    Effect effect = output_of(from, sequence);
    effect.mutable_watch()->set_thread(thread);
    wire::set_stream(effect);
    return effect;
  }
  void want(const Assign& thread, std::uint64_t next, std::uint64_t in_image = 0, bool waits = true) {
    JobMessage::WantMail want;
    want.set_thread(thread.thread());
    want.set_epoch(thread.epoch());
    want.set_next(next);
    want.set_in_image(in_image);
    want.set_waits(waits);
    home_->on_want_mail(now_, id_of(kFirst), want, out_);
  }
  // The tags of the messages that home has given to the host since the last call, and those it sends about stored effects.
  struct Said {
    std::vector<std::uint64_t> tags;
    std::vector<std::uint64_t> stored;  // in MAIL
    std::vector<std::string> notices;
    bool again = false;
    std::vector<Assign> assigned;
  };
  Said said() {
    Said said;
    for (const auto& [to, message] : take()) {
      if (message.has_assign()) said.assigned.push_back(message.assign());
      for (const wire::pb::Mail& mail : message.mails().mails()) {
        said.tags.push_back(mail.tag());
        Effect::End end;
        if (mail.is_notice() && end.ParseFromString(mail.bytes())) said.notices.push_back(end.sentence());
      }
      if (!message.has_stored()) continue;
      said.again = said.again || message.stored().again();
      said.stored.push_back(wire::mark_of(wire::marks_of(message.stored().streams()), kMailStream));
    }
    return said;
  }
  // Its host is lost, and has slots again.
  Assign placed_again(const Assign& thread, std::uint64_t claim) {
    home_->on_peer_lost(now_, id_of(kFirst), out_);
    for (const Assign& assign : offer(kFirst, 2, claim))
      if (assign.thread() == thread.thread()) return assign;
    ADD_FAILURE() << "it was not placed again";
    return thread;
  }
  using Tags = std::vector<std::uint64_t>;
};

TEST_F(MailAtHome, AMessageIsGivenToWhoWaitsForIt) {
  const auto threads = offer(kFirst, 2);
  want(threads[1], 0);
  EXPECT_EQ(said().tags, Tags());
  effects(kFirst, {message_of(threads[0], 1, threads[1]), message_of(threads[0], 2, threads[1])});
  const Said first = said();
  EXPECT_EQ(first.tags, (Tags{1, 2}));
  EXPECT_EQ(first.stored, (Tags{2}));
  effects(kFirst, {message_of(threads[0], 2, threads[1]), message_of(threads[0], 3, threads[1])});
  EXPECT_EQ(said().tags, Tags()) << "nobody asks";
  want(threads[1], 2);
  EXPECT_EQ(said().tags, (Tags{3})) << "one came twice";
}

TEST_F(MailAtHome, AReplayReadsTheSameAgain) {
  const auto threads = offer(kFirst, 2);
  effects(kFirst, {message_of(threads[0], 1, threads[1]), message_of(threads[0], 2, threads[1]), message_of(threads[0], 3, threads[1])});
  want(threads[1], 0);
  EXPECT_EQ(said().tags, (Tags{1, 2, 3}));
  want(threads[1], 3, 1);
  said();
  want(threads[1], 1, 1);
  EXPECT_EQ(said().tags, Tags()) << "that one is late";
  const Assign second = placed_again(threads[1], 8);
  want(second, 1, 1);
  EXPECT_EQ(said().tags, (Tags{2, 3})) << "from its image on";
  const Assign third = placed_again(threads[1], 9);
  for (int i = 0; i < 7; ++i) want(third, 0);
  EXPECT_EQ(home_->snapshot().failed, 0u);
  want(third, 0);
  EXPECT_EQ(home_->snapshot().failed, 1u) << "what an image contains is dropped";
}

TEST_F(MailAtHome, WhatIsStoredOutlivesARestart) {
  const auto threads = offer(kFirst, 2);
  effects(kFirst, {message_of(threads[0], 1, threads[1]), message_of(threads[0], 2, threads[1])});
  restart();
  effects(kFirst, {message_of(threads[0], 2, threads[1]), message_of(threads[0], 3, threads[1])});
  want(threads[1], 0);
  const Said after = said();
  EXPECT_EQ(after.tags, (Tags{1, 2, 3}));
  EXPECT_EQ(after.stored, (Tags{3}));
}

TEST_F(MailAtHome, AThreadThatWaitsUsesNoSlot) {
  begin(3);
  const auto threads = offer(kFirst, 2);
  ASSERT_EQ(threads.size(), 2u);
  want(threads[1], 0);
  const Said parked = said();
  ASSERT_EQ(parked.assigned.size(), 1u) << "there is a slot for the third one";
  want(parked.assigned[0], 0);
  effects(kFirst, {message_of(threads[0], 1, threads[1])});
  EXPECT_EQ(said().tags, (Tags{1}));
}

TEST_F(MailAtHome, AFullMailboxStopsItsSendersUntilThereIsRoom) {
  config_.mail.items = 4;
  begin(2);
  const auto threads = offer(kFirst, 2);
  status(kFirst, threads, JobMessage::BEGINNING);
  std::vector<Effect> many;
  for (std::uint64_t i = 1; i <= 6; ++i) many.push_back(message_of(threads[0], i, threads[1]));
  effects(kFirst, many);
  EXPECT_EQ(said().stored, (Tags{4}));
  want(threads[1], 0);
  EXPECT_EQ(said().tags, (Tags{1, 2, 3, 4}));
  want(threads[1], 4, 4);
  EXPECT_TRUE(said().again);
  effects(kFirst, {many[4], many[5]});
  EXPECT_EQ(said().tags, (Tags{5, 6}));
}

TEST_F(MailAtHome, AMessageWaitsForTheSpawnsBeforeIt) {
  const auto threads = offer(kFirst, 2);
  effects(kFirst, {message_of(threads[0], 1, threads[1], 1)});
  EXPECT_EQ(said().stored, (Tags{0}));
  effects(kFirst, {spawn_of(threads[0], 1), message_of(threads[0], 1, threads[1], 1)});
  EXPECT_EQ(said().stored, (Tags{1}));
}

TEST_F(MailAtHome, TheEndOfAThreadIsToldToThoseWhoWatch) {
  begin(3);
  const auto threads = offer(kFirst, 3);
  effects(kFirst, {watch_of(threads[0], 1, threads[1].thread()), watch_of(threads[0], 2, 77)});
  want(threads[0], 0);
  EXPECT_EQ(said().notices, (std::vector<std::string>{"there is no such thread in the job"}));
  restart();
  want(threads[0], 1);
  effects(kFirst, {message_of(threads[1], 1, threads[0])});
  effects(kFirst, {end_of(threads[1], 1)});
  const Said after = said();
  EXPECT_EQ(after.notices, (std::vector<std::string>{""})) << "it exited by itself";
  EXPECT_EQ(after.tags, (Tags{1, 0})) << "behind its messages";
}

TEST_F(MailAtHome, AMessageToAThreadThatIsOverIsDropped) {
  begin(3);
  const auto threads = offer(kFirst, 3);
  effects(kFirst, {end_of(threads[1], 1)});
  effects(kFirst, {message_of(threads[0], 1, threads[1])});
  EXPECT_EQ(said().stored.back(), 1u);
}

TEST_F(MailAtHome, AHostThatAsksForMoreThanThereIsLosesTheThread) {
  const auto threads = offer(kFirst, 2);
  want(threads[1], 9);
  EXPECT_EQ(home_->snapshot().running, 1u);
}

}  // namespace home_mail_test
}  // namespace gw::job

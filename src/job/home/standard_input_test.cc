#include "job/home/standard_input.h"

#include <gtest/gtest.h>

#include "job/records.h"

namespace gw::job {
namespace standard_input_test {

const JobId kJob{sha256(as_bytes("job"))};
const PeerId kHost{sha256(as_bytes("host"))};

class StandardInputTest : public testing::Test {
 protected:
  using Want = StandardInput::Want;

  StandardInput input(StandardInput::Images images = StandardInput::Images::some, std::size_t bytes = 1000) const {
    return {{.bytes = bytes}, kJob, kMainThread, images};
  }
  static Want want(std::uint64_t piece, std::uint64_t in_image = 0) { return {kHost, 1, piece, in_image}; }

  // Applies the records, as a disk would.
  void store() {
    for (const Record& record : out_.records) {
      const std::uint64_t number = RecordKey::decode(record.key).value().number;
      if (record.value) {
        ASSERT_TRUE(disk_[number].ParseFromString(*record.value));
      } else {
        disk_.erase(number);
      }
    }
    out_.records.clear();
  }
  std::vector<std::uint64_t> take_wanted() {
    std::vector<std::uint64_t> pieces;
    for (const Action& action : std::exchange(out_.now, {}))
      if (const auto* notify = std::get_if<Notify>(&action))
        if (const auto* wanted = std::get_if<InputWanted>(&notify->event)) pieces.push_back(wanted->piece);
    return pieces;
  }

  // The bytes that were sent to the host since the last call, if any were.
  std::optional<std::string> take_sent() {
    std::optional<std::string> bytes;
    for (const Action& action : std::exchange(out_.later, {}))
      if (const auto* send = std::get_if<Send>(&action)) bytes = send->message.job().input().bytes();
    return bytes;
  }
  std::optional<std::string> ask(StandardInput& input, const Want& want) {
    out_.later.clear();
    EXPECT_TRUE(input.on_want(want, out_));
    return take_sent();
  }

  Actions out_;
  std::map<std::uint64_t, wire::pb::InputRecord> disk_;
};

TEST_F(StandardInputTest, APieceIsWantedOnceAndGivenAsOftenAsItIsReplayed) {
  StandardInput input = this->input();
  ASSERT_FALSE(ask(input, want(0)));
  ASSERT_FALSE(ask(input, want(0)));  // repeated by the host
  EXPECT_EQ(take_wanted(), std::vector<std::uint64_t>{0});
  EXPECT_FALSE(take_sent());
  ASSERT_TRUE(input.supply(0, "first", out_));
  EXPECT_EQ(take_sent(), "first") << "the host waits for it";
  ASSERT_TRUE(input.supply(0, "first", out_));
  EXPECT_FALSE(take_sent());
  for (int life = 0; life < 3; ++life) EXPECT_EQ(ask(input, want(0)), "first");
}

TEST_F(StandardInputTest, WithoutReplayAPieceGoesWhenTheNextOneIsWanted) {
  StandardInput input({.bytes = 10, .keep = StandardInput::Config::Keep::until_taken}, kJob, kMainThread, StandardInput::Images::none);
  for (std::uint64_t piece = 0; piece < 20; ++piece) {  // far more than is kept at a time
    ASSERT_TRUE(input.on_want(want(piece), out_));
    ASSERT_TRUE(input.supply(piece, "12345678", out_));
    store();
  }
  EXPECT_LE(disk_.size(), 2u);
}

TEST_F(StandardInputTest, APieceSuppliedTwiceCountsOnce) {
  StandardInput input = this->input();
  ASSERT_TRUE(input.supply(0, "a", out_));
  ASSERT_TRUE(input.supply(0, "another", out_));
  EXPECT_EQ(ask(input, want(0)), "a");
  EXPECT_EQ(input.supply(2, "c", out_).error().kind, Kind::invalid);
  ASSERT_TRUE(input.supply(1, "", out_));
  EXPECT_TRUE(ask(input, want(1)).value().empty());
  EXPECT_EQ(input.supply(2, "more", out_).error().kind, Kind::invalid);
}

TEST_F(StandardInputTest, SurvivesItsHome) {
  StandardInput before = this->input();
  ASSERT_TRUE(before.supply(0, "abc", out_));
  ASSERT_TRUE(before.supply(1, "de", out_));
  store();
  StandardInput after = this->input();
  ASSERT_TRUE(after.recover(disk_));
  EXPECT_EQ(ask(after, want(1)), "de");
  ASSERT_FALSE(ask(after, want(2)));
  ASSERT_TRUE(after.supply(2, "f", out_));
  EXPECT_EQ(ask(after, want(2)), "f");
  EXPECT_EQ(this->input().recover({{0, {}}, {2, {}}}).error().kind, Kind::corrupt);
}

TEST_F(StandardInputTest, PiecesInAnImageAreDroppedExceptTheLast) {
  StandardInput input = this->input();
  for (std::uint64_t piece = 0; piece < 3; ++piece) ASSERT_TRUE(input.supply(piece, "x", out_));
  ASSERT_FALSE(ask(input, want(3, 3)));
  store();
  EXPECT_EQ(disk_.size(), 1u);
  EXPECT_TRUE(disk_.contains(2));
  EXPECT_EQ(input.on_want(want(1, 0), out_).error().kind, Kind::not_found);  // its last image is lost too
  input.clear(out_);
  store();
  EXPECT_TRUE(disk_.empty());
  EXPECT_FALSE(input.has_beginning(kMainThread)) << "a thread without its image would not get what it has read";
  EXPECT_TRUE(input.has_beginning(ThreadId{77})) << "others do not read it";
}

TEST_F(StandardInputTest, MoreThanIsKeptWaitsForAnImageOrEndsTheThread) {
  StandardInput patient = this->input(StandardInput::Images::some, 4);
  ASSERT_TRUE(patient.supply(0, "12345", out_));
  ASSERT_FALSE(ask(patient, want(1)));
  EXPECT_TRUE(take_wanted().empty());
  ASSERT_TRUE(patient.supply(1, "x", out_));  // it was on its way
  ASSERT_FALSE(ask(patient, want(2, 1)));
  EXPECT_EQ(take_wanted(), std::vector<std::uint64_t>{2});
  StandardInput strict = this->input(StandardInput::Images::none, 4);
  ASSERT_TRUE(strict.supply(0, "12345", out_));
  EXPECT_EQ(strict.on_want(want(1), out_).error().kind, Kind::overloaded);
}

TEST_F(StandardInputTest, AHostThatAsksOutOfOrderIsRefused) {
  StandardInput input = this->input();
  EXPECT_EQ(input.on_want(want(7), out_).error().kind, Kind::invalid);
}

}  // namespace standard_input_test
}  // namespace gw::job

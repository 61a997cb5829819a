#include "node/disk/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "job/test/effects.h"
#include "os/file.h"

namespace gw::node {
namespace {

using job::Effect;
using job::EffectGate;
using job::kMainThread;
using job::test::output;
using Verdict = job::EffectLedger::Verdict;

job::Determinant clock_reading(std::uint64_t index) {
  job::Determinant determinant;
  determinant.set_index(index);
  determinant.set_value(100 + index);
  return determinant;
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() : folder_(os::TempDir::make().value()), path_(folder_.path() / "job") {}

  Journal create() {
    wire::pb::JobSpec spec;
    spec.mutable_config()->add_args("prog");
    return Journal::create(path_, spec, as_bytes("module")).value();
  }

  // Pages filled with the given bytes, after so many determinants and pieces of input.
  static wire::Image image(const std::vector<std::uint8_t>& fill, std::uint64_t determinants = 0, std::uint64_t inputs = 0) {
    EffectGate gate(kMainThread);
    for (std::uint64_t i = 0; i < determinants; ++i) GW_ASSERT(gate.given(job::Determinant::CLOCK, 0, 100 + i).has_value());
    for (std::uint64_t i = 0; i < inputs; ++i) gate.on_input_taken(0);
    wire::ImageContent content;
    content.memory_pages = static_cast<std::uint32_t>(fill.size());
    content.job_state = gate.save();
    std::vector<Bytes> pages;
    for (std::size_t i = 0; i < fill.size(); ++i) {
      pages.emplace_back(wire::kPageBytes, fill[i]);
      content.pages.push_back({static_cast<std::uint32_t>(i), sha256(pages.back()), wire::Storage::raw, pages.back()});
    }
    return wire::Image::encode(content).value();
  }

  static wire::Image elsewhere(const wire::Image& whole) {
    wire::ImageContent content = whole.content();
    for (wire::ImagePage& page : content.pages) {
      page.storage = wire::Storage::elsewhere;
      page.stored = {};
    }
    return wire::Image::encode(content).value();
  }

  std::string stored_output(const Journal& journal) {
    std::string all;
    GW_ASSERT(journal
                  .visit_effects([&](const Effect& effect) -> Status {
                    all += effect.output().bytes();
                    return ok();
                  })
                  .has_value());
    return all;
  }

  os::TempDir folder_;
  std::filesystem::path path_;
};

TEST_F(JournalTest, RemembersAcrossProcesses) {
  {
    Journal journal = create();
    ASSERT_TRUE(journal.add_image(kMainThread, image({1, 2, 0})).has_value());
    ASSERT_TRUE(journal.add_determinants(kMainThread, {clock_reading(0), clock_reading(1)}).has_value());
    journal.add_input({.piece = 0, .bytes = "typed"});
    EXPECT_EQ(journal.add_effect(output(1, "hello ")).value(), Verdict::fresh);
    EXPECT_EQ(journal.add_effect(output(2, "world")).value(), Verdict::fresh);
    EXPECT_EQ(journal.add_effect(output(1, "hello ")).value(), Verdict::duplicate);
    ASSERT_TRUE(journal.commit().has_value());
  }
  auto journal = Journal::open(path_);
  ASSERT_TRUE(journal.has_value()) << journal.error().detail;
  EXPECT_EQ(journal->spec().config().args(0), "prog");
  EXPECT_EQ(as_text(journal->module()), "module");
  EXPECT_EQ(stored_output(*journal), "hello world");
  EXPECT_EQ(journal->ledger().stored(kMainThread), 2u);
  EXPECT_EQ(journal->threads().at(kMainThread).determinants.size(), 2u);
  ASSERT_EQ(journal->inputs().size(), 1u);
  EXPECT_EQ(journal->inputs()[0].bytes, "typed");
  auto whole = journal->whole_image(kMainThread);
  ASSERT_TRUE(whole.has_value()) << whole.error().detail;
  EXPECT_TRUE(whole->verify_pages().has_value());
  EXPECT_EQ(whole->content().pages.at(1).stored[0], 2);
}

TEST_F(JournalTest, WhatWasNotCommittedIsGone) {
  {
    Journal journal = create();
    ASSERT_TRUE(journal.add_effect(output(1, "a")).has_value());
    ASSERT_TRUE(journal.commit().has_value());
    ASSERT_TRUE(journal.add_effect(output(2, "b")).has_value());
  }
  EXPECT_EQ(stored_output(Journal::open(path_).value()), "a");
}

TEST_F(JournalTest, AnImageMakesOldInputAndDeterminantsSuperfluous) {
  Journal journal = create();
  ASSERT_TRUE(journal.add_determinants(kMainThread, {clock_reading(0), clock_reading(1), clock_reading(2)}).has_value());
  journal.add_input({.piece = 0, .bytes = "old"});
  journal.add_input({.piece = 1, .bytes = "new"});
  ASSERT_TRUE(journal.add_image(kMainThread, image({1}, 2, 1)).has_value());
  ASSERT_EQ(journal.threads().at(kMainThread).determinants.size(), 1u);
  EXPECT_EQ(journal.threads().at(kMainThread).determinants[0].index(), 2u);
  ASSERT_EQ(journal.inputs().size(), 1u);
  EXPECT_EQ(journal.inputs()[0].bytes, "new");
}

TEST_F(JournalTest, KeepsAPageOnceForAllImages) {
  Journal journal = create();
  ASSERT_TRUE(journal.add_image(kMainThread, image({1, 2, 3})).has_value());
  ASSERT_TRUE(journal.commit().has_value());
  const std::uint64_t before = journal.file_bytes();
  ASSERT_TRUE(journal.add_image(job::ThreadId{7}, image({3, 2, 1})).has_value());
  ASSERT_TRUE(journal.add_image(kMainThread, elsewhere(image({1, 2, 3}))).has_value());
  ASSERT_TRUE(journal.commit().has_value());
  EXPECT_LT(journal.file_bytes() - before, wire::kPageBytes);
}

TEST_F(JournalTest, RefusesAnImageWithAPageNobodyHas) {
  Journal journal = create();
  EXPECT_EQ(journal.add_image(kMainThread, elsewhere(image({9}))).error().kind, Kind::corrupt);
}

TEST_F(JournalTest, IsCutOffAtTheEndWithoutHarmAndRefusedIfDamagedBefore) {
  {
    Journal journal = create();
    for (std::uint64_t i = 1; i <= 20; ++i) ASSERT_TRUE(journal.add_effect(output(i, "x")).has_value());
    ASSERT_TRUE(journal.commit().has_value());
  }
  const Bytes good = os::read_file(path_, 1u << 20).value();
  auto write = [&](ByteView bytes) { GW_ASSERT(os::write_file_atomic(path_, bytes, os::Durability::unflushed).has_value()); };
  for (std::size_t cut = 1; cut < 60; ++cut) {
    write(ByteView(good).first(good.size() - cut));
    auto journal = Journal::open(path_);
    ASSERT_TRUE(journal.has_value()) << cut << ": " << journal.error().detail;
    const std::string all = stored_output(*journal);
    EXPECT_GE(all.size(), 15u);
    EXPECT_LT(all.size(), 20u);
    // It can be written on.
    ASSERT_TRUE(journal->add_effect(output(all.size() + 1, "y")).has_value());
    ASSERT_TRUE(journal->commit().has_value());
  }
  for (std::size_t at : {std::size_t{3}, std::size_t{9}, std::size_t{20}, good.size() / 2}) {
    Bytes bad = good;
    bad[at] ^= 1;
    write(bad);
    EXPECT_FALSE(Journal::open(path_).has_value()) << at;
  }
}

TEST_F(JournalTest, BelongsToOneProcessAtATime) {
  Journal journal = create();
  EXPECT_EQ(Journal::open(path_).error().kind, Kind::overloaded);
  EXPECT_EQ(Journal::create(path_, {}, as_bytes("m")).error().kind, Kind::invalid);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

TEST_F(JournalTest, ARecoveredThreadIsInANewEpoch) {
  {
    Journal journal = create();
    ASSERT_TRUE(journal.add_effect(output(1, "a")).has_value());
    EXPECT_EQ(journal.add_epoch(kMainThread).value(), 2u);
    EXPECT_FALSE(journal.add_effect(output(2, "zombie", 1)).has_value());
    ASSERT_TRUE(journal.add_effect(output(2, "b", 2)).has_value());
    ASSERT_TRUE(journal.commit().has_value());
  }
  Journal journal = Journal::open(path_).value();
  EXPECT_EQ(stored_output(journal), "ab");
  EXPECT_EQ(journal.add_epoch(kMainThread).value(), 3u);
}

TEST_F(JournalTest, IsRewrittenWhenMostOfItIsSuperseded) {
  std::uint64_t peak = 0;
  {
    Journal journal = create();
    ASSERT_TRUE(journal.add_effect(output(1, "kept")).has_value());
    for (int round = 0; round < 200; ++round) {
      std::vector<std::uint8_t> fill(16);
      for (std::size_t i = 0; i < fill.size(); ++i) fill[i] = static_cast<std::uint8_t>(1 + (round * 16 + static_cast<int>(i)) % 251);
      const wire::Image whole = image(fill);
      wire::ImageContent content = whole.content();
      std::vector<Bytes> pages;
      for (wire::ImagePage& page : content.pages) {
        pages.emplace_back(page.stored.begin(), page.stored.end());
        pages.back()[0] = static_cast<std::uint8_t>(round);  // every round has pages of its own
        page.hash = sha256(pages.back());
      }
      for (std::size_t i = 0; i < pages.size(); ++i) content.pages[i].stored = pages[i];
      ASSERT_TRUE(journal.add_image(kMainThread, wire::Image::encode(content).value()).has_value());
      ASSERT_TRUE(journal.commit().has_value());
      peak = std::max(peak, journal.file_bytes());
    }
    EXPECT_LT(peak, 3 * Journal::kSlack);
    EXPECT_LT(journal.file_bytes(), 200u * 16 * wire::kPageBytes) << "never rewritten";
  }
  Journal journal = Journal::open(path_).value();
  EXPECT_EQ(stored_output(journal), "kept");
  EXPECT_TRUE(journal.whole_image(kMainThread).value().verify_pages().has_value());
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".new"));
}

}  // namespace
}  // namespace gw::node

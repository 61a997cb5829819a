#include "job/group/group_log.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

PeerId peer(std::uint8_t number) {
  PeerId id;
  id.hash.bytes[0] = number;
  return id;
}

GroupLog log_of(std::initializer_list<std::uint64_t> terms) {
  GroupLog log({.at = {}, .members = {peer(1)}});
  for (const std::uint64_t term : terms) log.append({.term = term, .content = "x"});
  return log;
}

TEST(GroupLog, NewerTermCountsMoreThanMoreEntries) { EXPECT_LT(log_of({1, 1, 1}).last(), log_of({1, 2}).last()); }

TEST(GroupLog, ForgetsDiscardedEntriesAndKeepsTheTermOfTheLast) {
  GroupLog log = log_of({1, 2, 3});
  log.discard(2);
  EXPECT_EQ(log.term_at(1), std::nullopt);
  EXPECT_EQ(log.term_at(2), 2U);
  EXPECT_EQ(log.at(3).term, 3U);
  EXPECT_EQ(log.last(), (LogPosition{3, 3}));
  EXPECT_EQ(log.term_at(4), std::nullopt);
}

TEST(GroupLog, BytesAreThoseOfItsEntries) {
  GroupLog log = log_of({1, 1, 1});
  const std::size_t all = log.bytes();
  log.discard(1);
  log.truncate(3);
  EXPECT_EQ(log.bytes(), all / 3);
  log.truncate(1);
  EXPECT_EQ(log.bytes(), 0U);
  EXPECT_EQ(log.last(), (LogPosition{1, 1})) << "the base stays";
}

TEST(GroupLog, MembersAreThoseOfTheNewestEntryThatNamesAny) {
  GroupLog log = log_of({1});
  log.append({.term = 1, .members = GroupMembers{peer(1), peer(2)}});
  log.append({.term = 1, .content = "x"});
  EXPECT_EQ(log.members().size(), 2U);
  EXPECT_EQ(log.members_index(), 2U);
  EXPECT_EQ(log.members_at(1).size(), 1U);
  log.truncate(2);
  EXPECT_EQ(log.members().size(), 1U) << "a change that was never committed is undone";
}

TEST(GroupLog, DiscardedMembersBecomeThoseOfTheBase) {
  GroupLog log = log_of({1});
  log.append({.term = 1, .members = GroupMembers{peer(1), peer(2)}});
  log.append({.term = 1, .content = "x"});
  log.discard(3);
  EXPECT_EQ(log.members().size(), 2U);
  EXPECT_EQ(log.members_index(), 3U);
}

TEST(GroupLog, ResetKeepsEntriesThatFollowTheState) {
  GroupLog log = log_of({1, 1, 1});
  log.reset({.at = {1, 2}, .members = {peer(1)}});
  EXPECT_EQ(log.last(), (LogPosition{1, 3}));
  log.reset({.at = {2, 3}, .members = {peer(1), peer(2)}});
  EXPECT_EQ(log.last(), (LogPosition{2, 3})) << "another term at the same index: another log";
  EXPECT_EQ(log.members().size(), 2U);
}

}  // namespace
}  // namespace gw::job

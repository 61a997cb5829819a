#include <gtest/gtest.h>

#include "checks/checkers.h"
#include "job/effects/stored_effect.h"

namespace gw::sim {
namespace {

constexpr ThreadId kParent{7}, kOther{8};

// The output of a job whose home was killed after it had recorded that a thread failed: no event has said so.
std::vector<job::EffectEntry> output_of_failed_job() {
  wire::pb::JobRecord record;
  wire::pb::ThreadRecord& failed = *record.add_some();
  failed.set_id(kParent.value());
  failed.set_state(wire::pb::ThreadRecord::FAILED);
  failed.set_sentence("what was kept of it is lost");
  wire::pb::ThreadRecord& ended = *record.add_some();
  ended.set_id(kOther.value());
  ended.set_state(wire::pb::ThreadRecord::ENDED);
  return {job::details_entry(record.SerializeAsString())};
}

TEST(Results, FailedThreadsAreThoseThatHomeHasRecorded) {
  EXPECT_EQ(failed_threads(output_of_failed_job()), (std::map<ThreadId, std::string>{{kParent, "what was kept of it is lost"}}));
  EXPECT_TRUE(failed_threads({}).empty()) << "a job that is not over has no record of its threads";
}

TEST(Results, AChildOfARecordedFailureIsNotExpected) {
  const auto failed = failed_threads(output_of_failed_job());
  ExpectedEffects expected;
  expected[kParent][job::kHomeStream] = {"end"};
  expected[kParent][job::kLogStream] = {"fork"};
  expected[job::child_of(kParent, 1)][job::kHomeStream] = {"end"};
  expected[job::child_of(kParent, 1)][job::kLogStream] = {};
  EXPECT_EQ(check_results(output_of_failed_job(), expected, [&](ThreadId thread) { return failed.contains(thread); }), "");
  EXPECT_NE(check_results(output_of_failed_job(), expected, [](ThreadId) { return false; }), "");
}

}  // namespace
}  // namespace gw::sim

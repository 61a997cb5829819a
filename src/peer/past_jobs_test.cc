#include "peer/past_jobs.h"

#include <gtest/gtest.h>

#include "job/records.h"

namespace gw::peer {
namespace {

job::JobId job_id(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

wire::pb::JobRecord ended_at(std::uint64_t time) {
  wire::pb::JobRecord record;
  record.set_ended_at_ns(time);
  return record;
}

TEST(PastJobs, ForgetsTheOneThatEndedFirst) {
  PastJobs past({.jobs = 2});
  job::Actions out;
  past.add(job_id(1), ended_at(30), out);
  past.add(job_id(2), ended_at(10), out);
  EXPECT_TRUE(out.now.empty());
  past.add(job_id(3), ended_at(20), out);
  EXPECT_NE(past.find(job_id(1)), nullptr);
  EXPECT_EQ(past.find(job_id(2)), nullptr);
  ASSERT_EQ(out.now.size(), 4u);
  const job::RecordKey thread{.kind = job::RecordKind::thread, .job = job_id(2), .thread = job::ThreadId{7}};
  EXPECT_TRUE(thread.encode().starts_with(std::get<job::DropRecords>(out.now[0]).prefix));
  EXPECT_EQ(std::get<job::DropOutput>(out.now[3]).job, job_id(2));
}

}  // namespace
}  // namespace gw::peer

#include "peer/past_jobs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job/records.h"

namespace gw::peer {
namespace {

job::JobId job_id(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

wire::pb::JobRecord ended_at(std::uint64_t time, std::uint64_t bytes = 0) {
  wire::pb::JobRecord record;
  record.set_ended_at_ns(time);
  record.set_stored_bytes(bytes);
  return record;
}

TEST(PastJobs, KnowsWhichJobsHaveEndedWell) {
  PastJobs past({});
  job::Actions out;
  wire::pb::JobRecord well = ended_at(1), failed = ended_at(2), cancelled = ended_at(3);
  well.set_state(wire::pb::JobRecord::DONE);
  failed.set_state(wire::pb::JobRecord::DONE);
  failed.set_failed(1);
  cancelled.set_state(wire::pb::JobRecord::CANCELLED);
  past.add(job_id(1), well, out);
  past.add(job_id(2), failed, out);
  past.add(job_id(3), cancelled, out);
  EXPECT_EQ(past.course_of(job_id(1)), job::JobCourse::ended_well);
  EXPECT_EQ(past.course_of(job_id(2)), job::JobCourse::ended_badly);
  EXPECT_EQ(past.course_of(job_id(3)), job::JobCourse::ended_badly);
  EXPECT_EQ(past.course_of(job_id(4)), job::JobCourse::unknown);
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
  ASSERT_EQ(out.now.size(), 9u);
  for (const job::RecordKind kind :
       {job::RecordKind::thread, job::RecordKind::counters, job::RecordKind::input, job::RecordKind::mail, job::RecordKind::mail_mark,
        job::RecordKind::watch, job::RecordKind::task_file, job::RecordKind::job}) {
    const std::string key = job::RecordKey{.kind = kind, .job = job_id(2), .thread = job::ThreadId{7}}.encode();
    EXPECT_EQ(1, std::ranges::count_if(out.now, [&](const job::Action& action) {
                const auto* drop = std::get_if<job::DropRecords>(&action);
                return drop != nullptr && key.starts_with(drop->prefix);
              }));
  }
  EXPECT_EQ(std::get<job::DropOutput>(out.now[8]).job, job_id(2));
}

TEST(PastJobs, ForgetsTheOldestWhenTheirOutputIsTooLarge) {
  PastJobs past({.bytes = 100});
  job::Actions out;
  past.add(job_id(1), ended_at(10, 40), out);
  past.add(job_id(2), ended_at(20, 60), out);
  EXPECT_TRUE(out.now.empty());
  past.add(job_id(3), ended_at(30, 1), out);
  EXPECT_EQ(past.find(job_id(1)), nullptr);
  EXPECT_EQ(past.bytes(), 61u);
  past.add(job_id(4), ended_at(40, 1000), out);
  EXPECT_EQ(past.all().size(), 1u) << "the last one stays, however large it is";
  EXPECT_NE(past.find(job_id(4)), nullptr);
}

TEST(PastJobs, ForgetsWhatEndedTooLongAgo) {
  PastJobs past({.age = job::Time(100)});
  job::Actions out;
  EXPECT_EQ(past.next_deadline(), job::kNever);
  past.add(job_id(1), ended_at(10), out);
  past.add(job_id(2), ended_at(20), out);
  EXPECT_EQ(past.next_deadline(), job::Time(110));
  past.on_tick(job::Time(109), out);
  EXPECT_TRUE(out.now.empty());
  past.on_tick(job::Time(110), out);
  EXPECT_EQ(past.all().size(), 1u);
  EXPECT_EQ(past.next_deadline(), job::Time(120));
  past.forget(job_id(2), out);
  past.forget(job_id(2), out);
  EXPECT_TRUE(past.all().empty());
  EXPECT_EQ(std::ranges::count_if(out.now, [](const job::Action& action) { return std::holds_alternative<job::DropOutput>(action); }), 2);
}

}  // namespace
}  // namespace gw::peer

#include "job/home/output_limit.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

Effect printed(std::uint64_t thread, std::uint32_t descriptor, std::size_t bytes) {
  Effect effect;
  effect.set_thread(thread);
  effect.mutable_output()->set_descriptor(descriptor);
  effect.mutable_output()->set_bytes(std::string(bytes, 'x'));
  return effect;
}

Effect report(std::uint64_t thread, std::size_t bytes) {
  Effect effect;
  effect.set_thread(thread);
  effect.set_report(std::string(bytes, 'x'));
  return effect;
}

// Finding N15: a host could send what it liked, and its home stored it.
TEST(OutputLimit, AThreadPrintsNoMoreThanItsLimit) {
  wire::pb::Limits limits;
  limits.set_output_bytes(100);
  OutputLimit limit({}, limits);
  limit.add(entry_of(printed(1, 1, 60)).header);
  EXPECT_TRUE(limit.check(printed(1, 2, 40)));
  EXPECT_EQ(limit.check(printed(1, 2, 41)).error().kind, Kind::overloaded);
  EXPECT_TRUE(limit.check(printed(2, 1, 100))) << "each thread has a limit of its own";
  EXPECT_TRUE(limit.check(report(1, 1000)));
}

// The worker of a program with 4 GiB of memory lets it write as much: the home must not blame the host for it.
TEST(OutputLimit, AThreadWritesAsManyBytesOfFilesAsItsWorkerAllows) {
  wire::pb::Limits limits;
  limits.set_memory_pages(65536);
  OutputLimit limit({}, limits);
  const StoredEffect one_gib{.thread = ThreadId{1}, .kind = EffectKind::file, .bytes = 1u << 30};
  for (int i = 0; i < 4; ++i) limit.add(one_gib);
  Effect more;
  more.set_thread(1);
  more.mutable_file()->set_bytes(std::string(10, 'x'));
  EXPECT_TRUE(limit.check(more));
  for (int i = 0; i < 5; ++i) limit.add(one_gib);
  EXPECT_EQ(limit.check(more).error().kind, Kind::overloaded);
}

TEST(OutputLimit, AJobStoresNoMoreThanItsHomeAllows) {
  OutputLimit limit({.job_bytes = 1000}, {});
  std::uint64_t thread = 1;
  for (; limit.check(report(thread, 100)); ++thread) {
    ASSERT_LT(thread, 10u);
    limit.add(entry_of(report(thread, 100)).header);
  }
  EXPECT_GT(thread, 1u);
  EXPECT_LE(limit.stored_bytes(), 1000u);
  Effect end;
  end.set_thread(1);
  end.mutable_end()->set_reason(Effect::End::EXITED);
  EXPECT_TRUE(limit.check(end)) << "a thread can always end";
}

}  // namespace
}  // namespace gw::job

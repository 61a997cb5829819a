#include "node/jobs/output_progress.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using job::EffectKind;
using job::ThreadId;

TEST(OutputProgress, IsFinalUpToTheFirstThreadThatHasNotEnded) {
  OutputProgress progress(3);
  const ThreadId first = job::thread_of_task(0, 3), second = job::thread_of_task(1, 3), third = job::thread_of_task(2, 3);
  progress.add(second, EffectKind::output, 4);
  progress.add(third, EffectKind::output, 3);
  progress.add(third, EffectKind::end, 9);
  EXPECT_EQ(progress.final_size(Stream::output), 0u);
  progress.add(first, EffectKind::output, 1);
  EXPECT_EQ(progress.final_size(Stream::output), 1u);
  progress.on_ended(first);
  EXPECT_EQ(progress.final_size(Stream::output), 5u);
  progress.on_ended(second);
  EXPECT_EQ(progress.final_size(Stream::output), 8u);
}

TEST(OutputProgress, StreamsAreCountedApart) {
  OutputProgress progress(1);
  progress.add(job::kMainThread, EffectKind::output, 4);
  progress.add(job::kMainThread, EffectKind::errors, 5);
  progress.add(job::kMainThread, EffectKind::file, 6);
  progress.add(job::kMainThread, EffectKind::report, 7);
  EXPECT_EQ(progress.final_size(Stream::output), 4u);
  EXPECT_EQ(progress.final_size(Stream::errors), 5u);
  EXPECT_EQ(progress.final_size(Stream::files), 6u);
}

TEST(OutputProgress, ForkedThreadsComeLastAndOnlyWhenTheJobIsOver) {
  OutputProgress progress(1);
  progress.add(ThreadId{5}, EffectKind::output, 5);
  progress.on_ended(ThreadId{5});
  progress.add(job::kMainThread, EffectKind::output, 4);
  progress.on_ended(job::kMainThread);
  EXPECT_EQ(progress.final_size(Stream::output), 4u);
  progress.on_over();
  EXPECT_EQ(progress.final_size(Stream::output), 9u);
}

TEST(OutputProgress, SkipsTasksThatTheJobDoesNotHave) {
  OutputProgress progress(10, {{2, 1}, {7, 2}});
  progress.add(job::thread_of_task(2, 10), EffectKind::output, 1);
  progress.on_ended(job::thread_of_task(2, 10));
  progress.add(job::thread_of_task(7, 10), EffectKind::output, 2);
  EXPECT_EQ(progress.final_size(Stream::output), 3u);
  progress.on_ended(job::thread_of_task(8, 10));
  progress.on_ended(job::thread_of_task(7, 10));
  EXPECT_EQ(progress.final_size(Stream::output), 3u);
}

TEST(OutputProgress, OutputOfATaskThatMayRunAgainIsFinalAtItsEnd) {
  OutputProgress progress(2, {}, OutputProgress::Unfinished::may_be_void);
  const ThreadId first = job::thread_of_task(0, 2);
  progress.add(first, EffectKind::output, 5);
  EXPECT_EQ(progress.final_size(Stream::output), 0u);
  progress.on_repeated(first);
  progress.add(first, EffectKind::output, 3);
  progress.on_ended(first);
  EXPECT_EQ(progress.final_size(Stream::output), 3u);
}

}  // namespace
}  // namespace gw::node

#include "worker/thread_gate.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <set>
#include <thread>

namespace gw::worker {
namespace {

using wire::pb::FromWorker;

// The frame of an image is known by the number of its spawn.
std::uint64_t spawn_of(const os::Message& message) {
  FromWorker frame;
  GW_ASSERT(frame.ParseFromArray(message.payload.data(), static_cast<int>(message.payload.size())));
  return frame.image().spawn();
}

// The loop once sent a spawn before the image of the child, which had come into the queue just after the loop had looked there.
TEST(ThreadGate, AnEffectLeavesAfterWhatItsThreadHasPutIntoTheQueueBefore) {
  constexpr std::uint64_t kSpawns = 20'000;
  OutgoingFrames outgoing{os::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  ThreadGate gate(job::EffectGate(job::kMainThread, 1), outgoing);
  std::thread pool_thread([&] {
    for (std::uint64_t i = 1; i <= kSpawns; i++) {
      FromWorker image;
      image.mutable_image()->set_spawn(i);
      outgoing.put(image);
      job::Effect spawn;
      spawn.mutable_spawn()->set_child(i);
      gate.emit(std::move(spawn));
    }
  });
  std::set<std::uint64_t> images;
  std::uint64_t spawns = 0, early = 0;
  while (spawns < kSpawns) {
    const ThreadGate::InOrder taken = gate.take_in_order();
    for (const os::Message& message : taken.before) images.insert(spawn_of(message));
    for (const FromWorker& frame : taken.frames) {
      for (const job::Effect& effect : frame.effects().effects()) {
        spawns++;
        early += images.contains(effect.spawn().child()) ? 0 : 1;
        EXPECT_TRUE(gate.on_stored({{job::kLogStream, effect.sequence()}}));
      }
    }
  }
  pool_thread.join();
  EXPECT_EQ(early, 0u);
  EXPECT_EQ(images.size(), kSpawns);
}

job::Effect output(const char* text) {
  job::Effect effect;
  effect.mutable_output()->set_descriptor(1);
  effect.mutable_output()->set_bytes(text);
  return effect;
}

TEST(ThreadGate, AClosedGateKeepsAllUntilItIsTakenOrOpened) {
  OutgoingFrames outgoing{os::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  ThreadGate gate(job::EffectGate(job::ThreadId{7}, 1), outgoing, ThreadGate::Recording::on, ThreadGate::State::closed);
  gate.emit(output("one"));
  ASSERT_TRUE(gate.given(isolate::DeterminantKind::clock, 0, 5));
  gate.emit(output("two"));
  EXPECT_TRUE(gate.take_frames().empty());
  const auto all = gate.take_all();  // also the one behind a determinant that is not stable
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].sequence(), 2u);

  gate.restart(job::EffectGate(job::ThreadId{8}, 1));
  EXPECT_EQ(gate.thread().value(), 8u);
  ASSERT_TRUE(gate.given(isolate::DeterminantKind::clock, 0, 5));
  gate.emit(output("three"));
  EXPECT_TRUE(gate.take_frames().empty());
  gate.open();
  const auto frames = gate.take_frames();
  ASSERT_EQ(frames.size(), 1u);  // the effect waits for its determinant
  EXPECT_EQ(frames[0].determinants().thread(), 8u);
  ASSERT_TRUE(gate.on_determinants_stable(1));
  ASSERT_EQ(gate.take_frames().size(), 1u);
}

}  // namespace
}  // namespace gw::worker

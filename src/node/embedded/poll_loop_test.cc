#include "node/embedded/poll_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/files/unique_fd.h"

namespace gw::node {
namespace {

class NoBlobs final : public BlobReader {
 public:
  Result<std::string> load(const Hash256&) override { return fail(Kind::not_found, "there are none"); }
};

class PollLoopTest : public testing::Test {
 protected:
  PollLoopTest() {
    int ends[2];
    GW_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    read_.reset(ends[0]);
    write_.reset(ends[1]);
  }
  void turn(std::chrono::milliseconds at_most = std::chrono::milliseconds(0)) {
    ASSERT_TRUE(loop_.wait(others_, os::monotonic_now() + at_most));
  }
  void make_readable() { ASSERT_EQ(::write(write_.get(), "x", 1), 1); }

  NoBlobs blobs_;
  PollLoop loop_{blobs_};
  std::vector<pollfd> others_;
  os::UniqueFd read_, write_;
};

TEST_F(PollLoopTest, CallsWhileADescriptorIsReadable) {
  int calls = 0;
  const auto watch = loop_.watch(read_.get(), [&] { ++calls; });
  turn();
  EXPECT_EQ(calls, 0);
  make_readable();
  turn(std::chrono::seconds(5));
  turn();
  EXPECT_EQ(calls, 2);
}

TEST_F(PollLoopTest, AWatchMayEndItselfAndAnother) {
  int calls = 0;
  std::unique_ptr<EventLoop::Watch> first, second;
  const auto end_both = [&] {
    ++calls;
    first.reset();
    second.reset();
  };
  first = loop_.watch(read_.get(), end_both).value();
  second = loop_.watch(read_.get(), end_both).value();
  make_readable();
  turn(std::chrono::seconds(5));
  turn();
  EXPECT_EQ(calls, 1);
}

TEST_F(PollLoopTest, WhatIsPostedRunsWithoutWaitingAndNotInsideTheCall) {
  std::vector<int> order;
  loop_.post([&] {
    order.push_back(1);
    loop_.post([&] { order.push_back(2); });
  });
  EXPECT_TRUE(order.empty());
  turn(std::chrono::hours(1));
  EXPECT_EQ(order, std::vector({1}));
  turn(std::chrono::hours(1));
  EXPECT_EQ(order, std::vector({1, 2}));
}

TEST_F(PollLoopTest, TellsWhichOfTheOthersIsReady) {
  others_ = {{-1, POLLIN, 0}, {read_.get(), POLLIN, 0}};
  make_readable();
  turn(std::chrono::seconds(5));
  EXPECT_EQ(others_[0].revents, 0);
  EXPECT_NE(others_[1].revents, 0);
}

}  // namespace
}  // namespace gw::node

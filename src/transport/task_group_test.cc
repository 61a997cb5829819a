#include "transport/task_group.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <stdexcept>
#include <vector>

namespace gw::transport {
namespace {

asio::awaitable<void> wait_for_ever(std::vector<std::string>& events) {
  asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  auto [error] = co_await timer.async_wait(kAsTuple);
  events.emplace_back(error == asio::error::operation_aborted ? "stopped" : "woke up");
}

asio::awaitable<void> broken() {
  throw std::runtime_error("a bug");
  co_return;
}

asio::awaitable<void> wait_for(TaskGroup& group, std::vector<std::string>& events) {
  co_await group.wait();
  events.emplace_back("all ended");
}

TEST(TaskGroup, StopEndsTasksAndWaitIsOverWhenAllHave) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor()), waiting(io.get_executor());
  std::vector<std::string> events;
  group.spawn("first", wait_for_ever(events));
  group.spawn("second", wait_for_ever(events));
  waiting.spawn("wait", wait_for(group, events));
  io.poll();
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(group.size(), 2u);
  asio::post(io, [&] { group.stop(); });
  io.run();
  EXPECT_EQ(events, (std::vector<std::string>{"stopped", "stopped", "all ended"}));
}

TEST(TaskGroup, AnExceptionEndsOneTaskOnly) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  std::vector<std::string> events;
  group.spawn("broken", broken());
  group.spawn("whole", wait_for_ever(events));
  io.poll();
  EXPECT_EQ(group.size(), 1u);
  asio::post(io, [&] { group.stop(); });
  io.run();
  EXPECT_EQ(group.size(), 0u);
}

}  // namespace
}  // namespace gw::transport

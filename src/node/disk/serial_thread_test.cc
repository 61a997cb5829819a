#include "node/disk/serial_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace gw::node {
namespace {

TEST(SerialThread, DoesWhatWasAddedInOrderBeforeItEnds) {
  std::vector<int> done;
  {
    SerialThread thread({.name = "test", .waiting = 4});
    for (int i = 0; i < 100; ++i) thread.add([&done, i] { done.push_back(i); });
  }
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(SerialThread, RefusesWhatDoesNotFit) {
  std::promise<void> began, let_go;
  SerialThread thread({.name = "test", .waiting = 2});
  thread.add([&] {
    began.set_value();
    let_go.get_future().wait();
  });
  began.get_future().wait();
  EXPECT_TRUE(thread.try_add([] {}));
  EXPECT_TRUE(thread.try_add([] {}));
  EXPECT_FALSE(thread.try_add([] {}));
  let_go.set_value();
}

}  // namespace
}  // namespace gw::node

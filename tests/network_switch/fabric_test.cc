#include "fabric.h"

#include <gtest/gtest.h>

namespace gw::network_switch {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Time kStart{std::chrono::hours(1)};

Bytes frame(std::uint8_t to, std::uint8_t from) {
  Bytes bytes(60, 0);
  std::fill_n(bytes.begin(), 6, to);
  std::fill_n(bytes.begin() + 6, 6, from);
  return bytes;
}

class FabricTest : public testing::Test {
 protected:
  FabricTest() {
    for (int i = 0; i < 3; ++i) fabric_.add_port();
  }

  // Where frames have arrived by then.
  std::vector<Fabric::Port> arrived(Time by) {
    std::vector<Fabric::Port> ports;
    while (auto arrival = fabric_.take(by)) ports.push_back(arrival->to);
    return ports;
  }

  Fabric fabric_{Rng(1)};
};

TEST_F(FabricTest, SendsToAllUntilItKnowsWhereACardIs) {
  fabric_.on_frame(kStart, 0, frame(2, 1));
  EXPECT_EQ(arrived(kStart), (std::vector<Fabric::Port>{1, 2}));
  fabric_.on_frame(kStart, 2, frame(1, 2));
  EXPECT_EQ(arrived(kStart), std::vector<Fabric::Port>{0});
  fabric_.on_frame(kStart, 0, frame(2, 1));
  EXPECT_EQ(arrived(kStart), std::vector<Fabric::Port>{2});
  fabric_.on_frame(kStart, 0, Bytes(13));
  EXPECT_TRUE(arrived(kStart).empty()) << "that is no frame";
}

TEST_F(FabricTest, EachPairHasItsDelayAndKeepsItsOrder) {
  fabric_.set(0, 1, {.delay = milliseconds(5), .jitter = milliseconds(50)});
  for (int i = 0; i < 20; ++i) fabric_.on_frame(kStart + milliseconds(i), 0, frame(9, 1));
  EXPECT_EQ(arrived(kStart + milliseconds(4)), (std::vector<Fabric::Port>(5, 2))) << "the other way is short";
  Time last = kStart;
  std::size_t count = 0;
  for (Time at = kStart; at < kStart + milliseconds(80); at += microseconds(100))
    for (; fabric_.take(at); ++count) last = at;
  EXPECT_EQ(count, 35u);
  EXPECT_EQ(fabric_.next_arrival(), Time::max());
  EXPECT_GE(last, kStart + milliseconds(24));
}

TEST_F(FabricTest, LosesAsMuchAsItShould) {
  fabric_.set(0, 1, {.loss = 0.2});
  fabric_.set(0, 2, {.loss = 1});
  for (int i = 0; i < 1000; ++i) fabric_.on_frame(kStart, 0, frame(9, 1));
  const std::size_t count = arrived(kStart).size();
  EXPECT_GT(count, 740u);
  EXPECT_LT(count, 860u);
}

}  // namespace
}  // namespace gw::network_switch

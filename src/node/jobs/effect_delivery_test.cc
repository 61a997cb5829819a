#include "node/jobs/effect_delivery.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "os/unique_fd.h"

namespace gw::node {
namespace {

struct Reports final : EffectDelivery::Observer {
  void on_report(job::ThreadId, ByteView bytes) override { all.emplace_back(as_text(bytes)); }
  std::vector<std::string> all;
};

job::Effect an_output(std::uint64_t sequence, std::string bytes) {
  job::Effect effect;
  effect.set_thread(1);
  effect.set_sequence(sequence);
  effect.mutable_output()->set_stream(1);
  effect.mutable_output()->set_bytes(std::move(bytes));
  return effect;
}

class DeliveryTest : public testing::Test {
 protected:
  DeliveryTest() {
    int ends[2];
    GW_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    reader_.reset(ends[0]);
    writer_.reset(ends[1]);
    delivery_.emplace(EffectDelivery::Descriptors{writer_.get(), writer_.get()}, reports_);
  }
  std::string read_some() {
    std::string bytes(1u << 20, '\0');
    const ssize_t n = ::read(reader_.get(), bytes.data(), bytes.size());
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return bytes;
  }

  os::UniqueFd reader_, writer_;
  Reports reports_;
  std::optional<EffectDelivery> delivery_;
};

TEST_F(DeliveryTest, DeliversInOrderAndSaysHowFar) {
  delivery_->add(an_output(1, "one "));
  job::Effect report;
  report.set_thread(1);
  report.set_sequence(2);
  report.set_report("half");
  delivery_->add(report);
  delivery_->add(an_output(3, "two"));
  ASSERT_TRUE(delivery_->advance().has_value());
  EXPECT_TRUE(delivery_->empty());
  EXPECT_EQ(read_some(), "one two");
  EXPECT_THAT(reports_.all, testing::ElementsAre("half"));
  EXPECT_EQ(delivery_->take_delivered().at(job::ThreadId{1}), 3u);
  EXPECT_TRUE(delivery_->take_delivered().empty());
}

TEST_F(DeliveryTest, AFullPipeHoldsUpWhatFollowsAndLosesNothing) {
  const std::string large(300'000, 'x');
  delivery_->add(an_output(1, large));
  delivery_->add(an_output(2, "end"));
  ASSERT_TRUE(delivery_->advance().has_value());
  EXPECT_EQ(delivery_->blocked_on(), writer_.get());
  EXPECT_TRUE(delivery_->take_delivered().empty());
  std::string all;
  while (!delivery_->empty()) {
    all += read_some();
    ASSERT_TRUE(delivery_->advance().has_value());
  }
  EXPECT_EQ(delivery_->take_delivered().at(job::ThreadId{1}), 2u);
  while (all.size() < large.size() + 3) all += read_some();
  EXPECT_EQ(all, large + "end");
}

TEST_F(DeliveryTest, AReaderThatWentAwayDoesNotStopTheJob) {
  ::signal(SIGPIPE, SIG_IGN);
  reader_.reset();
  delivery_->add(an_output(1, "nobody"));
  ASSERT_TRUE(delivery_->advance().has_value());
  EXPECT_TRUE(delivery_->broken());
  EXPECT_EQ(delivery_->take_delivered().at(job::ThreadId{1}), 1u);
}

}  // namespace
}  // namespace gw::node

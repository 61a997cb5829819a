#include "node/driver/bulk_pacer.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Pacer : public testing::Test {
 protected:
  static job::Send blob(std::uint8_t number, std::size_t bytes) {
    job::Send send;
    send.message.mutable_job()->mutable_blob()->set_hash(std::string(1, static_cast<char>(number)));
    send.message.mutable_job()->mutable_blob()->set_bytes(std::string(bytes, 'x'));
    return send;
  }
  static job::Send request(std::uint8_t number) {
    job::Send send;
    send.message.mutable_job()->mutable_want_blob()->set_hash(std::string(1, static_cast<char>(number)));
    return send;
  }
  // Sends everything that waits; returns how long that took.
  milliseconds drain(std::size_t* messages = nullptr) {
    const auto begin = now_;
    std::size_t count = pacer_.take_due(now_).size();
    while (const auto next = pacer_.next(now_)) {
      now_ = std::max(*next, now_);
      count += pacer_.take_due(now_).size();
    }
    if (messages != nullptr) *messages = count;
    return std::chrono::duration_cast<milliseconds>(now_ - begin);
  }

  BulkPacer::Time now_{seconds(100)};
  BulkPacer pacer_;
};

TEST_F(Pacer, BlobsLeaveAtTheLimitAndNoFaster) {
  pacer_.set_limit(now_, 1u << 20);
  for (std::uint8_t i = 0; i < 40; ++i) pacer_.add_blob(blob(i, 256u << 10));
  std::size_t sent = 0;
  const milliseconds took = drain(&sent);
  EXPECT_EQ(sent, 40u);
  EXPECT_GE(took, milliseconds(9500)) << "10 MiB at 1 MiB/s, but for the burst and the last one";
  EXPECT_LE(took, milliseconds(10000));
}

TEST_F(Pacer, RequestsLeaveAsFastAsBlobsMayCome) {
  pacer_.set_limit(now_, 1u << 20);
  for (std::uint8_t i = 0; i < 20; ++i) pacer_.add_request(now_, request(i));
  std::size_t asked = 0, received = 0;
  const auto begin = now_;
  for (; asked < 20; now_ += milliseconds(10)) {
    for (const job::Send& one : pacer_.take_due(now_)) {
      ++asked;
      job::JobMessage answer;
      answer.mutable_blob()->set_hash(one.message.job().want_blob().hash());
      pacer_.on_received(now_, answer, 512u << 10);
      received += 512u << 10;
    }
  }
  EXPECT_NEAR(std::chrono::duration<double>(now_ - begin).count(), static_cast<double>(received) / (1u << 20), 1.2);
}

TEST_F(Pacer, WhatIsRepeatedIsSentOnce) {
  pacer_.set_limit(now_, 1u << 20);
  for (int i = 0; i < 10; ++i) pacer_.add_blob(blob(1, 1u << 20)), pacer_.add_request(now_, request(2));
  EXPECT_EQ(pacer_.take_due(now_).size(), 2u);
  pacer_.add_request(now_, request(2));
  std::size_t sent = 0;
  drain(&sent);
  EXPECT_EQ(sent, 0u) << "the blob is on its way";
  now_ += seconds(10);
  pacer_.add_request(now_, request(2));
  EXPECT_EQ(pacer_.take_due(now_).size(), 1u) << "it has not come";
}

TEST_F(Pacer, WhatWaitsIsBounded) {
  pacer_.set_limit(now_, 1u << 20);
  for (std::uint8_t i = 0; i < 100; ++i) pacer_.add_blob(blob(i, 1u << 20));
  pacer_.set_limit(now_, 0);
  EXPECT_FALSE(pacer_.limited());
  EXPECT_EQ(pacer_.take_due(now_).size(), 63u) << "64 MiB with their headers, and without a limit all at once";
}

TEST_F(Pacer, OutputOfProgramsDelaysBlobs) {
  pacer_.set_limit(now_, 1u << 20);
  pacer_.on_sent(now_, 5u << 20);
  pacer_.add_blob(blob(1, 1000));
  EXPECT_GE(drain(), milliseconds(4800));
}

}  // namespace
}  // namespace gw::node

#include "node/driver/message_lane.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace {

// The determinants of a thread are megabytes, and delayed the pings of a keeper until its peers took it for dead.
TEST(MessageLane, WhatMayBeLongTravelsWithBlobs) {
  job::JobMessage message;
  message.mutable_image_is()->add_determinants();
  EXPECT_TRUE(carries_content(message));
  message.mutable_effects();
  EXPECT_TRUE(carries_content(message));
  message.mutable_input();
  EXPECT_TRUE(carries_content(message));
  message.mutable_blob();
  EXPECT_TRUE(carries_content(message));
}

TEST(MessageLane, WhatKeepsAJobAliveDoesNot) {
  job::JobMessage message;
  message.mutable_claim();
  EXPECT_FALSE(carries_content(message));
  message.mutable_keep_image();
  EXPECT_FALSE(carries_content(message));
  message.mutable_kept();
  EXPECT_FALSE(carries_content(message));
}

}  // namespace
}  // namespace gw::node

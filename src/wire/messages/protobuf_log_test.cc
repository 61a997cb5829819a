#include "wire/messages/protobuf_log.h"

#include <gtest/gtest.h>

#include "wire/job_spec.pb.h"

namespace gw::wire {
namespace {

TEST(ProtobufLog, PrintsNothingWhenAMessageIsRefused) {
  log_protobuf_quietly();
  pb::JobSpec::Mount spec;
  testing::internal::CaptureStderr();
  const bool read = spec.ParseFromString(std::string("\x0a\x02\xff\xfe", 4));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(read);
}

}  // namespace
}  // namespace gw::wire

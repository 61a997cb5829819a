#include "job/host/row_segments.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

wire::pb::TaskRows rows_with(const std::string& value) {
  wire::pb::TaskRows rows;
  rows.add_rows()->add_values(value);
  return rows;
}

TEST(RowSegments, KeepsTheSegmentsUsedLast) {
  RowSegments segments;
  for (std::uint32_t i = 0; i < RowSegments::kMost; ++i) segments.add(i, rows_with(std::to_string(i)));
  ASSERT_NE(segments.find(0), nullptr);  // now the one used last
  segments.add(100, rows_with("100"));
  EXPECT_EQ(segments.find(1), nullptr);
  ASSERT_NE(segments.find(0), nullptr);
  EXPECT_EQ((*segments.find(0))->rows(0).values(0), "0");
  EXPECT_EQ((*segments.find(100))->rows(0).values(0), "100");
}

TEST(RowSegments, KeepsWhyASegmentCannotBeRead) {
  RowSegments segments;
  segments.add(3, fail(Kind::invalid, "these are no rows"));
  ASSERT_NE(segments.find(3), nullptr);
  EXPECT_EQ(segments.find(3)->error().detail, "these are no rows");
}

}  // namespace
}  // namespace gw::job

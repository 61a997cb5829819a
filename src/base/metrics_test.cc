#include "base/metrics.h"

#include <gtest/gtest.h>

#include <set>

namespace gw::metrics {
namespace {

TEST(Metrics, EachHasItsPlaceAndANameOfItsOwn) {
  std::set<std::string_view> names;
  std::size_t place = 0;
  for (const Entry& entry : entries()) {
    EXPECT_EQ(static_cast<std::size_t>(entry.metric), place++) << entry.name;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_TRUE(entry.name.starts_with("godwit_")) << entry.name;
    EXPECT_EQ(entry.name.ends_with("_total"), entry.kind == Kind::counter) << entry.name;
  }
}

TEST(Metrics, CountsAndSets) {
  const std::uint64_t before = value(Metric::bytes_sent);
  count(Metric::bytes_sent, 40);
  count(Metric::bytes_sent);
  EXPECT_EQ(value(Metric::bytes_sent), before + 41);
  set(Metric::peers_alive, 7);
  set(Metric::peers_alive, 5);
  EXPECT_NE(text().find("# TYPE godwit_overlay_peers_alive gauge\ngodwit_overlay_peers_alive 5\n"), std::string::npos);
  EXPECT_NE(text().find("# TYPE godwit_transport_sent_bytes_total counter\n"), std::string::npos);
}

}  // namespace
}  // namespace gw::metrics

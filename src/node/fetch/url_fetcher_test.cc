#include "node/fetch/url_fetcher.h"

#include <gtest/gtest.h>

namespace gw::node {
namespace url_fetcher_test {

TEST(ParseUrl, ReadsServerPortAndTarget) {
  const auto url = parse_url("https://data.example:8443/a/b.csv?x=1#part");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "data.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/a/b.csv?x=1");
  EXPECT_EQ(parse_url("https://data.example")->target, "/");
  EXPECT_EQ(parse_url("https://data.example?x")->target, "/?x");
  EXPECT_EQ(parse_url("https://[2606::1]:444/x")->host, "2606::1");
  EXPECT_EQ(parse_url("https://[2606::1]:444/x")->port, 444);
}

TEST(ParseUrl, RefusesWhatItCannotFetch) {
  for (const std::string text : {"http://data.example/x", "ftp://data.example/x", "https:///x", "https://user@data.example/x",
                                 "https://data.example:0/x", "https://data.example:x/", "https://data.example:99999/", "https://[::1/x",
                                 "https://data.example/a b", "https://data.example/\r\nHost: other"})
    EXPECT_FALSE(parse_url(text)) << text;
  EXPECT_FALSE(parse_url("https://data.example/" + std::string(3000, 'x')));
}

TEST(UrlFetcher, DoesNotConnectToPrivateAddresses) {
  const UrlFetcher fetcher({});
  for (const std::string url : {"https://127.0.0.1/x", "https://localhost/x", "https://10.0.0.1/x", "https://169.254.169.254/latest",
                                "https://[::1]/x", "https://[::ffff:127.0.0.1]/x", "https://0/x", "https://2130706433/x"}) {
    const auto range = fetcher.fetch(url, 0, 100, "");
    ASSERT_FALSE(range) << url;
    EXPECT_EQ(range.error().kind, Kind::invalid) << url << ": " << range.error().detail;
  }
}

}  // namespace url_fetcher_test
}  // namespace gw::node

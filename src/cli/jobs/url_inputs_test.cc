#include "cli/jobs/url_inputs.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace url_inputs_test {

TEST(UrlInputs, AreTakenOutOfTheInputs) {
  std::vector<std::string> inputs = {"file.txt:/in", "https://data.example/a/b.csv", "https://data.example:8443/x?y=z:/data/x"};
  const auto urls = take_urls(inputs);
  ASSERT_TRUE(urls);
  EXPECT_EQ(inputs, (std::vector<std::string>{"file.txt:/in"}));
  ASSERT_EQ(urls->size(), 2u);
  EXPECT_EQ((*urls)[0].url, "https://data.example/a/b.csv");
  EXPECT_EQ((*urls)[0].guest, "/b.csv");
  EXPECT_EQ((*urls)[1].url, "https://data.example:8443/x?y=z");
  EXPECT_EQ((*urls)[1].guest, "/data/x");
}

TEST(UrlInputs, NeedANameForTheProgram) {
  for (const std::string text : {"https://data.example", "https://data.example/", "https://data.example/x:/../y"}) {
    std::vector<std::string> inputs = {text};
    EXPECT_FALSE(take_urls(inputs)) << text;
  }
  std::vector<std::string> twice = {"https://a.example/x", "https://b.example/x"};
  EXPECT_FALSE(take_urls(twice));
}

}  // namespace url_inputs_test
}  // namespace gw::cli

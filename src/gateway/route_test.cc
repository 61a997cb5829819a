#include "gateway/route.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>

namespace gw::gateway {
namespace {

const std::string kId(64, 'a');

TEST(Route, ValuesAreReadFromPathAndQuery) {
  const auto asked = parse_request("GET", "/v1/jobs/" + kId + "/output?stream=stderr&from=42&follow=1");
  ASSERT_TRUE(asked) << asked.error().detail;
  const auto& call = std::get<ReadOutput>(asked->call);
  EXPECT_EQ(call.job.hash.hex(), kId);
  EXPECT_EQ(call.stream, node::Stream::errors);
  const auto files = parse_request("GET", "/v1/jobs/" + kId + "/output?stream=files");
  ASSERT_TRUE(files);
  EXPECT_EQ(std::get<ReadOutput>(files->call).stream, node::Stream::files);
  EXPECT_EQ(call.from, 42u);
  EXPECT_EQ(call.until, ReadOutput::ReadUntil::end);
  const auto plain = parse_request("GET", "/v1/jobs/" + kId + "/output");
  ASSERT_TRUE(plain);
  EXPECT_EQ(std::get<ReadOutput>(plain->call).until, ReadOutput::ReadUntil::now);
}

TEST(Route, OnlyWhatTakesABodyMayHaveOne) {
  EXPECT_EQ(parse_request("GET", "/v1/node")->max_body_bytes, 0u);
  EXPECT_EQ(parse_request("PUT", "/v1/blobs/" + kId)->max_body_bytes, 1u << 20);
}

TEST(Route, WhatIsWrongIsSaid) {
  struct Case {
    std::string method, target;
    Kind kind;
    std::string words;  // in the sentence
  };
  const Case cases[] = {
      {"GET", "/", Kind::not_found, "openapi"},
      {"GET", "", Kind::not_found, "nothing at"},
      {"GET", "/v2/node", Kind::not_found, "/v2/node"},
      {"GET", "/v1/node/", Kind::not_found, "nothing at"},
      {"GET", "//v1/node", Kind::not_found, "nothing at"},
      {"GET", "/v1/jobs/" + kId + "/output/more", Kind::not_found, "nothing at"},
      {"DELETE", "/v1/node", Kind::unsupported, "but with GET"},
      {"get", "/v1/node", Kind::unsupported, "but with GET"},
      {"PUT", "/v1/jobs", Kind::unsupported, "GET, POST"},
      {"GET", "/v1/jobs/abc", Kind::invalid, "64 hexadecimal"},
      {"GET", "/v1/jobs/", Kind::invalid, "64 hexadecimal"},
      {"GET", "/v1/jobs/" + std::string(63, 'a') + "%", Kind::invalid, "64 hexadecimal"},
      {"GET", "/v1/jobs/" + std::string(64, 'g'), Kind::invalid, "64 hexadecimal"},
      {"GET", "/v1/node?verbose=1", Kind::invalid, "no query"},
      {"GET", "/v1/jobs/" + kId + "/output?from=-1", Kind::invalid, "whole number"},
      {"GET", "/v1/jobs/" + kId + "/output?from=", Kind::invalid, "whole number"},
      {"GET", "/v1/jobs/" + kId + "/output?from=18446744073709551616", Kind::invalid, "whole number"},
      {"GET", "/v1/jobs/" + kId + "/output?from=1x", Kind::invalid, "whole number"},
      {"GET", "/v1/jobs/" + kId + "/output?from=1&from=2", Kind::invalid, "twice"},
      {"GET", "/v1/jobs/" + kId + "/output?from", Kind::invalid, "means nothing"},
      {"GET", "/v1/jobs/" + kId + "/output?&", Kind::invalid, "means nothing"},
      {"GET", "/v1/jobs/" + kId + "/output?follow=yes", Kind::invalid, "neither 0 nor 1"},
      {"GET", "/v1/jobs/" + kId + "/output?stream=stdin", Kind::invalid, "neither stdout nor stderr"},
      {"GET", "/v1/jobs/" + kId + "/events?follow=1", Kind::invalid, "it takes from"},
  };
  for (const Case& wrong : cases) {
    const auto asked = parse_request(wrong.method, wrong.target);
    ASSERT_FALSE(asked) << wrong.method << " " << wrong.target;
    EXPECT_EQ(asked.error().kind, wrong.kind) << wrong.target;
    EXPECT_NE(asked.error().detail.find(wrong.words), std::string::npos) << asked.error().detail;
  }
}

// Whatever the bytes are: an answer, and only whole ids get through.
TEST(Route, AnyBytesAreAnswered) {
  std::mt19937_64 random(20261116);
  const std::string pieces[] = {"/v1",    "/jobs",  "/",       kId,       "?", "=", "&",   "from",
                                "follow", "stream", "/output", "/events", "0", "1", "%00", "\xff"};
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string target;
    for (std::uint64_t parts = random() % 12; parts > 0; --parts) target += pieces[random() % std::size(pieces)];
    const auto asked = parse_request("GET", target);
    if (asked) ++accepted;
    if (!asked) EXPECT_FALSE(asked.error().detail.empty());
  }
  EXPECT_GT(accepted, 0);
}

// The document and the code say the same. YAML, but of a shape that lines can be read of: paths at two blanks, methods at four.
TEST(Route, TheDocumentAndTheTableAgree) {
  std::ifstream file(GODWIT_OPENAPI);
  ASSERT_TRUE(file) << GODWIT_OPENAPI;
  std::set<std::string> documented;
  std::string line, path;
  const std::regex path_line("^  (/v1/[^:]*):$"), method_line("^    (get|put|post|delete|patch|head):$"),
      query_line("^        - \\{ name: (\\w+), in: query.*");
  std::string operation;
  while (std::getline(file, line)) {
    std::smatch found;
    if (std::regex_match(line, found, path_line)) path = found[1];
    if (std::regex_match(line, found, method_line)) {
      std::string method = found[1];
      for (char& c : method) c = static_cast<char>(std::toupper(c));
      operation = method + " " + path;
      documented.insert(operation);
    }
    if (std::regex_match(line, found, query_line)) documented.insert(operation + " ?" + found[1].str());
  }
  std::set<std::string> built;
  for (const Route& route : routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.path);
    built.insert(name);
    std::istringstream query{std::string(route.query)};
    for (std::string parameter; query >> parameter;) built.insert(name + " ?" + parameter);
  }
  EXPECT_EQ(documented, built);
}

}  // namespace
}  // namespace gw::gateway

#include "gateway/routes.h"

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
  const std::string target = "/v1/jobs/" + kId + "/output?stream=stderr&from=42&follow=1";
  const auto asked = match(routes(), "GET", target);
  ASSERT_TRUE(asked) << asked.error().detail;
  EXPECT_EQ(asked->name.hex(), kId);
  EXPECT_EQ(stream(*asked).value(), node::Stream::errors);
  EXPECT_EQ(number(*asked, "from").value(), 42u);
  EXPECT_TRUE(flag(*asked, "follow").value());
  const std::string files = "/v1/jobs/" + kId + "/output?stream=files";
  EXPECT_EQ(stream(match(routes(), "GET", files).value()).value(), node::Stream::files);
  const std::string plain = "/v1/jobs/" + kId + "/output";
  EXPECT_FALSE(flag(match(routes(), "GET", plain).value(), "follow").value());
  EXPECT_EQ(stream(match(routes(), "GET", plain).value()).value(), node::Stream::output);
}

TEST(Route, EachHasItsHandler) {
  const auto job = match(routes(), "GET", "/v1/jobs/" + kId);
  EXPECT_EQ(std::get<ApiHandler>(handler_of(*job->route)), &Api::show_job);
  const std::string events = "/v1/jobs/" + kId + "/events";
  EXPECT_EQ(std::get<StreamHandler>(handler_of(*match(routes(), "GET", events)->route)), &JobStream::send_events);
}

// Reads the parameters as JobStream does.
Status read_parameters(const Match& match) {
  GW_TRY_VOID(stream(match));
  GW_TRY_VOID(number(match, "from"));
  GW_TRY_VOID(flag(match, "follow"));
  return ok();
}

TEST(Route, OnlyWhatTakesABodyMayHaveOne) {
  EXPECT_EQ(match(routes(), "GET", "/v1/node")->route->max_body_bytes, 0u);
  EXPECT_EQ(match(routes(), "PUT", "/v1/blobs/" + kId)->route->max_body_bytes, 1u << 20);
}

TEST(Route, ErrorsNameTheWrongPart) {
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
      {"DELETE", "/v1/node", Kind::unsupported, "use GET"},
      {"get", "/v1/node", Kind::unsupported, "use GET"},
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
      {"GET", "/v1/jobs/" + kId + "/output?from", Kind::invalid, "has no parameter"},
      {"GET", "/v1/jobs/" + kId + "/output?&", Kind::invalid, "has no parameter"},
      {"GET", "/v1/jobs/" + kId + "/output?follow=yes", Kind::invalid, "neither 0 nor 1"},
      {"GET", "/v1/jobs/" + kId + "/output?stream=stdin", Kind::invalid, "neither stdout nor stderr"},
      {"GET", "/v1/jobs/" + kId + "/events?follow=1", Kind::invalid, "it takes from"},
  };
  for (const Case& wrong : cases) {
    const auto found = match(routes(), wrong.method, wrong.target);
    const Status asked = found ? read_parameters(*found) : Status(found.error());
    ASSERT_FALSE(asked) << wrong.method << " " << wrong.target;
    EXPECT_EQ(asked.error().kind, wrong.kind) << wrong.target;
    EXPECT_NE(asked.error().detail.find(wrong.words), std::string::npos) << asked.error().detail;
  }
}

// Random bytes always get an answer, and only whole ids reach a handler.
TEST(Route, AnyBytesAreAnswered) {
  std::mt19937_64 random(20261116);
  const std::string pieces[] = {"/v1",    "/jobs",  "/",       kId,       "?", "=", "&",   "from",
                                "follow", "stream", "/output", "/events", "0", "1", "%00", "\xff"};
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string target;
    for (std::uint64_t parts = random() % 12; parts > 0; --parts) target += pieces[random() % std::size(pieces)];
    const auto asked = match(routes(), "GET", target);
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

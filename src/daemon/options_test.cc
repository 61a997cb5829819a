#include "daemon/options.h"

#include <gtest/gtest.h>

namespace gw::daemon {
namespace {

Result<Options> parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--worker", "/bin/true"});
  return parse_options(arguments);
}

TEST(DaemonOptions, TakesBothFormsAndRepetition) {
  const auto options = parse({"--state=/s", "--listen", "127.0.0.1:1", "--listen=[::1]:2", "--join", "a:1", "--join", "b:2", "--slots", "0",
                              "--grid", "one", "--grid=two"});
  ASSERT_TRUE(options) << options.error().detail;
  EXPECT_EQ(options->state, "/s");
  EXPECT_EQ(options->socket, "/s/socket");
  EXPECT_EQ(options->listen, (std::vector<std::string>{"127.0.0.1:1", "[::1]:2"}));
  EXPECT_EQ(options->join, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(options->slots, 0u);
  EXPECT_EQ(options->grids, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(options->life, Options::Life::own);
}

TEST(DaemonOptions, HasDefaults) {
  const auto options = parse({"--state", "/s", "--ephemeral"});
  ASSERT_TRUE(options) << options.error().detail;
  EXPECT_TRUE(options->listen.empty());
  EXPECT_EQ(options->ready_fd, -1);
  EXPECT_TRUE(options->log.empty());
  EXPECT_FALSE(options->slots);
  EXPECT_TRUE(options->grids.empty()) << "those it was in, else the open one";
  EXPECT_EQ(options->life, Options::Life::starter);
}

TEST(DaemonOptions, TakesANameForTheMachineOrThatOfTheSystem) {
  EXPECT_EQ(parse({"--state=/s", "--name", "lab-3"})->name, "lab-3");
  EXPECT_FALSE(parse({"--state=/s"})->name.empty());
  EXPECT_EQ(parse({"--state=/s", "--name", "two words"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"--state=/s", "--name="}).error().kind, Kind::invalid);
}

TEST(DaemonOptions, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(parse({"--stat=/s"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"file"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"--slots=-1"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"--slots=4097"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"--grid=two words"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse({"--grid=one", "--grid=one"}).error().kind, Kind::invalid);
  EXPECT_EQ(parse_options(std::vector<std::string>{"--state"}).error().kind, Kind::invalid);
}

}  // namespace
}  // namespace gw::daemon

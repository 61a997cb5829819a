#include "os/process/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "os/clock.h"

namespace gw::os {
namespace {

using std::chrono::milliseconds;

ProcessRequest shell(std::string script) { return {.argv = {"sh", "-c", std::move(script)}}; }

TEST(RunProcess, CollectsOutputAndExitCode) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 3")).value();
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.succeeded());
}

TEST(RunProcess, PassesInputEnvironmentAndFolder) {
  ProcessRequest request = shell("cat; echo $GREETING $HOME; pwd");
  const ByteView input = as_bytes("in\n");
  request.stdin_bytes.assign(input.begin(), input.end());
  request.env = {"GREETING=hello", "HOME=nowhere"};
  request.working_dir = "/usr";
  EXPECT_EQ(run_process(request).value().out, "in\nhello nowhere\n/usr\n");
}

TEST(RunProcess, ReportsTheSignal) { EXPECT_EQ(run_process(shell("kill -SEGV $$")).value().signal, SIGSEGV); }

TEST(RunProcess, SaysWhenThereIsNoSuchProgram) {
  const auto result = run_process({.argv = {"godwit-no-such-program"}});
  EXPECT_EQ(result.error().kind, Kind::not_found);
  EXPECT_NE(result.error().detail.find("godwit-no-such-program"), std::string::npos);
}

TEST(RunProcess, EndsAChildThatTakesTooLongWithAllItStarted) {
  ProcessRequest request = shell("sleep 60 & sleep 60");
  request.timeout = milliseconds(50);
  const auto before = monotonic_now();
  EXPECT_EQ(run_process(request).error().kind, Kind::timeout);
  EXPECT_LT(monotonic_now() - before, std::chrono::seconds(10));
}

TEST(RunProcess, EndsAChildThatSaysTooMuch) {
  ProcessRequest request = shell("yes");
  request.max_output = 1000;
  EXPECT_EQ(run_process(request).error().kind, Kind::overloaded);
}

TEST(RunProcess, WaitsForAChildThatClosesItsOutput) {
  EXPECT_EQ(run_process(shell("exec >&- 2>&-; sleep 0.05; exit 5")).value().exit_code, 5);
}

TEST(RunForked, BringsBackAnswerAndPrintedText) {
  const auto body = [] {
    std::cout << "printed" << std::flush;
    return Bytes(200'000, 'a');
  };
  const ProcessResult result = run_forked(body, milliseconds(10'000), 1 << 20).value();
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.out, std::string(200'000, 'a'));
  EXPECT_EQ(result.err, "printed");
}

TEST(RunForked, SurvivesABodyThatEndsTheProcess) {
  const auto body = []() -> Bytes {
    std::fputs("fatal: broken\n", stderr);
    std::_Exit(1);
  };
  const ProcessResult result = run_forked(body, milliseconds(10'000), 1000).value();
  EXPECT_EQ(result.err, "fatal: broken\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
}

TEST(Clocks, GoForward) {
  const auto wall = wall_now();
  const auto cpu = thread_cpu_now();
  const auto start = monotonic_now();
  while (monotonic_now() - start < milliseconds(5)) {
  }
  EXPECT_GT(wall_now(), wall);
  EXPECT_GT(thread_cpu_now(), cpu);
}

}  // namespace
}  // namespace gw::os

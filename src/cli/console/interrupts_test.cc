#include "cli/console/interrupts.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <semaphore>

#include "cli/exit_codes.h"

namespace gw::cli {
namespace {

// Each in a process of its own: signals and their masks belong to the process.
class InterruptsDeathTest : public testing::Test {
 protected:
  InterruptsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void send(int signal) { ::kill(::getpid(), signal); }

[[noreturn]] void two_signals() {
  auto interrupts = Interrupts::make().value();
  std::binary_semaphore first(0), second(0);
  interrupts->watch({[&] { first.release(); }, [&] { second.release(); }});
  send(SIGINT);
  first.acquire();
  send(SIGTERM);
  second.acquire();
  interrupts->stop();
  std::_Exit(interrupts->came() ? 7 : 8);
}

[[noreturn]] void three_signals() {
  auto interrupts = Interrupts::make().value();
  std::binary_semaphore told(0);
  interrupts->watch({[&] { told.release(); }, [&] { told.release(); }});
  for (int i = 0; i < 2; ++i) {
    send(SIGINT);
    told.acquire();
  }
  send(SIGINT);
  for (;;) told.acquire();
}

[[noreturn]] void ignored_signals() {
  std::signal(SIGHUP, SIG_IGN);
  auto interrupts = Interrupts::make().value();
  std::binary_semaphore first(0), second(0);
  interrupts->watch({[&] { first.release(); }, [&] { second.release(); }});
  send(SIGHUP);
  send(SIGINT);
  first.acquire();
  const bool hangup_counted = second.try_acquire();
  interrupts->stop();
  std::_Exit(hangup_counted ? 8 : 7);
}

TEST_F(InterruptsDeathTest, TheFirstAndTheSecondSignalHaveDifferentCallbacks) {
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(7), "");
}

TEST_F(InterruptsDeathTest, AThirdSignalEndsTheProcess) {
  EXPECT_EXIT(three_signals(), testing::ExitedWithCode(static_cast<int>(ExitCode::interrupted)), "");
}

TEST_F(InterruptsDeathTest, SignalsThatNohupIgnoresStayIgnored) { EXPECT_EXIT(ignored_signals(), testing::ExitedWithCode(7), ""); }

}  // namespace
}  // namespace gw::cli

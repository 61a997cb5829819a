#include "cli/console/watch_screen.h"

#include <gmock/gmock.h>

namespace gw::cli {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

node::JobView view_of(std::uint64_t ended, std::uint64_t failed) {
  node::JobView view;
  view.summary = {.name = "study", .tasks = 100, .threads = 100, .waiting = 90 - ended, .running = 4, .ended = ended, .failed = failed};
  view.peers.push_back({.id = {}, .slots = 2, .running = 2, .finished = ended});
  return view;
}

TEST(WatchScreen, ShowsRateAndTheTimeThatIsLeft) {
  WatchScreen screen;
  const WatchScreen::Clock::time_point start{};
  screen.add(start, view_of(10, 0));
  EXPECT_EQ(screen.rate(), 0);
  EXPECT_FALSE(screen.left());
  screen.add(start + seconds(10), view_of(48, 2));
  EXPECT_EQ(screen.rate(), 4);
  EXPECT_EQ(screen.left(), seconds(12));
  EXPECT_THAT(screen.line(), HasSubstr("48/100 done, 4 running on 1 peer, 42 waiting, 2 failed, 4.0/s, 12.0 s left"));
}

TEST(WatchScreen, FitsIntoAnyTerminal) {
  WatchScreen screen;
  screen.add({}, view_of(50, 10));
  for (const std::size_t width : {1u, 2u, 20u, 80u, 300u}) {
    const std::string text = screen.render({.is_terminal = true, .width = width}, 5);
    std::size_t lines = 0;
    for (std::size_t at = 0; at < text.size(); ++lines) {
      const std::size_t end = text.find('\n', at);
      ASSERT_NE(end, std::string::npos);
      std::size_t columns = 0;
      for (std::size_t i = at; i < end; ++i) columns += (text[i] & 0xc0) != 0x80 ? 1 : 0;
      EXPECT_LE(columns, width) << text.substr(at, end - at);
      at = end + 1;
    }
    EXPECT_LE(lines, 5u);
  }
}

}  // namespace
}  // namespace gw::cli

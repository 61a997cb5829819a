// Output of the commands for peers and jobs without a daemon.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/console/job_tables.h"
#include "cli/daemon/daemon_process.h"
#include "cli/jobs/grid_run.h"
#include "cli/jobs/job_selector.h"
#include "cli/settings/submitter_key.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

node::JobSummary job(std::uint8_t first, std::uint8_t second) {
  node::JobSummary summary{.name = "ray.cpp", .tasks = 60, .slots = 6, .threads = 60, .running = 4, .ended = 31};
  summary.id.hash.bytes[0] = first;
  summary.id.hash.bytes[1] = second;
  return summary;
}

TEST(FindJob, TakesTheFirstDigitsIfTheyAreEnough) {
  const std::vector<node::JobSummary> jobs{job(0xab, 0x10), job(0xab, 0x20), job(0xcd, 0)};
  EXPECT_EQ(find_job("c", jobs).value(), jobs[2].id);
  EXPECT_EQ(find_job("ab2", jobs).value(), jobs[1].id);
  EXPECT_EQ(find_job(jobs[0].id.hash.hex(), jobs).value(), jobs[0].id);
  EXPECT_EQ(find_job("ab", jobs).error().kind, Kind::invalid);
  EXPECT_EQ(find_job("ef", jobs).error().kind, Kind::not_found);
  EXPECT_EQ(find_job("", {jobs[0]}).error().kind, Kind::not_found);
}

TEST(JobTables, ShowHowFarAJobIsAndWhatWasLost) {
  const node::WallTime start{std::chrono::seconds(1000)};
  node::JobView view{.summary = job(0xab, 0)};
  view.summary.submitted_at = start;
  view.summary.counters = {.lost = 4, .resumed = 3, .restarted = 1, .peers_lost = 1};
  view.peers.push_back({.id = {}, .state = node::PeerView::State::silent, .slots = 2, .finished = 7, .lost = 4});
  view.threads.push_back({.id = job::ThreadId(1), .task = 0, .state = node::ThreadView::State::failed, .sentence = "it trapped"});
  const node::WallTime now = start + std::chrono::milliseconds(2500);
  const std::string list = table_of({view.summary}, now, {});
  EXPECT_NE(list.find("ab000000  running  31/60        4  2.5 s  ray.cpp"), std::string::npos) << list;
  const std::string text = text_of(view, Threads::hidden, now, {});
  EXPECT_NE(text.find("1 peer, 4 threads: 3 resumed, 1 restarted"), std::string::npos) << text;
  EXPECT_NE(text.find("silent"), std::string::npos) << text;
  EXPECT_EQ(text.find("it trapped"), std::string::npos) << text;
  EXPECT_NE(text_of(view, Threads::shown, now, {}).find("it trapped"), std::string::npos);
}

TEST(SubmitterKey, IsMadeOnceAndIsThisUsersAlone) {
  const auto folder = os::TempDir::make().value();
  const auto file = folder.path() / "godwit" / "submitter.key";
  const auto made = load_or_make_submitter_key(file);
  ASSERT_TRUE(made) << made.error().detail;
  struct stat found{};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_EQ(load_or_make_submitter_key(file)->public_key(), made->public_key());
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto shared = load_or_make_submitter_key(file);
  ASSERT_FALSE(shared);
  EXPECT_NE(shared.error().detail.find("chmod 600"), std::string::npos);
}

TEST(SubmitterKey, DamageIsNotTakenForAKey) {
  const auto folder = os::TempDir::make().value();
  const auto file = folder.path() / "submitter.key";
  ASSERT_TRUE(os::write_file_atomic(file, as_bytes("not a key"), os::Durability::unflushed));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(load_or_make_submitter_key(file).error().kind, Kind::corrupt);
}

TEST(DaemonProcess, GetsTheRequestedOptions) {
  const DaemonOptions options{.socket = "/run/s",
                              .state = "/var/s",
                              .listen = {"0.0.0.0:7", "[::1]:8"},
                              .join = {"a:1", "b:2"},
                              .grids = {"lab"},
                              .slots = 3,
                              .ready_fd = 5};
  const std::vector<std::string> expected{"daemon",   "--socket", "/run/s", "--state",    "/var/s", "--listen", "0.0.0.0:7",
                                          "--listen", "[::1]:8",  "--join", "a:1",        "--join", "b:2",      "--grid",
                                          "lab",      "--slots",  "3",      "--ready-fd", "5"};
  EXPECT_EQ(daemon_words("daemon", options), expected);
  EXPECT_EQ(daemon_words("daemon", {.socket = "/run/s", .state = "/var/s"}).size(), 5u);
}

TEST(GridRun, TheExitCodeIsTheJobs) {
  using node::JobState;
  EXPECT_EQ(exit_code_of({JobState::done, 0}), 0);
  EXPECT_EQ(exit_code_of({JobState::done, 7}), 7);
  EXPECT_EQ(exit_code_of({JobState::failed, 0}), 1);
  EXPECT_EQ(exit_code_of({JobState::failed, 9}), 9);
  EXPECT_EQ(exit_code_of({JobState::cancelled, 0}), 1);
}

}  // namespace
}  // namespace gw::cli

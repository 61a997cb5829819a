// Peers with real transports, disks and workers: a job spread over three, hosts and a home that go away, and strangers.

#include <gmock/gmock.h>

#include <set>

#include "grid.h"

namespace gw::node {
namespace {

constexpr const char* kTask = R"(
#include <stdio.h>
int main(int argc, char** argv) {
  unsigned x = 1;
  for (int i = 0; i < 20000000; ++i) x = x * 1664525u + 1013904223u;
  printf("task %s of %d: %u\n", argv[1], argc, x);
}
)";

// Prints a line for each part of its work; reads a clock, so that a replay needs what was recorded.
constexpr const char* kParts = R"(
#include <stdio.h>
#include <time.h>
int main(void) {
  unsigned x = 1;
  for (int part = 0; part < 60; ++part) {
    for (int i = 0; i < 10000000; ++i) x = x * 1664525u + 1013904223u;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("part %d %u\n", part, x);
    fflush(stdout);
  }
}
)";

constexpr const char* kEndless = R"(
#include <stdio.h>
int main(void) {
  puts("begun");
  fflush(stdout);
  for (volatile unsigned x = 1;; ++x) {
  }
}
)";

std::string expected_tasks(std::uint32_t tasks) {
  unsigned x = 1;
  for (int i = 0; i < 20000000; ++i) x = x * 1664525u + 1013904223u;
  std::string text;
  for (std::uint32_t task = 0; task < tasks; ++task) text += fmt::format("task {} of 2: {}\n", task, x);
  return text;
}

std::string expected_parts(int parts = 60) {
  unsigned x = 1;
  std::string text;
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < 10000000; ++i) x = x * 1664525u + 1013904223u;
    text += fmt::format("part {} {}\n", part, x);
  }
  return text;
}

std::set<job::PeerId> hosts(const std::vector<JobEvent>& events) {
  std::set<job::PeerId> out;
  for (const JobEvent& event : events)
    if (const auto* placed = std::get_if<JobEvent::ThreadPlaced>(&event.kind)) out.insert(placed->host);
  return out;
}

// A job that is over has no threads to show until its record was read.
bool runs_somewhere(const JobView& job) { return !job.threads.empty() && job.threads.front().host.has_value(); }

TEST_F(Grid, ThreePeersRunOneJob) {
  TestPeer& home = add(2);
  add(2);
  add(2);
  until_all_see_all();
  const job::JobId id = submit(home, {.source = kTask, .tasks = 12, .slots = 6});
  int woken = 0;
  const auto watching = home.driver->control().watch(id, [&] { ++woken; });
  ASSERT_TRUE(watching);
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_tasks(12)) << story(home, id);
  const auto events = home.driver->control().events(id, 0, 1000).value();
  EXPECT_EQ(hosts(events).size(), 3u);
  EXPECT_TRUE(std::holds_alternative<JobEvent::Over>(events.back().kind));
  EXPECT_GT(woken, 0);
  const JobSummary job = summary(home, id);
  EXPECT_EQ(job.state, JobState::done);
  EXPECT_EQ(job.ended, 12u);
  EXPECT_EQ(job.name, "guest");
}

TEST_F(Grid, AThreadContinuesElsewhereWhenItsHostIsLost) {
  TestPeer& home = add(0);  // lends nothing, so its jobs are elsewhere
  add(1);
  add(1);
  until_all_see_all();
  const job::JobId id = submit(home, {.source = kParts, .checkpoint_every = std::chrono::milliseconds(300)});
  ASSERT_TRUE(until([&] { return runs_somewhere(view(home, id)) && output(home, id).size() > 150; }));
  TestPeer* host = host_of_main(home, id);
  ASSERT_NE(host, nullptr);
  stop(*host);
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_parts()) << story(home, id);
  EXPECT_EQ(summary(home, id).failed, 0u) << story(home, id);
}

TEST_F(Grid, AHomeThatComesBackFindsItsJob) {
  TestPeer& home = add(0);
  add(1);
  until_all_see_all();
  const job::JobId id = submit(home, {.source = kParts, .checkpoint_every = std::chrono::milliseconds(300)});
  ASSERT_TRUE(until([&] { return output(home, id).size() > 150; }));
  stop(home);
  start(home, 0);
  EXPECT_GT(output(home, id).size(), 150u);
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_parts()) << story(home, id);
  stop(home);
  start(home, 0);
  EXPECT_EQ(output(home, id), expected_parts()) << story(home, id);
  EXPECT_EQ(summary(home, id).state, JobState::done);
  const auto events = home.driver->control().events(id, 0, 1000).value();
  ASSERT_FALSE(events.empty());
  EXPECT_TRUE(std::holds_alternative<JobEvent::Over>(events.back().kind));
}

TEST_F(Grid, ACancelledJobEnds) {
  TestPeer& home = add(1);
  const job::JobId id = submit(home, {.source = kEndless});
  ASSERT_TRUE(until([&] { return output(home, id) == "begun\n"; }));
  std::optional<Status> cancelled;
  home.driver->control().cancel(id, [&](Status status) { cancelled = std::move(status); });
  ASSERT_TRUE(until([&] { return cancelled.has_value(); }));
  EXPECT_TRUE(*cancelled);
  EXPECT_EQ(summary(home, id).state, JobState::cancelled);
  ASSERT_TRUE(until([&] { return home.driver->control().node().free_slots == 1; }));
}

TEST_F(Grid, ASuspendedJobGivesItsSlotsBackAndContinuesAfterARestartOfItsHome) {
  TestPeer& home = add(0);
  TestPeer& host = add(1);
  until_all_see_all();
  // Long enough that the job has not ended when it is suspended, even on a busy machine.
  std::string many_parts = kParts;
  many_parts.replace(many_parts.find("60"), 2, "150");
  const job::JobId id = submit(home, {.source = many_parts.c_str()});
  ASSERT_TRUE(until([&] { return !output(home, id).empty(); }));
  std::optional<Status> answer;
  home.driver->control().resume(id, [&](Status status) { answer = std::move(status); });
  ASSERT_TRUE(until([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().kind, Kind::invalid);
  answer.reset();
  home.driver->control().suspend(id, [&](Status status) { answer = std::move(status); });
  ASSERT_TRUE(until([&] { return answer.has_value(); }));
  ASSERT_TRUE(*answer) << answer->error().detail;
  EXPECT_EQ(summary(home, id).state, JobState::suspended);
  ASSERT_TRUE(until([&] { return host.driver->control().node().free_slots == 1; }));
  stop(home);
  start(home, 0);
  until_all_see_all();
  EXPECT_EQ(summary(home, id).state, JobState::suspended);
  answer.reset();
  home.driver->control().resume(id, [&](Status status) { answer = std::move(status); });
  ASSERT_TRUE(until([&] { return answer.has_value(); }));
  ASSERT_TRUE(*answer) << answer->error().detail;
  ASSERT_TRUE(until([&] { return is_over(summary(home, id).state); }));
  EXPECT_EQ(output(home, id), expected_parts(150)) << story(home, id);
}

TEST_F(Grid, SubmittingRefusesWhatIsWrong) {
  TestPeer& home = add(1);
  std::optional<Result<job::JobId>> answer;
  wire::pb::JobSubmission nonsense;
  nonsense.set_charter("nonsense");
  home.driver->control().submit(nonsense, [&](Result<job::JobId> id) { answer = std::move(id); });
  EXPECT_FALSE(answer.has_value());  // never from inside the call
  ASSERT_TRUE(until([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->error().kind, Kind::invalid);
  EXPECT_EQ(home.driver->control().job_summary({}).error().kind, Kind::not_found);
  EXPECT_EQ(home.driver->control().events({}, 0, 1).error().kind, Kind::not_found);
}

TEST_F(Grid, AJobStaysInItsGrid) {
  grids_ = {"one", "two"};
  TestPeer& home = add(0);
  grids_ = {"one"};
  TestPeer& first = add(2);
  grids_ = {"two"};
  TestPeer& second = add(2);
  const auto sees = [](const TestPeer& test_peer, const TestPeer& other) {
    const auto peers = test_peer.driver->control().peers();
    return std::ranges::any_of(peers, [&](const PeerView& peer) { return peer.id == other.driver->control().node().id; });
  };
  ASSERT_TRUE(until([&] { return sees(home, first) && sees(home, second) && sees(first, home) && sees(second, home); }));
  const job::JobId id = submit(home, {.source = kTask, .tasks = 4, .slots = 4, .grid = "two"});
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_tasks(4)) << story(home, id);
  EXPECT_EQ(hosts(home.driver->control().events(id, 0, 1000).value()), std::set{second.driver->control().node().id});
  EXPECT_FALSE(sees(first, second)) << "nobody has told it";
}

// An authenticated peer that means no good.
class Stranger final : public transport::Receiver {
 public:
  Stranger(asio::io_context& io, const Endpoint& to) {
    transport_ = transport::Transport::make(io, identity_, *this, {}).value();
    transport_->connect(to, std::nullopt, [this](const Result<transport::PeerId>& peer) {
      ASSERT_TRUE(peer) << peer.error().detail;
      peer_ = *peer;
    });
  }
  void on_connected(const transport::PeerId&, const transport::ConnectionOrigin&) override {}
  void on_message(const transport::PeerId&, transport::Lane, Bytes) override {}
  void on_request(const transport::RequestId&, Bytes) override {}
  void on_disconnected(const transport::PeerId&, const transport::Ended& ended) override { ended_ = ended.sentence; }

  transport::Identity identity_ = transport::Identity::make().value();
  std::unique_ptr<transport::Transport> transport_;
  std::optional<transport::PeerId> peer_;
  std::optional<std::string> ended_;
};

asio::awaitable<void> end_stranger(Stranger& stranger, bool& done) {
  co_await stranger.transport_->stop();
  done = true;
}

TEST_F(Grid, AMessageThatIsNoneEndsTheConnectionAndNothingElse) {
  TestPeer& home = add(2);
  add(2);
  until_all_see_all();
  const job::JobId id = submit(home, {.source = kTask, .tasks = 4, .slots = 4});
  Stranger stranger(io_, home.at);
  ASSERT_TRUE(until([&] { return stranger.peer_.has_value(); }));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(stranger.transport_->send(*stranger.peer_, transport::Lane::control, Bytes(1000, 0xff)));
  ASSERT_TRUE(until([&] { return stranger.ended_.has_value(); }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("message refused"), testing::HasSubstr(stranger.identity_.id().hex())));
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_tasks(4)) << story(home, id);
  bool done = false;
  tasks_.spawn("stranger", end_stranger(stranger, done));
  until([&] { return done && tasks_.size() == 0; });
}

TEST_F(Grid, OrdersOfAPeerThatIsNotHomeAreRefused) {
  TestPeer& home = add(1);
  const job::JobId id = submit(home, {.source = kParts});
  ASSERT_TRUE(until([&] { return output(home, id).size() > 20; }));
  Stranger stranger(io_, home.at);
  ASSERT_TRUE(until([&] { return stranger.peer_.has_value(); }));
  wire::pb::PeerMessage message;
  message.set_version(wire::kPeerProtocol);
  message.set_boot(1);
  message.mutable_job()->set_job(id.bytes());
  message.mutable_job()->set_term(1);
  message.mutable_job()->mutable_drop()->set_thread(job::kMainThread.value());
  message.mutable_job()->mutable_drop()->set_epoch(1);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(stranger.transport_->send(*stranger.peer_, transport::Lane::control, wire::encode(message).value()));
  // Behind the order, on the same lane, bytes that end the connection: then the order has been read, however fast the job is.
  ASSERT_TRUE(stranger.transport_->send(*stranger.peer_, transport::Lane::control, Bytes(1000, 0xff)));
  ASSERT_TRUE(until([&] { return stranger.ended_.has_value(); }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("peer refused"), testing::HasSubstr(stranger.identity_.id().hex())));
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_EQ(output(home, id), expected_parts()) << story(home, id);
  bool done = false;
  tasks_.spawn("stranger", end_stranger(stranger, done));
  until([&] { return done && tasks_.size() == 0; });
}

// The captured log is complete only when the capture ends, so the test waits for the job's end, which comes after the log line.
TEST_F(Grid, AWorkerThatSendsForAnotherThreadIsRefusedAndTheJobContinuesElsewhere) {
  TestPeer& home = add(0);
  TestPeer& hostile = add(1, GODWIT_HOSTILE_WORKER);
  until_all_see_all();
  testing::internal::CaptureStderr();
  const job::JobId id = submit(home, {.source = kTask, .tasks = 2, .slots = 2, .max_failures = 1000});
  ASSERT_TRUE(until([&] { return host_of_main(home, id) == &hostile; }));
  add(1);
  ASSERT_TRUE(until([&] { return over(home, id) || summary(home, id).counters.lost > 0; }));
  stop(hostile);
  ASSERT_TRUE(until([&] { return over(home, id); }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("worker refused")) << story(home, id);
  EXPECT_EQ(output(home, id), expected_tasks(2)) << story(home, id);
}

}  // namespace
}  // namespace gw::node

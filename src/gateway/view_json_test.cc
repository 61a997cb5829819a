#include "gateway/view_json.h"
#include "httpd/error_answer.h"

#include <gtest/gtest.h>

namespace gw::gateway {
namespace {

using node::JobEvent;

Hash256 hash_of(std::uint8_t first) {
  Hash256 hash;
  hash.bytes[0] = first;
  return hash;
}

node::WallTime at(std::int64_t seconds) { return node::WallTime(std::chrono::seconds(seconds)); }

job::Capacity some_capacity() {
  job::Capacity capacity;
  capacity.set_speed(1250);
  capacity.set_memory_bytes(1u << 30);
  capacity.set_disk_bytes(2u << 20);
  capacity.set_load(125);
  capacity.set_uptime_s(99);
  capacity.set_arch("x86_64");
  capacity.add_tags("gpu");
  return capacity;
}

node::JobView example() {
  node::JobView view;
  view.summary = {.id = {hash_of(1)},
                  .name = "ray.cpp",
                  .state = node::JobState::cancelled,
                  .submitted_at = at(1700000000),
                  .tasks = 2,
                  .slots = 3,
                  .threads = 4,
                  .waiting = 5,
                  .running = 6,
                  .ended = 7,
                  .failed = 8,
                  .exit_code = 9,
                  .counters = {.lost = 10, .resumed = 11, .restarted = 12, .peers_lost = 13},
                  .sentence = "its output is damaged",
                  .stored_bytes = 14};
  view.summary.placing = {
      .needs = "memory=2G", .place = "spread", .min_slots = 2, .on_failure = "cancel", .job_time = std::chrono::milliseconds(1500)};
  view.threads.push_back(
      {.id = job::ThreadId(0xfedcba9876543210), .state = node::ThreadView::State::failed, .sentence = "it \"trapped\"\n"});
  view.threads.push_back({.id = job::ThreadId(1),
                          .task = 0,
                          .state = node::ThreadView::State::running,
                          .host = job::PeerId{hash_of(2)},
                          .epoch = 3,
                          .resumed = 1,
                          .restarted = 1,
                          .why = {Reason::starting, "for 3 s"},
                          .attempts = 2,
                          .started_at = std::chrono::seconds(1700000000)});
  view.waits.push_back({{Reason::no_free_slots, "0 of 4 are free"}, 17});
  view.absent.push_back({{hash_of(3)}, {Reason::no_free_slots, "all in use"}});
  view.peers.push_back(
      {.id = {hash_of(2)}, .state = node::PeerView::State::silent, .slots = 1, .running = 2, .finished = 3, .lost = 4, .taken = 5});
  return view;
}

TEST(ViewJson, WrittenViewsAreReadBack) {
  const std::string text = dump(to_json(example()));
  const auto back = job_view(text);
  ASSERT_TRUE(back) << back.error().detail;
  EXPECT_EQ(dump(to_json(*back)), text);
  EXPECT_EQ(back->threads[0].id, job::ThreadId(0xfedcba9876543210));
  EXPECT_FALSE(back->summary.ended_at);
  EXPECT_EQ(back->summary.submitted_at, at(1700000000));

  const node::NodeView node{
      .id = {hash_of(7)},
      .boot = 3,
      .version = "0.1.0",
      .addresses = {"10.0.0.1:7000"},
      .slots = 4,
      .free_slots = 2,
      .started_at = at(5),
      .state = "/s",
      .share = {.cores = 4, .memory_bytes = 5, .cpu_percent = 6, .rules = {.allowed = {hash_of(1)}, .weights = {{hash_of(2), 3}}}},
      .not_lending = "it lends at 22:00-07:00 only",
      .workers_fail = "libuv.so.1 is missing",
      .capacity = some_capacity(),
      .reach = Reach::relay_only,
      .dialled_back = 1,
      .not_dialled_back = 2,
      .anchors = {"10.0.0.9:7400"},
      .load = 1.5,
      .cores = 8,
      .workers = 3};
  EXPECT_EQ(dump(to_json(node_view(dump(to_json(node))).value())), dump(to_json(node)));
  const std::vector<node::PeerView> peers{{.id = {hash_of(7)}, .grid = "open", .state = node::PeerView::State::self, .free_slots = 2},
                                          {.id = {hash_of(8)},
                                           .grid = "open",
                                           .address = "10.0.0.2:7000",
                                           .state = node::PeerView::State::suspected,
                                           .reach = Reach::outbound,
                                           .slots = 3,
                                           .capacity = some_capacity(),
                                           .network_speed = 1.5e6,
                                           .distance = std::chrono::microseconds(1500),
                                           .heard = std::chrono::milliseconds(70),
                                           .link = {{.way = transport::Way::relayed, .bytes_in = 5, .bytes_out = 6}}}};
  EXPECT_EQ(dump(to_json(peer_views(dump(to_json(peers))).value())), dump(to_json(peers)));
  const std::vector<node::JobSummary> jobs{example().summary};
  EXPECT_EQ(dump(to_json(job_summaries(dump(to_json(jobs))).value())), dump(to_json(jobs)));
}

TEST(ViewJson, APageOfTasksIsReadBack) {
  job::TaskPage page{.tasks = example().threads, .next = 12, .count = 99};
  const std::string text = dump(to_json(page));
  const auto back = task_page(text);
  ASSERT_TRUE(back) << back.error().detail;
  EXPECT_EQ(dump(to_json(*back)), text);
  EXPECT_EQ(back->next, 12u);
  page.next.reset();
  EXPECT_FALSE(task_page(dump(to_json(page)))->next);
  for (const job::TaskFilter filter : {job::TaskFilter::all, job::TaskFilter::failed}) EXPECT_EQ(task_filter(name(filter)), filter);
  EXPECT_FALSE(task_filter("bad"));
}

TEST(ViewJson, ASharesChangeHasOnlyWhatChanges) {
  const auto change = share_change(dump(to_json(node::ShareChange{.cpu_percent = 40})));
  ASSERT_TRUE(change) << change.error().detail;
  EXPECT_EQ(change->cpu_percent, 40u);
  EXPECT_FALSE(change->cores || change->memory_bytes);
  node::ShareChange rules{.nice = 3, .audience = "mine,grid lab", .when = "idle", .stranger_threads = 2};
  rules.allow = {hash_of(1)};
  rules.block = {hash_of(2)};
  rules.unlist = {hash_of(3)};
  rules.weights = {{hash_of(1), 4}};
  EXPECT_EQ(dump(to_json(share_change(dump(to_json(rules))).value())), dump(to_json(rules)));
  for (const char* text : {R"({"for":1})", R"({"allow":["xx"]})", R"({"weights":{"xx":1}})", R"({"weights":[]})"})
    EXPECT_EQ(share_change(text).error().kind, Kind::invalid) << text;
  for (const char* text : {"", "[]", R"({"slots":1})", R"({"cores":"1"})", R"({"cores":-1})", R"({"cores":99999999999})"})
    EXPECT_EQ(share_change(text).error().kind, Kind::invalid) << text;
}

TEST(ViewJson, EveryEventIsReadBack) {
  const job::PeerId host{hash_of(9)};
  const job::ThreadId thread(77);
  const decltype(JobEvent::kind) kinds[] = {
      JobEvent::Accepted{},
      JobEvent::ThreadPlaced{thread, host},
      JobEvent::ThreadResumed{thread, 2, host},
      JobEvent::ThreadRestarted{thread, 3, host},
      JobEvent::PeerLost{host, 4},
      JobEvent::OutputGrew{node::Stream::errors, 5},
      JobEvent::InputWanted{3},
      JobEvent::ThreadEnded{thread, 6, "exited with code 134 (SIGABRT)\n  at abort"},
      JobEvent::ThreadFailed{thread, "why"},
      JobEvent::Report{thread, std::string("\0\xff", 2)},
      JobEvent::TasksEnded{.ended = 1, .failed = 2, .running = 3, .hosts = 4, .tasks = {{5, 6}}, .failures = {{5, 7, "why"}}},
      JobEvent::TaskRepeated{thread, host, 3, "why"},
      JobEvent::TasksSkipped{.skipped = 3, .tasks = {{5, 6}}, .sentence = "why"},
      JobEvent::Suspended{},
      JobEvent::Resumed{},
      JobEvent::Over{node::JobState::failed, 8, "stopped"}};
  EXPECT_EQ(std::size(kinds), std::variant_size_v<decltype(JobEvent::kind)>);
  for (const auto& kind : kinds) {
    const std::string line = dump(to_json(JobEvent{.number = 5, .at = at(6), .kind = kind}));
    const auto back = job_event(line);
    ASSERT_TRUE(back) << line << back.error().detail;
    EXPECT_EQ(back->kind.index(), kind.index());
    EXPECT_EQ(dump(to_json(*back)), line);
  }
}

TEST(ViewJson, MalformedJsonIsRefused) {
  const Json good = to_json(example());
  EXPECT_FALSE(job_view("no JSON"));
  EXPECT_FALSE(job_view("[]"));
  for (const auto& [key, value] : good.items()) {
    Json without = good;
    without.erase(key);
    EXPECT_FALSE(job_view(dump(without))) << key;
    Json other = good;
    other[key] = Json::object();
    EXPECT_FALSE(job_view(dump(other))) << key;
  }
  Json large = good;
  large["tasks"] = 1ull << 40;
  EXPECT_FALSE(job_view(dump(large)));
  EXPECT_FALSE(job_event(R"({"number":1,"at":2,"event":"invented"})"));
}

TEST(ViewJson, TextsOfAnyBytesAreWritten) {
  node::JobSummary job = example().summary;
  job.name = "\xff\xfe";
  EXPECT_TRUE(job_summaries(dump(to_json(std::vector{job}))));
}

TEST(ErrorAnswer, IsReadBackAndSaysWhatToDo) {
  for (const Kind kind : {Kind::invalid, Kind::not_found, Kind::overloaded, Kind::disconnected, Kind::timeout, Kind::corrupt,
                          Kind::guest_fault, Kind::unsupported, Kind::internal}) {
    const Error error{kind, "a sentence"};
    const Error back = httpd::error_of(httpd::status_of(kind), httpd::error_body(error));
    EXPECT_EQ(back.kind, kind);
    EXPECT_EQ(back.detail, "a sentence");
    EXPECT_GE(httpd::status_of(kind), 400u);
  }
  EXPECT_EQ(httpd::error_of(502, "<html>").kind, Kind::internal);
}

}  // namespace
}  // namespace gw::gateway

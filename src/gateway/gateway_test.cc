#include "gateway/gateway.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "gateway/client.h"
#include "gateway/grid_json.h"
#include "gateway/output_frames.h"
#include "gateway/test/fake_control.h"
#include "gateway/test/fake_tickets.h"
#include "os/files/file.h"
#include "os/files/io.h"

namespace gw::gateway {
namespace {

using node::JobEvent;

// A gateway with a fake peer behind it, on a thread of its own, at a real socket.
class AtTheGateway : public testing::Test {
 protected:
  // Runs on the node thread and waits for it.
  template <class Call>
  auto on_node(Call call) {
    std::packaged_task<decltype(call())()> task(std::move(call));
    auto done = task.get_future();
    asio::post(io, [&task] { task(); });
    return done.get();
  }
  void start(Gateway::Config config = {}) {
    config.socket = path;
    gateway = Gateway::open(io, control, tickets, config).value();
    thread = std::thread([this] { io.run(); });
  }
  void stop() {
    if (!gateway) return;
    on_node([this] { stopping.spawn("stop", gateway->stop()); });
    thread.join();
    gateway.reset();
  }
  void TearDown() override { stop(); }

  void until(const std::function<bool()>& holds) {
    while (!on_node(holds)) std::this_thread::yield();
  }

  // Sends bytes as they are and returns everything that comes back until the gateway closes.
  std::string raw(std::string_view request) {
    auto socket = os::connect_local(path).value();
    // Both may fail: the gateway closes a connection that breaks a rule early.
    for (ssize_t sent = 0; sent >= 0 && !request.empty(); request.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0))))
      sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    std::string answer;
    char piece[4096];
    for (ssize_t got; (got = ::recv(socket.get(), piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<std::size_t>(got));
    return answer;
  }

  os::TempDir folder = os::TempDir::make().value();
  std::filesystem::path path = folder.path() / "socket";
  asio::io_context io{1};
  transport::TaskGroup stopping{io.get_executor()};
  FakeControl control{io};
  FakeTickets tickets{io};
  std::unique_ptr<Gateway> gateway;
  std::thread thread;
  const job::JobId kJob{sha256(as_bytes("a job"))};
};

TEST_F(AtTheGateway, PlainQuestions) {
  start();
  on_node([this] { control.add(kJob).view.threads.push_back({.id = job::ThreadId(1), .task = 0}); });
  Client client(path);
  EXPECT_EQ(client.node()->addresses.front(), "127.0.0.1:7000");
  EXPECT_EQ(client.peers()->size(), 1u);
  EXPECT_EQ(client.jobs()->front().id, kJob);
  EXPECT_EQ(client.job(kJob)->threads.front().task, 0u);
  EXPECT_EQ(client.job(job::JobId{}).error().kind, Kind::not_found);
  EXPECT_EQ(client.resume(kJob).error().kind, Kind::invalid);
  ASSERT_TRUE(client.suspend(kJob));
  EXPECT_EQ(client.job(kJob)->summary.state, node::JobState::suspended);
  EXPECT_EQ(client.suspend(kJob).error().kind, Kind::invalid);
  EXPECT_EQ(wire::marks_of(client.image(kJob)->stored()), (job::StreamMarks{{job::kHomeStream, 7}}));
  ASSERT_TRUE(client.resume(kJob));
  EXPECT_EQ(client.job(kJob)->summary.state, node::JobState::running);
  EXPECT_EQ(client.suspend(job::JobId{}).error().kind, Kind::not_found);
  EXPECT_EQ(client.cancel(job::JobId{}).error().kind, Kind::not_found);
  ASSERT_TRUE(client.cancel(kJob));
  EXPECT_EQ(client.job(kJob)->summary.state, node::JobState::cancelled);
  ASSERT_TRUE(client.forget(kJob));
  EXPECT_EQ(client.job(kJob).error().kind, Kind::not_found);
  EXPECT_EQ(client.forget(kJob).error().kind, Kind::not_found);
  ASSERT_TRUE(client.stop());
  EXPECT_TRUE(on_node([this] { return control.stopped; }));
}

TEST_F(AtTheGateway, PeersArePingedSharesSetAndMetricsRead) {
  start();
  Client client(path);
  EXPECT_EQ(client.ping(job::PeerId{})->round_trip, std::chrono::microseconds(250));
  const auto share = client.share({.memory_bytes = 1u << 30, .cpu_percent = 50});
  ASSERT_TRUE(share) << share.error().detail;
  EXPECT_EQ(*share, (node::Share{.cores = 2, .memory_bytes = 1u << 30, .cpu_percent = 50}));
  const auto capped = client.share({.slots_per_peer = 3, .jobs_per_peer = 1});
  EXPECT_EQ(capped.value(), (node::Share{.cores = 2, .slots_per_peer = 3, .jobs_per_peer = 1}));
  EXPECT_EQ(client.share({.cpu_percent = 500}).error().kind, Kind::invalid);
  EXPECT_EQ(client.metrics().value(), "godwit_slots 2\n");
  const std::string answer = raw("PUT /v1/share HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"cores\":-1}");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
}

TEST_F(AtTheGateway, TheOwnerSeesWhatRunsHereAndForWhom) {
  using State = node::HostedJobView::State;
  const node::HostedJobView one{
      .id = kJob, .home = {sha256(as_bytes("home"))}, .state = State::claimed, .slots = 3, .memory_bytes = 1u << 30};
  control.hosted_view = {one, {.id = {}, .home = one.home}};
  start();
  const auto hosted = Client(path).hosted();
  ASSERT_TRUE(hosted) << hosted.error().detail;
  EXPECT_EQ(dump(to_json(*hosted)), dump(to_json(control.hosted_view)));
  EXPECT_EQ(hosted->back().state, State::reserved);
  control.balance_view = {{.peer = one.home, .given_slot_seconds = 2.5, .used_slot_seconds = 1, .given_bytes = 3, .used_bytes = 4}};
  const auto balance = Client(path).balance();
  ASSERT_TRUE(balance) << balance.error().detail;
  EXPECT_EQ(dump(to_json(*balance)), dump(to_json(control.balance_view)));
}

TEST_F(AtTheGateway, BlobsAndManifestsArrive) {
  start();
  Client client(path);
  const Bytes blob(1u << 20, 'x');
  ASSERT_TRUE(client.store_blob(blob));
  EXPECT_EQ(on_node([&] { return control.blobs.at(sha256(blob)).size(); }), blob.size());
  EXPECT_EQ(client.load_blob(sha256(blob)).value(), as_text(blob));
  EXPECT_EQ(client.load_blob(Hash256{}).error().kind, Kind::not_found);
  const auto too_long = client.store_blob(Bytes((1u << 20) + 1, 'x'));
  ASSERT_FALSE(too_long);
  wire::pb::JobSubmission submission;
  submission.set_charter("charter");
  EXPECT_EQ(client.submit(submission).error().detail, "the manifest is empty");
  submission.set_manifest("manifest");
  EXPECT_EQ(client.submit(submission).value(), job::JobId{sha256(as_bytes("charter"))});
}

TEST_F(AtTheGateway, GridsAreShownAndChanged) {
  const wire::GridId grid{sha256(as_bytes("lab"))};
  node::GridView view{.id = grid, .name = "lab", .access = node::GridView::Access::members, .role = node::GridView::Role::holder};
  view.serial = 0xfedcba9876543210;
  view.invitations.push_back({.serial = 0x10000, .until = 7, .uses = 3});
  view.members.push_back({.serial = 0x10001, .until = 9, .peer = job::PeerId{sha256(as_bytes("p"))}, .name = "host"});
  control.grids_view = {view};
  start();
  Client client(path);
  const auto shown = client.grids().value();
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(dump(to_json(shown)), dump(to_json(control.grids_view)));

  const node::GridOrder orders[] = {node::CreateGrid{"lab"}, node::JoinGrid{"godwit:abc", "mine"}, node::LeaveGrid{grid},
                                    node::RevokeInGrid{grid, {5, 0xfedcba9876543210}, {{sha256(as_bytes("p"))}}}};
  for (const node::GridOrder& order : orders) EXPECT_EQ(client.change_grids(order).value(), "done");
  const node::InviteToGrid invite{
      .grid = grid, .uses = 4, .lasts = std::chrono::hours(2), .makes = node::InviteToGrid::Makes::holder, .addresses = {"a:1"}};
  EXPECT_EQ(client.change_grids(invite).value(), "done");
  ASSERT_EQ(control.orders.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(request_text(control.orders[i]).body, request_text(orders[i]).body) << i;
  EXPECT_EQ(request_text(control.orders[4]).body, request_text(invite).body);

  control.grid_answer = fail(Kind::invalid, "no such luck");
  EXPECT_EQ(client.change_grids(orders[0]).error().detail, "no such luck");
  for (const char* wrong : {"{}", "[]", "x", "{\"create\": 1}", "{\"create\": \"a\", \"join\": \"b\"}", "{\"join\": \"b\", \"more\": 1}"})
    EXPECT_FALSE(add_order(wrong)) << wrong;
  for (const char* wrong : {"{\"uses\": -1}", "{\"addresses\": [1]}", "{\"expires_s\": 99999999999}"})
    EXPECT_FALSE(invite_order(grid, wrong)) << wrong;
  EXPECT_FALSE(revoke_order(grid, "{\"serials\": [\"12\"]}"));
}

TEST_F(AtTheGateway, BytesThatAreNotWhatTheirNameSaysAreRefused) {
  start();
  const std::string answer =
      raw("PUT /v1/blobs/" + std::string(64, '0') + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 422")) << answer;
  EXPECT_TRUE(on_node([this] { return control.blobs.empty(); }));
}

TEST_F(AtTheGateway, OutputIsFollowedToItsEnd) {
  start();
  on_node([this] {
    control.add(kJob);
    control.write(kJob, "one ");
  });
  Client client(path);
  std::string got;
  const auto take = [&](std::string_view bytes) {
    got += bytes;
    if (got == "one ") on_node([this] { control.write(kJob, std::string(200000, '2')); });
    if (got.size() == 200004) on_node([this] { control.end(kJob, 0); });
    return Client::StreamControl::proceed;
  };
  ASSERT_TRUE(client.read_output(kJob, node::Stream::output, 0, Client::ReadUntil::end, take));
  EXPECT_EQ(got, "one " + std::string(200000, '2'));
  got.clear();
  ASSERT_TRUE(client.read_output(kJob, node::Stream::output, 200000, Client::ReadUntil::now, take));
  EXPECT_EQ(got, "2222");
}

TEST_F(AtTheGateway, FramesAreFollowedAndTasksListed) {
  start();
  on_node([this] {
    control.add(kJob);
    control.write(kJob, "one ");
  });
  Client client(path);
  std::string got;
  const auto take = [&](const wire::pb::OutputFrame& frame) {
    got += frame.bytes();
    if (got == "one ")
      on_node([this] {
        control.write(kJob, "two");
        control.end(kJob, 0);
      });
    return Client::StreamControl::proceed;
  };
  ASSERT_TRUE(client.read_frames(kJob, {}, Client::ReadUntil::end, take));
  EXPECT_EQ(got, "one two");
  const auto page = client.tasks(kJob, {.filter = job::TaskFilter::failed, .from = 7, .limit = 1});
  ASSERT_TRUE(page) << page.error().detail;
  EXPECT_EQ(page->tasks.at(0).task, 7u);
  EXPECT_EQ(client.manifest(kJob).value(), "a manifest");
  EXPECT_EQ(client.read_frames(kJob, {.order = node::FrameQuery::Order::task}, Client::ReadUntil::end, take).error().kind, Kind::invalid);
}

TEST(FrameReader, TakesFramesInAnyPiecesAndRefusesOthers) {
  const std::string bytes = encode_frame({.thread = job::ThreadId{9}, .bytes = "abc", .next = 4}, 1) +
                            encode_frame({.thread = job::ThreadId{9}, .stream = node::Stream::errors, .bytes = "d"}, 1);
  FrameReader reader;
  std::string got;
  for (const char byte : bytes)
    ASSERT_TRUE(reader.add(std::string_view(&byte, 1), [&](const wire::pb::OutputFrame& frame) { got += frame.bytes(); }));
  EXPECT_EQ(got, "abcd");
  EXPECT_TRUE(reader.complete());
  EXPECT_FALSE(FrameReader().add(std::string(4, '\xff'), [](const wire::pb::OutputFrame&) {}));
  EXPECT_FALSE(FrameReader().add(std::string("\x01\x00\x00\x00\xff", 5), [](const wire::pb::OutputFrame&) {}));
}

TEST_F(AtTheGateway, WithoutFollowTheAnswerEndsWithWhatIsThere) {
  start();
  on_node([this] {
    control.add(kJob);
    control.write(kJob, "so far");
  });
  Client client(path);
  std::string got;
  const auto take = [&](std::string_view bytes) { return got += bytes, Client::StreamControl::proceed; };
  ASSERT_TRUE(client.read_output(kJob, node::Stream::output, 0, Client::ReadUntil::now, take));
  EXPECT_EQ(got, "so far");
  EXPECT_EQ(client.read_output(job::JobId{}, node::Stream::output, 0, Client::ReadUntil::now, take).error().kind, Kind::not_found);
}

TEST_F(AtTheGateway, EventsComeInOrderAndEndWithTheJob) {
  start();
  on_node([this] { control.add(kJob); });
  Client client(path);
  std::vector<std::uint64_t> numbers;
  const auto take = [&](const JobEvent& event) {
    numbers.push_back(event.number);
    if (numbers.size() == 1)
      on_node([this] {
        for (int i = 0; i < 1000; ++i) control.note(kJob, JobEvent::ThreadEnded{job::ThreadId(1), 0, ""});
        control.end(kJob, 3);
      });
    return Client::StreamControl::proceed;
  };
  ASSERT_TRUE(client.watch(kJob, 0, take));
  ASSERT_EQ(numbers.size(), 1002u);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i + 1);
  std::size_t more = 0;
  ASSERT_TRUE(client.watch(kJob, 5000, [&](const JobEvent&) { return ++more, Client::StreamControl::proceed; }))
      << "it is over: nothing comes, but an end";
  EXPECT_EQ(more, 0u);
  EXPECT_EQ(control.summaries, 0) << "a stream asks only whether the job is over, which does not grow with its threads";
}

TEST_F(AtTheGateway, ATicketShowsOneJobAndChangesNothing) {
  start();
  const job::JobId other{sha256(as_bytes("another job"))};
  on_node([&] {
    control.add(kJob).view.threads.push_back({.id = job::ThreadId(1), .task = 0});
    control.add(other);
    control.write(kJob, "some output");
  });
  Client client(path);
  client.use_ticket(client.ticket_of(kJob).value());
  ASSERT_EQ(client.jobs()->size(), 1u);
  EXPECT_EQ(client.jobs()->front().id, kJob);
  EXPECT_EQ(client.job(kJob)->threads.size(), 1u);
  EXPECT_EQ(client.tasks(kJob, {})->count, 2u);
  EXPECT_EQ(client.job(other).error().kind, Kind::invalid);
  EXPECT_EQ(client.node().error().kind, Kind::invalid) << "it is no question about the job";
  EXPECT_EQ(client.manifest(kJob).error().kind, Kind::unsupported);
  EXPECT_EQ(client.cancel(kJob).error().kind, Kind::invalid);
  EXPECT_EQ(on_node([&] { return control.job_summary(kJob)->state; }), node::JobState::running);
  client.use_ticket("godwit-job:none");
  EXPECT_EQ(client.job(kJob).error().kind, Kind::corrupt);
}

TEST_F(AtTheGateway, OutputAndEventsAreFollowedWithATicket) {
  start();
  on_node([this] {
    control.add(kJob);
    control.write(kJob, "first ");
  });
  Client client(path);
  client.use_ticket(client.ticket_of(kJob).value());
  std::string output;
  std::size_t events = 0;
  const auto take = [&](std::string_view bytes) {
    if (output.empty()) on_node([this] { control.write(kJob, "second"); });
    output += bytes;
    if (output == "first second") on_node([this] { control.end(kJob, 0); });
    return Client::StreamControl::proceed;
  };
  ASSERT_TRUE(client.read_output(kJob, node::Stream::output, 0, Client::ReadUntil::end, take));
  EXPECT_EQ(output, "first second");
  const auto count = [&](const JobEvent&) {
    ++events;
    return Client::StreamControl::proceed;
  };
  ASSERT_TRUE(client.watch(kJob, 0, count));
  EXPECT_EQ(events, 4u);
}

TEST_F(AtTheGateway, AClientThatGoesIsNoticedWhileItsJobIsQuiet) {
  start();
  on_node([this] { control.add(kJob); });
  Client client(path);
  ASSERT_TRUE(client.watch(kJob, 0, [](const JobEvent&) { return Client::StreamControl::stop; }));
  until([this] { return control.watchers(kJob) == 0; });
}

TEST_F(AtTheGateway, ACallCanBeInterrupted) {
  start();
  on_node([this] { control.add(kJob); });
  Client client(path);
  std::thread other;
  const Status ended = client.watch(kJob, 0, [&](const JobEvent&) {
    other = std::thread([&client] { client.interrupt(); });
    return Client::StreamControl::proceed;
  });
  other.join();
  EXPECT_EQ(ended.error().kind, Kind::disconnected);
  EXPECT_EQ(client.node().error().kind, Kind::disconnected) << "later calls end too";
}

TEST_F(AtTheGateway, AStopEndsEverythingThatIsOpen) {
  start();
  on_node([this] { control.add(kJob); });
  auto idle = os::connect_local(path).value();
  std::promise<void> streaming;
  auto follower = std::async(std::launch::async, [&] {
    Client client(path);
    return client.watch(kJob, 0, [&](const JobEvent&) { return streaming.set_value(), Client::StreamControl::proceed; });
  });
  streaming.get_future().wait();
  on_node([this] { control.mute = true; });
  auto waiting = std::async(std::launch::async, [&] { return Client(path).cancel(kJob); });
  until([this] { return control.job_summary(kJob)->state == node::JobState::cancelled; });  // it has been asked
  stop();
  EXPECT_EQ(follower.get().error().kind, Kind::disconnected);
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(Client(path).node().error().kind, Kind::disconnected);
}

TEST_F(AtTheGateway, APeerThatDoesNotAnswerIsATimeout) {
  start({.session = {.answer = std::chrono::milliseconds(1)}});
  on_node([this] {
    control.add(kJob);
    control.mute = true;
  });
  EXPECT_EQ(Client(path).cancel(kJob).error().kind, Kind::timeout);
}

TEST_F(AtTheGateway, ADaemonThatIsSuspendedIsNamedWithWhatToDo) {
  const auto listener = os::LocalListener::open(path).value();  // connections wait in its queue, as those to a stopped process do
  const auto answer = Client(path, {.read = std::chrono::milliseconds(20)}).jobs();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Kind::timeout);
  EXPECT_NE(answer.error().detail.find(fmt::format("kill -CONT {}'", ::getpid())), std::string::npos) << answer.error().detail;
}

TEST_F(AtTheGateway, MalformedRequestsGetTheRightStatus) {
  start();
  struct Case {
    std::string request, status, words;
  };
  const Case cases[] = {
      {"nonsense\r\n\r\n", "400", "not an HTTP request"},
      {"GET /v1/node HTTP/1.0\r\n\r\n", "505", "HTTP/1.1"},
      {"GET /v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n", "404", "not_found"},
      {"DELETE /v1/jobs HTTP/1.1\r\nHost: x\r\n\r\n", "405", "Allow: GET, POST"},
      {"GET /v1/jobs/xyz HTTP/1.1\r\nHost: x\r\n\r\n", "400", "64 hexadecimal"},
      {"GET /v1/node HTTP/1.1\r\nHost: x\r\nX: " + std::string(10000, 'x') + "\r\n\r\n", "431", "longer than 8192"},
      {"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9438209\r\n\r\n", "413", "longer than 9438208"},
      {"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "400", "not an HTTP request"},
      {"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na00000\r\n" + std::string(0xa00000, 'x') + "\r\n0\r\n\r\n",
       "413", "longer than 9438208"},
      {"GET /v1/node HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", "413", "longer than 0"},
  };
  for (const Case& wrong : cases) {
    const std::string answer = raw(wrong.request);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + wrong.status)) << wrong.request.substr(0, 60) << " -> " << answer;
    EXPECT_NE(answer.find(wrong.words), std::string::npos) << answer;
    EXPECT_NE(answer.find("\"next\":"), std::string::npos) << answer;
  }
  EXPECT_TRUE(Client(path).node()) << "others are undisturbed";
}

TEST_F(AtTheGateway, OneConnectionTakesManyRequests) {
  start();
  const std::string one = "GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string answer = raw(one + one + one);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answer.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u);
}

TEST_F(AtTheGateway, IdleConnectionsGiveWayToNewOnesTheLongestIdleFirst) {
  start({.connections = 2});
  auto first = os::connect_local(path).value();
  auto second = os::connect_local(path).value();
  for (const auto* idle : {&first, &second}) {
    ASSERT_TRUE(os::write_fully(idle->get(), as_bytes("GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\n")));
    char byte = 0;
    ASSERT_EQ(::recv(idle->get(), &byte, 1, 0), 1) << "it has been served";
  }
  EXPECT_TRUE(Client(path).node());
  char piece[4096];
  while (::recv(first.get(), piece, sizeof piece, 0) > 0) {
  }
  ASSERT_TRUE(os::write_fully(second.get(), as_bytes("GET /v1/node HTTP/1.1\r\nHost: x\r\n\r\n"))) << "the younger one was left alone";
  EXPECT_GT(::recv(second.get(), piece, sizeof piece, 0), 0);
}

TEST_F(AtTheGateway, ConnectionsAtWorkAreNotClosedForNewOnes) {
  start({.connections = 1});
  on_node([this] { control.add(kJob); });
  Client client(path);
  const auto take = [&](const JobEvent&) {
    EXPECT_EQ(Client(path).node().error().kind, Kind::disconnected);
    return Client::StreamControl::stop;
  };
  ASSERT_TRUE(client.watch(kJob, 0, take));
}

}  // namespace
}  // namespace gw::gateway

#include "grid.h"

#include "../guest_module.h"

namespace gw::node {
namespace {

constexpr std::chrono::seconds kFarTooLong{150};

Endpoint loopback(std::uint16_t port) { return {asio::ip::make_address("127.0.0.1"), port}; }

}  // namespace

Grid::Grid() : code_(NativeCode::open({.cache_root = folder_.path() / "cache"}).value()) {}

void Grid::TearDown() {
  for (const auto& test_peer : test_peers_)
    if (test_peer->driver) stop(*test_peer);
}

Grid::TestPeer& Grid::add(std::uint32_t slots, const char* worker) {
  test_peers_.push_back(std::make_unique<TestPeer>());
  TestPeer& test_peer = *test_peers_.back();
  test_peer.identity = std::make_unique<transport::Identity>(transport::Identity::make().value());
  test_peer.at = loopback(0);
  start(test_peer, slots, worker);
  return test_peer;
}

void Grid::start(TestPeer& test_peer, std::uint32_t slots, const char* worker) {
  RecordStore records = RecordStore::open(test_peer.state.path() / "records.db").value();
  BlobStore blobs = BlobStore::open(test_peer.state.path() / "blobs").value();
  Driver::Config config{.listen = {test_peer.at},
                        .grids = grids_,
                        .share = {.cores = slots, .rules = {.audience = {.anyone = true}}},
                        .version = "test",
                        .boot = records.raise_boot().value()};
  config.worker.program = worker;
  config.spare_workers = 0;
  config.on_stop = [] {};
  if (&test_peer != test_peers_.front().get()) config.join = {text_of(test_peers_.front()->at)};
  test_peer.driver = std::make_unique<Driver>(
      Driver::Parts{io_,
                    *test_peer.identity,
                    code_,
                    {std::move(records), std::move(blobs), SegmentStore::open(test_peer.state.path() / "jobs").value(),
                     SpareRoom(test_peer.state.path() / "spare")}},
      std::move(config));
  const Status started = test_peer.driver->start();
  ASSERT_TRUE(started) << started.error().detail;
  test_peer.at = parse_endpoint(test_peer.driver->control().node().addresses.front()).value();
}

asio::awaitable<void> Grid::shut_down(Driver& driver, bool& done) {
  co_await driver.shut_down();
  done = true;
}

void Grid::stop(TestPeer& test_peer) {
  bool done = false;
  tasks_.spawn("shut down", shut_down(*test_peer.driver, done));
  until([&] { return done && tasks_.size() == 0; });
  test_peer.driver.reset();
}

bool Grid::until(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + kFarTooLong;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "what the test waits for does not happen";
      return false;
    }
    io_.run_one_for(std::chrono::milliseconds(200));
  }
  return true;
}

void Grid::until_all_see_all() {
  until([&] {
    for (const auto& test_peer : test_peers_) {
      if (!test_peer->driver) continue;
      std::size_t alive = 0;
      for (const PeerView& peer : test_peer->driver->control().peers()) alive += peer.state != PeerView::State::silent ? 1 : 0;
      if (alive < test_peers_.size()) return false;
    }
    return true;
  });
}

void Grid::store(Driver& driver, const std::string& bytes) {
  std::optional<Status> stored;
  driver.control().store_blob(sha256(as_bytes(bytes)), bytes, [&](Status status) { stored = std::move(status); });
  until([&] { return stored.has_value(); });
  ASSERT_TRUE(*stored) << stored->error().detail;
}

job::JobId Grid::submit(TestPeer& home, const Work& work) {
  const Bytes module = build_guest(folder_.path(), work.source);
  wire::pb::Manifest manifest;
  *manifest.mutable_module() = job::Manifest::describe(module);
  for (const ByteView piece : job::Manifest::pieces_of(module)) store(*home.driver, std::string(as_text(piece)));
  manifest.mutable_config()->add_args("guest");
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_config()->add_args("{}");
  manifest.mutable_array()->set_count(work.tasks);
  manifest.mutable_policy()->set_slots(work.slots);
  manifest.mutable_policy()->set_max_failures(work.max_failures);
  manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(std::chrono::nanoseconds(work.checkpoint_every).count()));
  const Bytes bytes = job::Manifest::encode(manifest);
  wire::pb::JobCharter charter;
  charter.set_nonce(++nonce_);
  charter.set_first_home(home.driver->control().node().id.bytes());
  if (!work.grid.empty()) charter.set_grid(wire::open_grid(work.grid).bytes());
  charter.set_manifest(wire::bytes_of(sha256(bytes)));
  std::optional<Result<job::JobId>> accepted;
  wire::pb::JobSubmission submission;
  submission.set_charter(std::string(as_text(job::Charter::sign(charter, SigningKey({1})))));
  submission.set_manifest(std::string(as_text(bytes)));
  home.driver->control().submit(submission, [&](Result<job::JobId> id) { accepted = std::move(id); });
  until([&] { return accepted.has_value(); });
  EXPECT_TRUE(*accepted) << accepted->error().detail;
  return **accepted;
}

JobView Grid::view(TestPeer& home, const job::JobId& id) {
  std::optional<Result<JobView>> shown;
  home.driver->control().job(id, [&](Result<JobView> got) { shown = std::move(got); });
  until([&] { return shown.has_value(); });
  return shown->value();
}

Grid::TestPeer* Grid::host_of_main(TestPeer& home, const job::JobId& id) {
  const JobView shown = view(home, id);
  if (shown.threads.empty()) return nullptr;
  for (const auto& test_peer : test_peers_)
    if (test_peer->driver && shown.threads.front().host == test_peer->driver->control().node().id) return test_peer.get();
  return nullptr;
}

std::string Grid::story(TestPeer& home, const job::JobId& id) {
  std::string text;
  const auto events = home.driver->control().events(id, 0, 1000).value();
  for (const JobEvent& event : events) {
    const auto about = [&](std::string_view what, const auto& one) { text += fmt::format("{} {:x}", what, one.thread.value()); };
    text += fmt::format("\n{}: ", event.number & 0xffff);
    if (const auto* placed = std::get_if<JobEvent::ThreadPlaced>(&event.kind))
      about("placed", *placed), text += " at " + placed->host.brief();
    if (const auto* resumed = std::get_if<JobEvent::ThreadResumed>(&event.kind))
      about("resumed", *resumed), text += " at " + resumed->host.brief();
    if (const auto* again = std::get_if<JobEvent::ThreadRestarted>(&event.kind))
      about("restarted", *again), text += " at " + again->host.brief();
    if (const auto* ended = std::get_if<JobEvent::ThreadEnded>(&event.kind)) about("ended", *ended);
    if (const auto* failed = std::get_if<JobEvent::ThreadFailed>(&event.kind)) about("failed", *failed), text += ": " + failed->sentence;
    if (const auto* lost = std::get_if<JobEvent::PeerLost>(&event.kind)) text += "lost " + lost->peer.brief();
    if (const auto* grew = std::get_if<JobEvent::OutputGrew>(&event.kind)) text += fmt::format("output {}", grew->size);
    if (std::holds_alternative<JobEvent::Over>(event.kind)) text += "over";
  }
  return text;
}

std::string Grid::output(TestPeer& home, const job::JobId& id) {
  std::string text;
  for (bool end = false; !end;) {
    std::optional<Result<OutputPiece>> piece;
    home.driver->control().read_output(id, Stream::output, text.size(), 1000, [&](Result<OutputPiece> got) { piece = std::move(got); });
    if (!until([&] { return piece.has_value(); })) break;
    EXPECT_TRUE(*piece) << piece->error().detail;
    if (!*piece) break;
    text += (*piece)->bytes;
    end = (*piece)->end || (*piece)->bytes.empty();
  }
  return text;
}

}  // namespace gw::node

// One peer of a world: calls into it, and what it wants done.

#include <fmt/format.h>

#include "base/reached.h"
#include "wire/grid_name.h"
#include "world.h"

namespace gw::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

// In numbers, so that peers can name each other as anchors.
constexpr std::string_view kNetwork = "10.0.0.";

std::string address_of(std::size_t index) { return fmt::format("{}{}:1", kNetwork, index); }

}  // namespace

void World::boot(Node& node) {
  ++node.boot;
  trace(node.index, "boot", "");
  node.clock_offset = Time(world_rng_.below(1'000'000'000'000));
  peer::Peer::Config config;
  config.grids.grids = {"world"};
  config.grids.overlay.address = address_of(node.index);
  config.grids.overlay.known = {address_of(0), address_of(1)};
  config.reachability.address = address_of(node.index);
  config.slots.slots = scenario_.slots;
  config.uploads.keep = std::chrono::seconds(20);
  config.home.keeper_patience = scenario_.keeper_patience;
  if (scenario_.home_dies) config.keeper.orphan_after = std::chrono::seconds(30);
  node.peer =
      std::make_unique<peer::Peer>(config, peer::Peer::Identity{node.id, node.key, node.boot}, *node.signer, Rng(world_rng_.next()));
  std::vector<job::Action> out;
  const Status started = node.peer->start(now_ + node.clock_offset, node.disk.stored(), out);
  if (!started) return complain(Verdict::safety, "a peer cannot start again: " + started.error().detail);
  carry_out(node, std::move(out));
  arm(node);
}

void World::call(std::size_t index, std::uint64_t boot, Call what) {
  Node& node = *nodes_[index];
  if (node.peer == nullptr || node.boot != boot) return;
  if (node.paused_until > now_ || !node.deferred.empty()) {
    if (node.deferred.empty()) schedule(node.paused_until, [this, index, boot] { catch_up(index, boot); });
    node.deferred.push_back(std::move(what));
    return;
  }
  call_now(node, what);
}

void World::call_now(Node& node, const Call& what) {
  std::vector<job::Action> out;
  what(node, now_ + node.clock_offset, out);
  carry_out(node, std::move(out));
  complain(Verdict::safety, check_slots(*node.peer, scenario_.slots));
  arm(node);
}

// Everything that came during a pause, in its order.
void World::catch_up(std::size_t index, std::uint64_t boot) {
  Node& node = *nodes_[index];
  if (node.peer == nullptr || node.boot != boot) return;
  if (node.paused_until > now_) return schedule(node.paused_until, [this, index, boot] { catch_up(index, boot); });
  for (const Call& what : std::exchange(node.deferred, {})) call_now(node, what);
}

// A tick at the peer's next deadline, unless one is on its way that is early enough.
void World::arm(Node& node) {
  const Time deadline = node.peer->next_deadline();
  if (deadline == job::kNever) return;
  const Time at = std::max(now_ + microseconds(100), deadline - node.clock_offset);
  if (node.tick_at <= at && node.tick_at > now_) return;
  node.tick_at = at;
  schedule(at, [this, index = node.index, boot = node.boot, at] {
    if (nodes_[index]->boot != boot || nodes_[index]->tick_at != at) return;
    nodes_[index]->tick_at = job::kNever;
    call(index, boot, [](Node& ticked, Time now, std::vector<job::Action>& out) { ticked.peer->on_tick(now, out); });
  });
}

void World::carry_out(Node& node, std::vector<job::Action> actions) {
  for (job::Action& action : actions) carry_out(node, action);
}

void World::carry_out(Node& node, job::Action& action) {
  std::visit(Overloaded{
                 [&](job::Send& what) { send(node, what); },
                 [&](job::Connect& what) { connect(node, what.address); },
                 [&](job::DialBack& what) { dial_back(node, what); },
                 [&](job::Publish&) {},     // whoever can be reached at all is reached by what it was configured with
                 [&](job::Disconnect&) {},  // only private grids want it, and no scenario has one
                 [&](job::StartWorker& what) { node.workers.emplace(what.worker, FakeWorker(what.job, sha256(as_bytes(module_)))); },
                 [&](job::KillWorker& what) { node.workers.erase(what.worker); },
                 [&](job::FrameToWorker& what) { to_worker(node, what); },
                 [&](job::Notify& what) { notice(node, what.event); },
                 [&](auto& what) { to_disk(node, std::move(what)); },
             },
             action);
}

void World::send(Node& node, const job::Send& what) {
  std::size_t to = 0;
  while (to < nodes_.size() && nodes_[to]->id != what.to) ++to;
  if (to == nodes_.size()) return complain(Verdict::safety, "a peer sends to a peer that does not exist");
  auto encoded = wire::encode(what.message);
  if (!encoded) return complain(Verdict::safety, encoded.error().detail);
  if (nodes_[to]->peer == nullptr && !what.contact.address.empty()) tell_unreachable(node, to);
  const Time sent = now_;
  for (const Time at : network_.arrivals(now_, node.index, to)) {
    Bytes bytes = *encoded;
    if (what.message.has_blob() && !bytes.empty() && network_.damages()) bytes.back() ^= 1;
    schedule(at, [this, from = node.index, to, sent, bytes = std::move(bytes)] {
      if (!network_.reachable(now_, from, to) || !network_.reachable(sent, from, to)) return;
      deliver(from, to, bytes);
    });
  }
  if (scenario_.liars > 0 && !healed_) lie(to, *encoded);
}

// What the dial of a message to a peer that is down comes to: a host without a peer refuses, one without power says nothing.
void World::tell_unreachable(Node& sender, std::size_t to) {
  if (!network_.reachable(now_, sender.index, to) || !network_.reachable(now_, to, sender.index)) return;
  const bool refused = nodes_[to]->refuses;
  const peer::Unreachable event{refused ? overlay::Failure::refused : overlay::Failure::no_answer};
  schedule(now_ + (refused ? milliseconds(3) : milliseconds(10'000)), [this, from = sender.index, boot = sender.boot, to, event] {
    if (nodes_[to]->peer != nullptr) return;
    call(from, boot, [this, to, event](Node& hearer, Time now, std::vector<job::Action>& out) {
      hearer.peer->on_connection(now, nodes_[to]->id, event, out);
    });
  });
}

void World::deliver(std::size_t from, std::size_t to, const Bytes& bytes) {
  const auto message = wire::decode_peer_message(bytes);
  if (!message) return;  // damaged: the transport refuses it
  trace(to, "message", as_text(ByteView(bytes).first(std::min<std::size_t>(bytes.size(), 64))));
  call(to, nodes_[to]->boot, [this, from, message = *message](Node& hearer, Time now, std::vector<job::Action>& out) {
    hearer.peer->on_message(now, nodes_[from]->id, message, out);
  });
}

void World::connect(Node& node, const std::string& address) {
  const std::size_t to = std::strtoull(address.c_str() + kNetwork.size(), nullptr, 10);
  schedule(now_ + milliseconds(3), [this, from = node.index, to] {
    if (to >= nodes_.size() || nodes_[to]->peer == nullptr || !network_.reachable(now_, from, to) || !network_.reachable(now_, to, from))
      return;
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)})
      call(a, nodes_[a]->boot, [this, b = b, dialled = b == to](Node& hearer, Time now, std::vector<job::Action>& out) {
        hearer.peer->on_connection(
            now, nodes_[b]->id, peer::Connected{dialled ? address_of(b) : "", dialled ? peer::Link::dialled : peer::Link::accepted}, out);
      });
  });
}

void World::dial_back(Node& node, const job::DialBack& what) {
  schedule(now_ + milliseconds(6), [this, index = node.index, boot = node.boot, whom = what.peer] {
    std::size_t to = 0;
    while (to < nodes_.size() && nodes_[to]->id != whom) ++to;
    const bool reached = to < nodes_.size() && nodes_[to]->peer != nullptr && network_.reachable(now_, index, to);
    call(index, boot, [whom, reached, to](Node& asked, Time now, std::vector<job::Action>& out) {
      asked.peer->on_connection(now, whom, peer::DialledBack{address_of(to), reached}, out);
    });
  });
}

void World::notice(Node& node, const job::Event& event) {
  if (const auto* stored = std::get_if<job::EffectStored>(&event))
    complain(Verdict::safety, notices_.on_effect(stored->job, stored->effect));
  if (const auto* failed = std::get_if<job::ThreadFailed>(&event))
    complain(Verdict::safety, fmt::format("thread {} failed: {}", failed->thread.value(), failed->sentence));
  if (const auto* refused = std::get_if<job::JobRefused>(&event); refused != nullptr && refused->error.kind != Kind::not_found)
    complain(Verdict::safety, "the job was refused: " + refused->error.detail);
  trace(node.index, "notice", fmt::format("{}", event.index()));
}

void World::to_disk(Node& node, Disk::Operation operation) {
  const Time latency =
      microseconds(50) + Time(static_cast<std::int64_t>(fault_rng_.below(static_cast<std::uint64_t>(faults_.disk.count()))));
  const Time done = node.disk.submit(now_, std::move(operation), latency);
  schedule(done, [this, index = node.index, boot = node.boot] {
    Node& writer = *nodes_[index];
    if (writer.peer == nullptr || writer.boot != boot) return;
    const auto told = writer.disk.complete();
    if (!told) return;
    call(index, boot, [told](Node& hearer, Time now, std::vector<job::Action>& out) { hearer.peer->on_disk(now, *told, out); });
  });
}

Result<Bytes> World::assemble(const Node& node, const job::Attachment& attachment) const {
  if (attachment.form == job::Attachment::Form::given) return Bytes(attachment.bytes.begin(), attachment.bytes.end());
  std::vector<std::string> pieces;
  for (const Hash256& hash : attachment.blobs) {
    const auto bytes = node.disk.blob(hash);
    if (!bytes) return fail(Kind::corrupt, "blob {} is not there", hash.hex());
    pieces.push_back(*bytes);
  }
  if (attachment.form == job::Attachment::Form::pieces) {
    std::string whole;
    for (const std::string& piece : pieces) whole += piece;
    if (sha256(as_bytes(whole)) != attachment.whole) return fail(Kind::corrupt, "the module is damaged");
    return Bytes(whole.begin(), whole.end());
  }
  GW_TRY(const std::vector<Hash256> pages, job::page_blobs(pieces.at(0)));
  std::vector<std::string> blobs;
  for (const Hash256& page : pages) {
    const auto bytes = node.disk.blob(page);
    if (!bytes) return fail(Kind::corrupt, "page {} is not there", page.hex());
    blobs.push_back(*bytes);
  }
  return job::join_image(pieces.at(0), blobs);
}

void World::to_worker(Node& node, const job::FrameToWorker& action) {
  const auto found = node.workers.find(action.worker);
  if (found == node.workers.end()) return;
  Bytes beside;
  for (const job::Attachment& attachment : action.beside) {
    auto bytes = assemble(node, attachment);
    if (!bytes) return complain(Verdict::safety, bytes.error().detail);
    beside = std::move(*bytes);
  }
  std::vector<WorkerOutput> outputs;
  const std::string config(beside.begin(), beside.end());
  const std::vector<ThreadId> runnable = found->second.on_frame(action.frame, config, std::move(beside), outputs);
  for (const ThreadId thread : runnable) step_later(node, action.worker, thread);
  from_worker(node, action.worker, std::move(outputs));
}

void World::step_later(Node& node, job::WorkerId worker, ThreadId thread) {
  const Time at = now_ + scenario_.step / 2 + Time(world_rng_.below(static_cast<std::uint64_t>(scenario_.step.count())));
  schedule(at, [this, index = node.index, boot = node.boot, worker, thread] {
    Node& host = *nodes_[index];
    if (host.boot != boot) return;
    const auto found = host.workers.find(worker);
    if (found == host.workers.end()) return;
    std::vector<WorkerOutput> outputs;
    const bool more = found->second.step(thread, static_cast<std::uint64_t>((now_ + host.clock_offset).count()), outputs);
    for (const ThreadId child : found->second.take_children()) step_later(host, worker, child);
    from_worker(host, worker, std::move(outputs));
    if (more) step_later(host, worker, thread);
  });
}

void World::from_worker(Node& node, job::WorkerId worker, std::vector<WorkerOutput> outputs) {
  const auto found = node.workers.find(worker);
  if (found != node.workers.end())
    for (const FakeWorker::Life& life : found->second.take_started())
      complain(Verdict::safety, lives_.on_started(node.index, found->second.job(), life.thread, life.epoch));
  if (outputs.empty()) return;
  schedule(now_ + microseconds(100), [this, index = node.index, boot = node.boot, worker, outputs = std::move(outputs)] {
    for (const WorkerOutput& output : outputs)
      call(index, boot, [worker, output](Node& host, Time now, std::vector<job::Action>& out) {
        host.peer->on_worker(now, worker, peer::WorkerFrame{output.frame, output.image}, out);
      });
  });
}

}  // namespace gw::sim

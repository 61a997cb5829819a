#include "world.h"

#include <fmt/format.h>

#include <cstdio>

#include "job/records.h"

namespace gw::sim {
namespace {

constexpr std::uint64_t kFnvPrime = 1099511628211u;

std::array<std::uint8_t, 32> secret_of(std::uint64_t number) {
  ByteWriter writer;
  writer.u64(number);
  return sha256(writer.take()).bytes;
}

Rng named(std::uint64_t seed, std::uint64_t name) { return Rng(Rng(seed * 1000003 + name).next()); }

}  // namespace

World::World(const Scenario& scenario, std::uint64_t seed, Trace trace)
    : scenario_(scenario),
      trace_(trace),
      world_rng_(named(seed, 1)),
      fault_rng_(named(seed, 2)),
      faults_(scenario.faults ? FaultMix::draw(fault_rng_) : FaultMix()),
      network_(faults_, named(seed, 3)),
      module_(fmt::format("module of seed {}", seed)) {
  outcome_.trace = 1469598103934665603u;
  for (std::size_t i = 0; i < scenario.peers; ++i) {
    auto& node = nodes_.emplace_back(std::make_unique<Node>());
    node->index = i;
    node->id = {sha256(SigningKey(secret_of(i)).public_key())};
  }
  wire::pb::Manifest manifest;
  manifest.set_nonce(seed);
  manifest.mutable_module()->set_hash(wire::bytes_of(sha256(as_bytes(module_))));
  manifest.mutable_module()->set_size(module_.size());
  manifest.mutable_module()->add_chunks(manifest.module().hash());
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(scenario.wanted_slots);
  manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(scenario.checkpoint_every.count()));
  for (std::uint32_t task = 0; task < scenario.tasks; ++task)
    manifest.add_tasks()->add_args(encode_program(world_rng_.next(), 1 + world_rng_.below(scenario.steps)));
  manifest_ = job::Manifest::sign(manifest, SigningKey(secret_of(~seed)));
  const job::Manifest checked = job::Manifest::check(manifest_).value();
  job_ = checked.id();
  for (std::uint32_t task = 0; task < scenario.tasks; ++task)
    expected_effects(checked.thread_of(task), decode_program(checked.config_of(task)), expected_);
}

void World::schedule(Time at, std::function<void()> happen) { events_.push({at, next_order_++, std::move(happen)}); }

void World::trace(std::size_t peer, std::string_view what, std::string_view detail) {
  const auto fold = [&](std::uint64_t word) { outcome_.trace = (outcome_.trace ^ word) * kFnvPrime; };
  fold(static_cast<std::uint64_t>(now_.count()));
  fold(peer);
  for (const char c : what) fold(static_cast<std::uint8_t>(c));
  for (const char c : detail) fold(static_cast<std::uint8_t>(c));
  if (trace_ == Trace::printed)
    std::printf("%12.6f peer %zu %.*s\n", static_cast<double>(now_.count()) / 1e9, peer, static_cast<int>(what.size()), what.data());
}

void World::complain(Verdict verdict, const std::string& complaint) {
  if (complaint.empty() || outcome_.verdict != Verdict::good) return;
  outcome_.verdict = verdict;
  outcome_.complaint = fmt::format("at {:.3f} s: {}", static_cast<double>(now_.count()) / 1e9, complaint);
}

void World::advance_to(Time until, const std::function<bool()>& done) {
  while (outcome_.verdict == Verdict::good && !events_.empty() && events_.top().at <= until && !done()) {
    Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.at;
    ++outcome_.events;
    event.happen();
  }
}

// As a person would: again, if the peer says nothing or was restarted without knowing the job.
void World::submit() {
  Node& home = *nodes_[0];
  if (over_) return;
  if (home.peer != nullptr && !home.peer->homes().contains(job_) && !job_over()) {
    call(0, home.boot, [this](Node& node, Time now, std::vector<job::Action>& out) {
      node.peer->on_local(now, peer::Upload{{sha256(as_bytes(module_)), module_}}, out);
    });
  }
  schedule(now_ + std::chrono::seconds(1), [this] { submit(); });
}

bool World::job_over() const {
  const auto& records = nodes_[0]->disk.records();
  const auto found = records.find(job::RecordKey{.kind = job::RecordKind::job, .job = job_}.encode());
  wire::pb::JobRecord record;
  return found != records.end() && record.ParseFromString(found->second) && record.state() != wire::pb::JobRecord::RUNNING;
}

Outcome World::run() {
  for (auto& node : nodes_) schedule(Time(world_rng_.below(1'000'000'000)), [this, &node] { boot(*node); });
  schedule(std::chrono::seconds(2), [this] { submit(); });
  if (scenario_.faults) schedule(std::chrono::seconds(3), [this] { make_faults(); });
  advance_to(scenario_.fault_time, [this] { return job_over(); });
  heal();
  advance_to(now_ + scenario_.heal_time, [this] { return job_over(); });
  outcome_.ended = now_;
  if (!job_over()) complain(Verdict::liveness, "the job has not ended although everything is healed");
  over_ = true;
  // Leases run out, keepers ask their home: then nothing must be left.
  advance_to(now_ + std::chrono::seconds(90), [] { return false; });
  check_end();
  return outcome_;
}

void World::check_end() {
  complain(Verdict::safety, check_results(nodes_[0]->disk.records(), job_, expected_));
  for (const auto& node : nodes_) complain(Verdict::safety, check_leaks(*node->peer, scenario_.slots, node->disk.blobs()));
}

}  // namespace gw::sim

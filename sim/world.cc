#include "world.h"

#include <fmt/format.h>

#include "base/reached.h"
#include "tiny_limits.h"
#include "wire/peer_messages.h"

namespace gw::sim {
namespace {

using std::chrono::seconds;

// Each part draws from a sequence of its own: one draw more in one of them does not shift the others.
enum class Sequence : std::uint64_t { nodes = 4, mix = 2, faults = 5, network = 3, byzantine = 6 };
Rng sequence(std::uint64_t seed, Sequence name) { return Rng(Rng(seed * 1000003 + static_cast<std::uint64_t>(name)).next()); }

FaultMix draw_mix(const Scenario& scenario, std::uint64_t seed) {
  Rng rng = sequence(seed, Sequence::mix);
  return scenario.faults ? FaultMix::draw(rng) : FaultMix::none();
}

Time from_us(double us) { return Time(static_cast<std::int64_t>(us * 1e3)); }

Machine draw_machine(const FaultMix& mix, Rng& rng) {
  const auto most = static_cast<std::uint64_t>(mix.drift_ppm);
  return {.cpu_per_input = from_us(mix.cpu_us_per_input),
          .cpu_per_kibibyte = from_us(mix.cpu_us_per_kib),
          .disk = from_us(mix.disk_ms * 1e3),
          .drift_ppm = static_cast<std::int64_t>(rng.below(2 * most + 1)) - static_cast<std::int64_t>(most)};
}

}  // namespace

// Never fewer peers than have a part to play.
Scenario World::adapted(Scenario scenario, const FaultScript& script) {
  if (script.peers != 0) scenario.peers = std::max(script.peers, scenario.jobs + scenario.graves + scenario.liars);
  if (script.tasks != 0) scenario.tasks = script.tasks;
  return scenario;
}

World::World(const Scenario& scenario, std::uint64_t seed, const FaultScript* script, Trace trace)
    : scenario_(scenario),
      seed_(seed),
      script_(script == nullptr ? std::nullopt : std::optional(*script)),
      rng_(sequence(seed, Sequence::nodes)),
      mix_(script == nullptr ? draw_mix(scenario, seed) : script->mix),
      log_(timeline_, trace),
      transport_(nodes_, mix_, timeline_, log_, sequence(seed, Sequence::network)),
      faults_(nodes_, scenario.slots, transport_, timeline_, log_),
      workload_(scenario, seed, nodes_, timeline_),
      byzantine_rng_(sequence(seed, Sequence::byzantine)) {
  for (std::size_t i = 0; i < scenario.peers; ++i) nodes_.push_back(std::make_unique<SimulatedNode>(setup_of(i), timeline_, log_, *this));
  transport_.learn_nodes();
  if (script_ && script_->crash_point) {
    GW_ASSERT(script_->crash_point->node < nodes_.size());
    nodes_[script_->crash_point->node]->crash_after(script_->crash_point->action);
  }
  if (scenario.liars > 0) transport_.on_sent = [this](std::size_t, std::size_t to, const Bytes& bytes) { replay_as_byzantine(to, bytes); };
}

SimulatedNode::Setup World::setup_of(std::size_t node) {
  peer::Peer::Config config;
  config.grids.grids = {"world"};
  config.grids.overlay.address = address_of(node);
  config.grids.overlay.known = {address_of(0), address_of(1)};
  config.reachability.address = address_of(node);
  config.slots.slots = scenario_.slots;
  config.uploads.keep = seconds(20);
  config.home.keeper_patience = scenario_.keeper_patience;
  if (scenario_.home_dies) config.keeper.orphan_after = seconds(30);
  if (mix_.tiny_limits > 0) randomise(config, rng_);
  return {.index = node,
          .key = key_of(node).public_key(),
          .config = config,
          .machine = draw_machine(mix_, rng_),
          .module = workload_.module(),
          .step = scenario_.step,
          .seed = rng_.next()};
}

Outcome World::run() {
  for (auto& node : nodes_) timeline_.schedule(Time(rng_.below(1'000'000'000)), [&node = *node] { node.boot(); });
  workload_.submit_all(seconds(2));
  if (scenario_.cancelled) workload_.cancel_all(seconds(4));
  timeline_.schedule(seconds(3), [this] { start_faults(); });
  if (scenario_.home_dies)
    timeline_.schedule(seconds(5), [this] {
      workload_.give_up(0);
      faults_.kill_for_good(*nodes_[0]);
    });
  for (std::size_t i = 0; i < scenario_.graves; ++i)
    timeline_.schedule(seconds(3 + i), [this, i] { faults_.kill_for_good(*nodes_[nodes_.size() - 1 - i]); });
  const auto unfinished = [this] { return running() && !workload_.all_over(); };
  timeline_.run_until(scenario_.fault_time, unfinished);
  faults_.heal();
  for (auto& node : nodes_) node->set_machine({});
  timeline_.run_until(timeline_.now() + scenario_.heal_time, unfinished);
  log_.outcome().ended = timeline_.now();
  if (!workload_.all_over()) log_.complain(Verdict::liveness, "a job has not ended although everything is healed");
  workload_.stop();
  timeline_.run_until(timeline_.now() + seconds(90), [this] { return running(); });
  if (running()) check_end();
  log_.outcome().events = timeline_.events();
  return log_.outcome();
}

void World::start_faults() {
  if (script_ && script_->crash_point) return;
  if (script_) {
    faults_.replay(script_->faults);
  } else if (scenario_.faults) {
    faults_.draw_from(mix_, sequence(seed_, Sequence::faults));
  }
}

FaultScript World::script() const {
  FaultScript script{.seed = seed_, .peers = scenario_.peers, .tasks = scenario_.tasks, .mix = mix_, .faults = faults_.done()};
  if (script_) script.crash_point = script_->crash_point;
  return script;
}

std::vector<std::uint64_t> World::actions() const {
  std::vector<std::uint64_t> counts;
  for (const auto& node : nodes_) counts.push_back(node->actions());
  return counts;
}

void World::on_crash_point(SimulatedNode& node) {
  faults_.crash(node, {.kind = script_->crash_point->kind, .node = script_->crash_point->node, .seed = script_->crash_point->action});
}

void World::check_end() {
  if (!scenario_.cancelled) log_.complain(Verdict::safety, workload_.check_results());
  for (const auto& node : nodes_)
    if (!faults_.dead_for_good(*node)) log_.complain(Verdict::safety, check_leaks(node->peer(), node->slots(), node->disk().blobs()));
}

// --- what nodes do

void World::on_event(SimulatedNode& node, const job::Event& event) {
  if (const auto* stored = std::get_if<job::EffectStored>(&event))
    log_.complain(Verdict::safety, notices_.on_effect(stored->job, stored->effect));
  if (const auto* failed = std::get_if<job::ThreadFailed>(&event))
    log_.complain(Verdict::safety, fmt::format("thread {} failed: {}", failed->thread.value(), failed->sentence));
  if (const auto* wanted = std::get_if<job::InputWanted>(&event)) workload_.on_input_wanted(node, *wanted);
  if (const auto* refused = std::get_if<job::JobRefused>(&event); refused != nullptr && refused->error.kind != Kind::not_found)
    log_.complain(Verdict::safety, "the job was refused: " + refused->error.detail);
  log_.trace(node.index(), "notice", fmt::format("{}", event.index()));
}

void World::on_thread_started(SimulatedNode& node, const job::JobId& job, ThreadId thread, std::uint64_t epoch) {
  log_.complain(Verdict::safety, lives_.on_started(node.index(), job, thread, epoch));
}

void World::on_turn(SimulatedNode& node) { log_.complain(Verdict::safety, check_slots(node.peer(), node.config())); }

// A Byzantine peer says, in its own name, what it has overheard; of effects also that they are of the next life, and of overlays that they
// are of another grid.
void World::replay_as_byzantine(std::size_t to, const Bytes& overheard) {
  if (faults_.healed() || byzantine_rng_.below(20) != 0) return;
  const SimulatedNode& liar = *nodes_[nodes_.size() - 1 - byzantine_rng_.below(scenario_.liars)];
  if (!liar.up() || to == liar.index()) return;
  auto message = wire::decode_peer_message(overheard).value();
  message.set_boot(byzantine_rng_.below(10) == 0 ? 1 : liar.boot_number());
  if (message.has_overlay() && byzantine_rng_.below(4) == 0) message.mutable_overlay()->set_grid(std::string(32, 'g'));
  if (message.job().has_effects() && byzantine_rng_.below(2) == 0) {
    wire::pb::JobMessage::Effects& effects = *message.mutable_job()->mutable_effects();
    effects.set_epoch(effects.epoch() + 1);
    for (Effect& effect : *effects.mutable_effects()) effect.set_epoch(effects.epoch());
  }
  GW_REACHED("sim: a liar spoke");
  transport_.deliver(liar.index(), to, wire::encode(message).value());
}

}  // namespace gw::sim

#include "world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/reached.h"
#include "faults/tiny_limits.h"
#include "wire/messages/peer_messages.h"
#include "wire/messages/worker_frames.h"

namespace gw::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Each part has its own random sequence: one more draw in one part does not shift the others.
enum class Sequence : std::uint64_t { nodes = 4, mix = 2, faults = 5, network = 3, byzantine = 6 };
Rng sequence(std::uint64_t seed, Sequence name) { return Rng(Rng(seed * 1000003 + static_cast<std::uint64_t>(name)).next()); }

FaultMix draw_mix(const Scenario& scenario, std::uint64_t seed) {
  Rng rng = sequence(seed, Sequence::mix);
  FaultMix mix = scenario.faults ? FaultMix::draw(rng) : FaultMix::none();
  if (scenario.bad_disks) mix.draw_bad_disks(rng);
  if (scenario.bad_records) mix.draw_bad_records(rng);
  if (scenario.slow) mix.draw_slow(rng);
  if (scenario.shares) mix.draw_shares(rng);
  return mix;
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

// At least as many peers as the scenario needs.
Scenario World::adapted(Scenario scenario, const FaultScript& script) {
  if (script.peers != 0) scenario.peers = std::max(script.peers, scenario.peers_with_parts());
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
      transport_(nodes_, mix_, scenario.walled, timeline_, log_, sequence(seed, Sequence::network)),
      faults_(nodes_, scenario.slots, transport_, timeline_, log_),
      private_grid_(scenario.members, seed, nodes_, timeline_),
      workload_(scenario, seed, scenario.members > 0 ? std::optional(private_grid_.id()) : std::nullopt, nodes_, timeline_),
      byzantine_rng_(sequence(seed, Sequence::byzantine)) {
  for (std::size_t i = 0; i < scenario.peers; ++i) nodes_.push_back(std::make_unique<SimulatedNode>(setup_of(i), timeline_, log_, *this));
  transport_.learn_nodes();
  if (script_ && script_->crash_point) {
    GW_ASSERT(script_->crash_point->node < nodes_.size());
    nodes_[script_->crash_point->node]->crash_after(script_->crash_point->action);
  }
  for (std::size_t i = 0; i < scenario.peers; ++i) {
    if (scenario.is_byzantine(i))
      byzantine_.emplace(i, ByzantineNode(key_of(i).public_key(), Rng(byzantine_rng_.next()),
                                          scenario.crafty ? ByzantineNode::Style::crafty : ByzantineNode::Style::random));
    if (scenario.is_saboteur(i))
      saboteurs_.emplace(i, Saboteur(Rng(byzantine_rng_.next()), scenario.only_keepers   ? Saboteur::Part::keeper
                                                                 : scenario.only_idlers  ? Saboteur::Part::idler
                                                                 : scenario.only_seeders ? Saboteur::Part::seeder
                                                                 : scenario.only_relays  ? Saboteur::Part::relay
                                                                                         : Saboteur::Part::any));
  }
  std::vector<Stranger::Victim> victims;
  for (const auto& node : nodes_)
    if (!scenario.is_stranger(node->index())) victims.push_back({node->index(), node->id()});
  for (std::size_t i = 0; i < scenario.peers; ++i)
    if (scenario.is_stranger(i)) strangers_.try_emplace(i, key_of(i), byzantine_rng_.next(), victims);
  transport_.on_sent = [this](std::size_t from, std::size_t to, const job::Send& send, const Bytes& bytes) {
    watch(from, to, send, bytes);
  };
  if (!byzantine_.empty() || !saboteurs_.empty() || !strangers_.empty())
    transport_.distort = [this](std::size_t from, const wire::pb::PeerMessage& message, Bytes bytes) {
      return distort(from, message, std::move(bytes));
    };
}

SimulatedNode::Setup World::setup_of(std::size_t node) {
  peer::Peer::Config config;
  config.grids.grids = {"world"};
  config.grids.overlay.address = address_of(node);
  const std::size_t door = scenario_.walled == 0 ? 0 : scenario_.peers - 2;  // that can be dialled, as is the next
  config.grids.overlay.known = {address_of(door), address_of(door + 1)};
  if (scenario_.narrow) {
    config.grids.overlay.neighbours.near = 3;
    config.grids.overlay.neighbours.random = 2;
  }
  config.reachability.address = address_of(node);
  config.slots.slots = scenario_.slots;
  config.uploads.keep = seconds(20);
  config.home.keeper_patience = scenario_.keeper_patience;
  config.home.slots.prune_every = seconds(5);  // a peer is gone for good after half an hour otherwise
  config.home.slots.gone_for_good = seconds(20);
  if (scenario_.saboteurs > 0 && !scenario_.only_keepers)
    config.home.placement.stall = seconds(20);  // a host that does nothing is left after minutes otherwise
  if (scenario_.inputs > 0) {
    config.chunk_uploads.large = 1;  // files are small here
    config.swarm.home_window = 100;  // bytes: two or three files
    config.swarm.window = 200;
    config.chunk_uploads.window = 200;
    config.blobs.cache.bytes = rng_.below(2) == 0 ? 0 : 400;
  }
  if (scenario_.home_dies) config.keeper.orphan_after = seconds(30);
  if (scenario_.rigid) {
    config.hosted_job.thread.checkpoint_determinants = JobWorkload::kRigidDeterminants / 2;
    config.hosted_job.thread.determinants = config.keeper.determinants = JobWorkload::kRigidDeterminants;
  }
  for (std::uint32_t job = 0; scenario_.users && job < scenario_.jobs; ++job) {
    const Hash256 user{key_of(~seed_ - job).public_key()};
    config.lender.lending.rules.weights[user] = job % 3 + 1;
  }
  config.lender.lending.rules.when.idle = scenario_.owners;
  if (scenario_.memory_limited) config.memory_bytes = std::uint64_t{scenario_.slots} << 30;
  if (scenario_.strangers > 0) {
    config.unused_claim = seconds(10);
    config.budget.job = {.threads = 40, .blobs = 400, .bytes = 16u << 20, .nodes = 160, .determinants = 2000};
    config.budget.origin = {.threads = 60, .blobs = 600, .bytes = 24u << 20, .nodes = 240, .determinants = 3000};
    config.budget.grid = {.threads = 90, .blobs = 900, .bytes = 36u << 20, .nodes = 360, .determinants = 4500};
    config.budget.all = {.threads = 110, .blobs = 1100, .bytes = 44u << 20, .nodes = 440, .determinants = 5500};
  }
  job::EffectGate::Config gate;
  if (mix_.tiny_limits > 0) {
    randomise(config, rng_);
    randomise(gate, rng_);
    // Few threads read the clock more than 20 times, so that the smaller half of the limits make a thread wait for an image.
    std::size_t& determinants = config.hosted_job.thread.determinants;
    if (!scenario_.rigid) determinants = std::min(determinants, 4 * gate.unstable_determinants);
    if (scenario_.rounds > 0) {
      config.hosted_job.threads.threads = job::HostedThreads::Config().threads;  // all of them may wait for each other at one host
      config.home.mail.items = 8 + seed_ % 8;  // a round of both writers, what waits for an image, and a round ahead
    }
  }
  return {.index = node,
          .key = key_of(node).public_key(),
          .config = config,
          .machine = draw_machine(mix_, rng_),
          .module = workload_.module(),
          .gate = gate,
          .is_flaky = [this, node](std::uint32_t task) { return scenario_.is_flaky(task, node); },
          .step = scenario_.step,
          .seed = rng_.next()};
}

Outcome World::run() {
  for (auto& node : nodes_) timeline_.schedule(Time(rng_.below(1'000'000'000)), [&node = *node] { node.boot(); });
  if (scenario_.members > 0) private_grid_.found(seconds(1));
  if (!strangers_.empty()) timeline_.schedule(seconds(1), [this] { let_strangers_speak(); });
  if (scenario_.owners)
    for (auto& node : nodes_) timeline_.schedule(milliseconds(1100), [this, &node = *node] { let_owner_act(node); });
  workload_.submit_all(seconds(2));
  if (scenario_.cancelled) workload_.cancel_all(seconds(4));
  if (scenario_.suspended) workload_.suspend_all(seconds(4), scenario_.fault_time);
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
  workload_.cancel_dishonest();
  for (auto& node : nodes_) node->set_machine({});
  timeline_.run_until(timeline_.now() + scenario_.heal_time, unfinished);
  log_.outcome().ended = timeline_.now();
  if (scenario_.end_by > Time(0) && timeline_.now() > scenario_.end_by)
    log_.complain(Verdict::liveness, "the jobs took longer than their slots need: threads have waited while slots were free");
  if (!workload_.all_over()) log_.complain(Verdict::liveness, "a job has not ended although everything is healed");
  if (scenario_.too_large) {
    workload_.cancel_too_large();
    timeline_.run_until(timeline_.now() + seconds(10), [this] { return running(); });
  }
  workload_.stop();
  strangers_.clear();
  timeline_.run_until(timeline_.now() + seconds(90), [this] { return running(); });
  if (running()) check_end();
  log_.outcome().events = timeline_.events();
  return log_.outcome();
}

void World::start_faults() {
  if (script_ && script_->crash_point) return;
  if (script_) {
    faults_.replay(script_->faults);
  } else if (scenario_.faults || scenario_.shares) {
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

// Each peer that dies permanently or misbehaves counts as a fault, and so does each host that is asked whether a thread really fails.
BudgetChecker::Run World::budget() const {
  const std::size_t permanent = scenario_.graves + scenario_.liars + scenario_.byzantine + scenario_.saboteurs + scenario_.strangers +
                                scenario_.walled + (scenario_.rigid ? 2 : 0) + scenario_.retries;
  return {.faults = faults_.done().size() + permanent,
          .owner_returns = owner_returns_,
          .tasks = scenario_.tasks * workload_.jobs().size(),
          .steps = scenario_.steps};
}

void World::check_end() {
  if (!scenario_.cancelled) {
    for (const job::ThreadFailed& failed : workload_.failed_threads()) on_failed(failed);
    log_.complain(Verdict::safety,
                  workload_.check_results(scenario_.bad_disks || scenario_.bad_records || scenario_.rigid ? lost_ : tainted_));
  }
  if (scenario_.shares) log_.complain(Verdict::safety, check_work());
  if (scenario_.inputs > 0 && !scenario_.faults && scenario_.saboteurs == 0)
    log_.complain(Verdict::safety, copies_.check(workload_.jobs().size() * scenario_.inputs));
  for (const auto& node : nodes_)
    if (!faults_.dead_for_good(*node)) log_.complain(Verdict::safety, check_leaks(*node));
  log_.complain(Verdict::safety, budget_.check(budget()));
}

// Threads leave with their last image when an owner takes slots back, so each step is taken once.
Complaint World::check_work() const {
  std::uint64_t steps = 0;
  for (const auto& node : nodes_) steps += node->workers().steps();
  if (steps == workload_.steps()) return "";
  return fmt::format("threads took {} steps, and {} in the undisturbed run: work was repeated", steps, workload_.steps());
}

// --- actions of nodes

void World::on_event(SimulatedNode& node, const job::Event& event) {
  if (!is_honest(node)) return;
  if (const auto* stored = std::get_if<job::EffectStored>(&event)) {
    tainted_.on_stored(stored->job, stored->effect);
    log_.complain(Verdict::safety, notices_.on_effect(stored->job, stored->effect));
  }
  if (const auto* repeated = std::get_if<job::RunRepeated>(&event)) notices_.on_repeated(repeated->job, repeated->thread);
  if (const auto* failed = std::get_if<job::ThreadFailed>(&event); failed != nullptr) on_failed(*failed);
  if (const auto* resumed = std::get_if<job::JobResumed>(&event)) budget_.on_resumed(resumed->job);
  if (const auto* answered = std::get_if<job::GridAnswered>(&event)) private_grid_.on_answer(node, *answered);
  if (const auto* wanted = std::get_if<job::InputWanted>(&event)) workload_.on_input_wanted(node, *wanted);
  if (const auto* refused = std::get_if<job::JobRefused>(&event); refused != nullptr && refused->error.kind != Kind::not_found)
    log_.complain(Verdict::safety, "the job was refused: " + refused->error.detail);
  log_.trace(node.index(), "notice", fmt::format("{}", event.index()));
}

// A thread may fail only with a sentence that says what a disk has lost.
void World::on_failed(const job::ThreadFailed& failed) {
  if (!is_trusted(failed.job, failed.thread)) return;
  if (faults_.any_rotted() && failed.sentence.find("lost") != std::string::npos) {
    GW_REACHED("sim: a thread was lost with what a disk has lost");
    return lost_.add(failed.job, failed.thread);
  }
  if (workload_.may_be_exhausted(failed.job, failed.thread) && failed.sentence.find("cannot be checkpointed") != std::string::npos) {
    GW_REACHED("sim: a thread that cannot be checkpointed read the clock too often");
    return lost_.add(failed.job, failed.thread);
  }
  log_.complain(Verdict::safety, fmt::format("thread {} failed: {}", failed.thread.value(), failed.sentence));
}

void World::on_thread_started(SimulatedNode& node, const job::JobId& job, ThreadId thread, std::uint64_t epoch) {
  if (!is_trusted(job, thread)) return;
  budget_.on_started(job, thread, epoch);
  log_.complain(Verdict::safety, lives_.on_started(node.index(), job, thread, epoch));
}

bool World::is_trusted(const job::JobId& job, ThreadId thread) const {
  return byzantine_.empty() || (workload_.is_honest(job) && !tainted_.contains(job, thread));
}

// No complaint about a frame that a Byzantine home has caused: its hosts pass on what it says, and only its own program suffers. Nor about
// workers of a Byzantine peer, which do break rules.
void World::on_worker_misled(SimulatedNode& node, const job::JobId& job, const std::string& why) {
  if (byzantine_.contains(node.index())) return;
  if (faults_.any_rotted() && why.ends_with("is not there")) return;
  if (byzantine_.empty() || workload_.is_honest(job)) log_.complain(Verdict::safety, "a worker was told what breaks a rule: " + why);
}

Result<WorkerOutput> World::on_worker_output(SimulatedNode& node, WorkerOutput output) {
  const auto liar = byzantine_.find(node.index());
  Bytes frame;
  Bytes image;
  if (liar == byzantine_.end() || faults_.healed() || !liar->second.distort(output, frame, image)) return output;
  GW_TRY(wire::pb::FromWorker decoded, wire::decode_from_worker(frame, output.image.empty() ? 0 : 1));
  return WorkerOutput{std::move(decoded), std::move(image)};
}

std::vector<Bytes> World::distort(std::size_t from, const wire::pb::PeerMessage& message, Bytes encoded) {
  if (const auto saboteur = saboteurs_.find(from); saboteur != saboteurs_.end())
    return saboteur->second.replace(message, std::move(encoded));
  if (const auto stranger = strangers_.find(from); stranger != strangers_.end() && stranger->second.owns(message.job().job())) return {};
  if (const auto liar = byzantine_.find(from); liar != byzantine_.end() && !faults_.healed())
    return liar->second.distort(message, std::move(encoded));
  return {std::move(encoded)};
}

void World::watch(std::size_t from, std::size_t to, const job::Send& send, const Bytes& encoded) {
  if (scenario_.liars > 0) replay_as_byzantine(to, encoded);
  if (!send.message.has_job()) return;
  if (const auto stranger = strangers_.find(to); stranger != strangers_.end()) {
    const auto answers = stranger->second.hear(from, send.message.job());
    tell(to, answers);
    if (stranger->second.owns(send.message.job().job())) return;
  }
  log_.complain(Verdict::safety, searches_.on_sent(nodes_[from]->id(), send));
  if (!byzantine_.contains(from)) budget_.on_sent(send.message, encoded.size());
  for (const std::size_t node : {from, to})
    if (const auto liar = byzantine_.find(node); liar != byzantine_.end()) liar->second.learn(encoded);
  if (byzantine_.contains(from)) return;
  if (send.message.job().has_wounded()) watch_wounded(from, to, send.message.job());
  if (byzantine_.contains(to)) tainted_.on_sent(send.message);
  const auto job = std::ranges::find(workload_.jobs(), job::JobId::from(send.message.job().job()), &JobWorkload::Job::id);
  if (job != workload_.jobs().end() && job->honest)
    log_.complain(Verdict::safety, secrecy_.on_sent(nodes_[job->home]->id(), nodes_[from]->id(), send));
  if (job != workload_.jobs().end() && job->honest && scenario_.inputs > 0 && from == job->home && to != from)
    copies_.on_sent(send.message.job(), workload_.inputs());
  if (job != workload_.jobs().end() && job->honest && scenario_.members > 0 && !private_grid_.has_member(send.to))
    log_.complain(Verdict::safety, fmt::format("peer {} speaks of a job of a private grid to peer {}, who is not in it", from, to));
}

void World::watch_wounded(std::size_t from, std::size_t to, const job::JobMessage& message) {
  GW_REACHED("sim: held slots were taken away");
  if (is_honest(*nodes_[to])) log_.complain(Verdict::safety, GangChecker::on_wounded(*nodes_[to], *nodes_[from], message));
}

void World::on_turn(SimulatedNode& node) {
  log_.complain(Verdict::safety, check_slots(node.peer(), node.config()));
  log_.complain(Verdict::safety, check_storage(node));
  log_.complain(Verdict::safety, lending_.on_turn(timeline_.now(), node));
  if (scenario_.min_slots > 0 && is_honest(node))
    log_.complain(Verdict::safety, gangs_.on_turn(node, [this](const job::PeerId& peer) {
      const auto found = std::ranges::find_if(nodes_, [&](const auto& other) { return other->id() == peer; });
      return is_honest(**found) ? found->get() : nullptr;
    }));
}

// Owners come and go until everything is healed; then all machines are idle.
void World::let_owner_act(SimulatedNode& node) {
  const bool idle = faults_.healed() || byzantine_rng_.below(3) > 0;
  if (!idle) ++owner_returns_;
  const job::LendingConditions conditions{.owner_idle = idle ? Time(std::chrono::hours(1)) : Time(0), .known = true};
  if (node.up())
    node.call([conditions](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_local(now, peer::SetConditions{conditions}, out);
    });
  if (!workload_.all_over())
    timeline_.schedule_in(milliseconds(500 + static_cast<std::int64_t>(byzantine_rng_.below(8000))),
                          [this, &node] { let_owner_act(node); });
}

void World::let_strangers_speak() {
  if (strangers_.empty()) return;
  for (auto& [node, stranger] : strangers_) tell(node, stranger.speak());
  timeline_.schedule_in(milliseconds(500), [this] { let_strangers_speak(); });
}

void World::tell(std::size_t stranger, const std::vector<Stranger::Told>& messages) {
  if (!nodes_[stranger]->up()) return;
  for (const Stranger::Told& told : messages) {
    wire::pb::PeerMessage message;
    message.set_version(wire::kPeerProtocol);
    message.set_boot(nodes_[stranger]->boot_number());
    *message.mutable_job() = told.message;
    timeline_.schedule_in(milliseconds(1), [this, stranger, to = told.to, bytes = wire::encode(message).value()] {
      if (transport_.network().reachable(timeline_.now(), stranger, to)) transport_.deliver(stranger, to, bytes);
    });
  }
}

// A lying peer replays received messages in its own name; it also raises the epoch of effects, and changes the grid of overlay messages.
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

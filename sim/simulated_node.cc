#include "simulated_node.h"

#include <fmt/format.h>

#include "base/reached.h"

namespace gw::sim {
namespace {

using std::chrono::microseconds;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

// Gossip never ends and changes nothing durable: a crash after it is like a crash at any other time.
bool is_gossip(const job::Action& action) {
  const auto* send = std::get_if<job::Send>(&action);
  return send != nullptr && (send->message.has_overlay() || send->message.has_dial_back() || send->message.has_dialed_back());
}

}  // namespace

SimulatedNode::SimulatedNode(Setup setup, Timeline& timeline, RunLog& log, NodeEnvironment& environment)
    : setup_(std::move(setup)),
      id_{sha256(setup_.key)},
      timeline_(timeline),
      log_(log),
      environment_(environment),
      signer_(setup_.key),
      rng_(setup_.seed),
      workers_({.module = sha256(as_bytes(setup_.module)),
                .gate = setup_.gate,
                .is_flaky = setup_.is_flaky,
                .step = setup_.step,
                .clock = [this] { return local_time(); },
                .blob = [this](const Hash256& hash) { return read_blob(hash); },
                .deliver = [this](job::WorkerId worker, WorkerOutput output) { on_output(worker, std::move(output)); },
                .died =
                    [this](job::WorkerId worker, peer::WorkerDied death) {
                      call([worker, death = std::move(death)](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
                        peer.on_worker(now, worker, death, out);
                      });
                    },
                .restore_failed =
                    [this](job::WorkerId worker, peer::RestoreFailed failed) {
                      call([worker, failed = std::move(failed)](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
                        peer.on_worker(now, worker, failed, out);
                      });
                    },
                .misled = [this](const job::JobId& job, const std::string& why) { environment_.on_worker_misled(*this, job, why); },
                .started = [this](const job::JobId& job, ThreadId thread,
                                  std::uint64_t epoch) { environment_.on_thread_started(*this, job, thread, epoch); }},
               timeline, Rng(rng_.next())) {}

// --- start and crash

void SimulatedNode::boot() {
  ++boot_;
  log_.trace(index(), "boot");
  clock_offset_ = Time(rng_.below(1'000'000'000'000));
  drift_since_ = timeline_.now();
  peer_ = std::make_unique<peer::Peer>(setup_.config, peer::Peer::Identity{id_, setup_.key, boot_}, signer_, Rng(rng_.next()));
  std::vector<job::Action> out;
  const Status started = peer_->start(local_time(), disk_.stored(), out);
  if (!started) return log_.complain(Verdict::safety, "a peer cannot start again: " + started.error().detail);
  carry_out(std::move(out));
  if (up() && disk_.full_until() > timeline_.now()) tell_disk_room();
  if (up()) arm_tick();
}

void SimulatedNode::crash(CrashKind kind, Rng& rng) {
  GW_REACHED("sim: a peer was killed");
  log_.trace(index(), kind == CrashKind::power ? "power loss" : "kill");
  peer_.reset();
  workers_.kill_all();
  waiting_.clear();
  disk_.crash(kind, rng);
  tick_at_ = job::kNever;
  busy_until_ = Time(0);
  ++boot_;
}

void SimulatedNode::shut_down() {
  std::vector<job::Action> out;
  peer_->leave(local_time(), out);
  carry_out(std::move(out));
  while (!disk_.idle()) disk_.complete();
  Rng none(0);
  crash(CrashKind::kill, none);
}

// --- time

// Drift counts from the boot: a machine's clock starts again with each boot, and so does its error.
Time SimulatedNode::local_time() const {
  const Time since = timeline_.now() - drift_since_;
  return timeline_.now() + clock_offset_ + Time(since.count() / 1'000'000 * setup_.machine.drift_ppm);
}

Time SimulatedNode::world_time(Time local) const {
  const Time wait = local - local_time();
  return timeline_.now() + wait - Time(wait.count() / 1'000'000 * setup_.machine.drift_ppm);
}

void SimulatedNode::jump_clock(Time by) {
  GW_REACHED("sim: a clock jumped");
  log_.trace(index(), "clock jump");
  clock_offset_ += by;
  if (up()) arm_tick();
}

void SimulatedNode::set_machine(const Machine& machine) {
  clock_offset_ += local_time() - clock_offset_ - timeline_.now();
  drift_since_ = timeline_.now();
  setup_.machine = machine;
}

// Schedules a tick at the peer's next deadline, unless an earlier one is scheduled.
void SimulatedNode::arm_tick() {
  const Time deadline = peer_->next_deadline();
  if (deadline == job::kNever) return;
  const Time at = std::max(timeline_.now() + microseconds(100), world_time(deadline));
  if (tick_at_ <= at && tick_at_ > timeline_.now()) return;
  tick_at_ = at;
  timeline_.schedule(at, [this, boot = boot_, at] {
    if (boot_ != boot || tick_at_ != at) return;
    tick_at_ = job::kNever;
    call(boot, [](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_tick(now, out); });
  });
}

// --- inputs

void SimulatedNode::call(std::uint64_t boot, Call what, std::size_t bytes) {
  if (!up() || boot_ != boot) return;
  if (free_at() <= timeline_.now() && waiting_.empty()) return call_now({std::move(what), bytes});
  if (waiting_.empty()) timeline_.schedule(free_at(), [this, boot] { catch_up(boot); });
  waiting_.push_back({std::move(what), bytes});
}

void SimulatedNode::catch_up(std::uint64_t boot) {
  while (up() && boot_ == boot && !waiting_.empty()) {
    if (free_at() > timeline_.now()) return timeline_.schedule(free_at(), [this, boot] { catch_up(boot); });
    const Input input = std::move(waiting_.front());
    waiting_.pop_front();
    // Inputs that this input causes queue behind those that wait already.
    call_now(input);
  }
}

void SimulatedNode::call_now(const Input& input) {
  std::vector<job::Action> out;
  input.call(*peer_, local_time(), out);
  busy_until_ =
      timeline_.now() + setup_.machine.cpu_per_input + setup_.machine.cpu_per_kibibyte * static_cast<std::int64_t>(input.bytes) / 1024;
  carry_out(std::move(out));
  if (!up()) return;
  environment_.on_turn(*this);
  arm_tick();
}

void SimulatedNode::set_slots(std::uint32_t slots) {
  log_.trace(index(), "set slots");
  const auto take_effect = [this, slots](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
    setup_.config.slots.slots = slots;
    peer.on_local(now, peer::SetSlots{.slots = slots, .memory_bytes = setup_.config.memory_bytes, .vacate = {}}, out);
  };
  if (up()) return call(take_effect);
  setup_.config.slots.slots = slots;
}

// Joins an attachment for a worker. The peer is told which blobs are missing.
std::optional<std::string> SimulatedNode::read_blob(const Hash256& hash) {
  auto bytes = disk_.blob(hash);
  if (!bytes)
    timeline_.schedule_in(microseconds(100), [this, hash, boot = boot_] {
      call(boot, [hash](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_disk(now, peer::BlobLost{hash}, out); });
    });
  return bytes;
}

void SimulatedNode::fill_disk(Time lasts) {
  GW_REACHED("sim: a disk is full");
  log_.trace(index(), "disk full");
  disk_.fill(timeline_.now() + lasts);
  if (up()) tell_disk_room();
}

// Tells the peer that its disk is full, and later that there is room again.
void SimulatedNode::tell_disk_room() {
  const auto tell = [this](bool full) {
    call([full](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_disk(now, peer::DiskRoom{full}, out); });
  };
  tell(true);
  timeline_.schedule(disk_.full_until(), [this, tell, boot = boot_] {
    if (up() && boot_ == boot && disk_.full_until() <= timeline_.now()) tell(false);
  });
}

void SimulatedNode::on_output(job::WorkerId worker, WorkerOutput output) {
  auto passed = environment_.on_worker_output(*this, std::move(output));
  if (!passed) return workers_.crash(worker, passed.error().detail);
  const std::size_t bytes = passed->image.size();
  std::optional<job::NewImage> image;
  if (passed->frame.has_image()) {
    const auto owner = std::make_shared<const Bytes>(std::move(passed->image));
    auto checked = job::check_new_image(*owner, owner);
    if (!checked) return workers_.crash(worker, checked.error().detail);
    image = *std::move(checked);
  }
  call(
      [worker, frame = std::move(passed->frame), image](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
        peer.on_worker(now, worker, peer::WorkerFrame{frame, image}, out);
      },
      bytes);
}

void SimulatedNode::kill_worker() {
  if (const auto worker = workers_.any()) {
    log_.trace(index(), "worker crash");
    workers_.crash(*worker, "the simulation killed it");
  }
}

// --- actions

void SimulatedNode::carry_out(std::vector<job::Action> actions) {
  for (job::Action& action : actions) {
    const bool last = reaches_crash_point(action);
    carry_out(action);
    if (last) return environment_.on_crash_point(*this);
  }
}

bool SimulatedNode::reaches_crash_point(const job::Action& action) { return !is_gossip(action) && ++actions_ == crash_after_; }

void SimulatedNode::carry_out(job::Action& action) {
  std::visit(Overloaded{
                 [&](job::Send& what) { environment_.on_send(*this, std::move(what)); },
                 [&](job::Connect& what) { environment_.on_connect(*this, what.address); },
                 [&](job::DialBack& what) { environment_.on_dial_back(*this, what); },
                 [&](job::Publish&) {},  // each send names how the other side is reached
                 [&](job::Disconnect& what) { environment_.on_disconnect(*this, what.peer); },
                 [&](job::StartWorker& what) { workers_.start(what.worker, what.job); },
                 [&](job::PauseWorker& what) { workers_.pause(what.worker, what.paused); },
                 [&](job::KillWorker& what) { workers_.kill(what.worker, what.broken_rule); },
                 [&](job::FrameToWorker& what) { workers_.on_frame(what); },
                 [&](job::Notify& what) { environment_.on_event(*this, what.event); },
                 [&](auto& what) { to_disk(std::move(what)); },
             },
             action);
}

void SimulatedNode::to_disk(Disk::Operation operation) {
  const Time latency =
      microseconds(50) + Time(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(setup_.machine.disk.count()))));
  const Time done = disk_.submit(timeline_.now(), std::move(operation), latency);
  timeline_.schedule(done, [this, boot = boot_] {
    if (!up() || boot_ != boot) return;
    if (const auto told = disk_.complete())
      call(boot, [told](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_disk(now, *told, out); });
  });
}

}  // namespace gw::sim

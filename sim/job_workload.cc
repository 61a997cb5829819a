#include "job_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/reached.h"
#include "graph_workload.h"
#include "job/records.h"

namespace gw::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// The encoded segments, a few rows in each, so that hosts need several.
std::vector<std::string> add_segments(const std::vector<wire::pb::TaskRow>& rows, wire::pb::Manifest::TaskArray& array) {
  constexpr std::size_t kRows = 7;
  array.mutable_values()->set_has_rows(true);
  array.mutable_values()->add_columns("");
  std::vector<std::string> segments;
  for (std::size_t first = 0; first < rows.size(); first += kRows) {
    wire::pb::TaskRows segment;
    for (std::size_t i = first; i < std::min(rows.size(), first + kRows); ++i) *segment.add_rows() = rows[i];
    segments.push_back(segment.SerializeAsString());
    array.add_segments()->set_hash(wire::bytes_of(sha256(as_bytes(segments.back()))));
    array.mutable_segments()->rbegin()->set_rows(static_cast<std::uint32_t>(segment.rows_size()));
  }
  return segments;
}

}  // namespace

SigningKey key_of(std::uint64_t number) {
  ByteWriter writer;
  writer.u64(number);
  return SigningKey(sha256(writer.take()).bytes);
}

JobWorkload::JobWorkload(const Scenario& scenario, std::uint64_t seed, std::optional<peer::GridId> grid, Nodes& nodes, Timeline& timeline)
    : scenario_(scenario),
      seed_(seed),
      grid_(grid),
      nodes_(nodes),
      timeline_(timeline),
      rng_(Rng(seed * 1000003 + 1).next()),
      module_(fmt::format("module of seed {}", seed)) {
  for (std::uint32_t i = 0; i < scenario.inputs; ++i) inputs_.push_back(fmt::format("input {} of seed {}", i, seed));
  for (std::size_t home = 0; home < scenario.jobs; ++home) jobs_.push_back(make_job(home, true));
  for (std::size_t home = scenario.jobs; home < scenario.peers; ++home)
    if (scenario.is_byzantine(home)) jobs_.push_back(make_job(home, false));
}

GuestState JobWorkload::make_program() {
  constexpr std::uint64_t kForks = 2;
  GuestState beginning{.program = rng_.next(), .steps = 1 + rng_.below(scenario_.steps)};
  beginning.forks_left = scenario_.pure || scenario_.childless || scenario_.rigid ? 0 : kForks;
  beginning.rigid = scenario_.rigid ? 1 : 0;
  beginning.pure = scenario_.pure ? 1 : 0;
  beginning.reads = scenario_.input ? 1 : 0;
  if (scenario_.rounds > 0) {
    constexpr std::uint64_t kStepsPerRound = 8;
    beginning.steps = kStepsPerRound * scenario_.rounds;
    beginning.mates = scenario_.tasks;
  }
  return beginning;
}

JobWorkload::Job JobWorkload::make_job(std::size_t home, bool honest) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(wire::bytes_of(sha256(as_bytes(module_))));
  manifest.mutable_module()->set_size(module_.size());
  manifest.mutable_module()->add_chunks(manifest.module().hash());
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  for (const std::string& content : inputs_) {
    wire::pb::InputEntry& entry = *manifest.mutable_config()->add_inputs();
    entry.set_path(fmt::format("in/{}", manifest.config().inputs_size()));
    entry.set_size(content.size());
    entry.add_chunks(wire::bytes_of(sha256(as_bytes(content))));
  }
  manifest.set_standard_input(scenario_.input);
  manifest.mutable_policy()->set_slots(scenario_.wanted_slots);
  const bool too_large = scenario_.too_large && home + 1 == scenario_.jobs;
  manifest.mutable_policy()->set_min_slots(scenario_.min_slots);
  if (too_large) {
    manifest.mutable_policy()->set_min_slots(scenario_.peers * scenario_.slots + 1);
    manifest.mutable_policy()->set_slots(manifest.policy().min_slots());
  }
  if (scenario_.loss_policies) manifest.mutable_policy()->set_on_failure(static_cast<wire::pb::Manifest::Policy::OnFailure>(home % 3));
  if (scenario_.places) manifest.mutable_policy()->set_place(static_cast<wire::pb::Manifest::Policy::Placing>(jobs_.size() % 3));
  manifest.mutable_policy()->set_retries(scenario_.retries);
  manifest.mutable_policy()->set_stop_after_failures(scenario_.stop_after);
  manifest.mutable_policy()->set_promote_after_ns(static_cast<std::uint64_t>(scenario_.promote_after.count()));
  manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(scenario_.checkpoint_every.count()));
  std::vector<wire::pb::TaskRow> rows(scenario_.tasks);
  for (wire::pb::TaskRow& row : rows) {
    row.add_values(encode_program(make_program()));
    if (!scenario_.rows) manifest.mutable_config()->add_args(row.values(0));
  }
  manifest.mutable_array()->set_count(static_cast<std::uint32_t>(scenario_.tasks));
  std::vector<std::string> segments;
  if (scenario_.graph) draw_graph(rng_, rows, *manifest.mutable_array());
  if (scenario_.rows) {
    manifest.mutable_config()->add_args("{}");
    segments = add_segments(rows, *manifest.mutable_array());
  }
  Job job{
      .home = home, .honest = honest, .too_large = too_large, .manifest = job::Manifest::encode(manifest), .segments = std::move(segments)};
  wire::pb::JobCharter charter;
  charter.set_nonce(seed_ * 1000 + home);
  charter.set_first_home(wire::bytes_of(sha256(key_of(home).public_key())));
  charter.set_manifest(wire::bytes_of(sha256(job.manifest)));
  if (grid_ && honest) charter.set_grid(wire::bytes_of(grid_->hash));
  job.charter = job::Charter::sign(charter, key_of(scenario_.users ? ~seed_ - home : ~seed_));
  job.id = {sha256(job.charter)};
  const job::Manifest checked = job::Manifest::check(job.manifest).value();
  std::vector<std::string> files;
  for (std::uint32_t task = 0; task < scenario_.tasks; ++task) {
    const wire::pb::TaskRow row = with_files(rows[task], files);
    const GuestState beginning = decode_program(checked.config_of(task, scenario_.rows ? &row : nullptr).value());
    files.push_back(file_content(end_state(beginning)));
    job.steps += expected_effects(checked.thread_of(task), beginning, job.expected);
    if (scenario_.rigid && clock_readings(beginning) >= kRigidDeterminants) job.may_be_exhausted.insert(checked.thread_of(task));
  }
  return job;
}

void JobWorkload::submit_all(Time at) {
  for (const Job& job : jobs_) {
    // Gangs differ in age.
    const Time later = scenario_.min_slots > 0 ? Time(rng_.below(4'000'000'000)) : Time(0);
    timeline_.schedule(at + later, [this, &job] { submit(job); });
  }
}

void JobWorkload::cancel_all(Time at) {
  for (const Job& job : jobs_) timeline_.schedule(at, [this, &job] { cancel(job); });
}

bool JobWorkload::is_honest(const job::JobId& id) const {
  return std::ranges::any_of(jobs_, [&](const Job& job) { return job.id == id && job.honest; });
}

bool JobWorkload::may_be_exhausted(const job::JobId& id, ThreadId thread) const {
  return std::ranges::any_of(jobs_, [&](const Job& job) { return job.id == id && job.may_be_exhausted.contains(thread); });
}

std::uint64_t JobWorkload::steps() const {
  std::uint64_t steps = 0;
  for (const Job& job : jobs_) steps += job.steps;
  return steps;
}

void JobWorkload::cancel_dishonest() {
  for (const Job& job : jobs_)
    if (!job.honest) cancel(job);
}

void JobWorkload::cancel_too_large() {
  for (const Job& job : jobs_)
    if (job.too_large) cancel(job);
}

void JobWorkload::give_up(std::size_t home) { without_home_.insert(home); }

void JobWorkload::submit(const Job& job) {
  SimulatedNode& home = *nodes_[job.home];
  if (stopped_ || without_home_.contains(job.home)) return;
  if (home.up() && !home.peer().homes().contains(job.id) && !over(job)) {
    home.call([this, &job](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_local(now, peer::Upload{{sha256(as_bytes(module_)), module_}}, out);
      for (const std::string& content : inputs_) peer.on_local(now, peer::Upload{{sha256(as_bytes(content)), content}}, out);
      for (const std::string& segment : job.segments) peer.on_local(now, peer::Upload{{sha256(as_bytes(segment)), segment}}, out);
    });
    timeline_.schedule_in(milliseconds(300), [&home, &job, boot = home.boot_number()] {
      home.call(boot, [&job](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
        peer.on_local(now, peer::Submit{job.charter, job.manifest}, out);
      });
    });
  }
  timeline_.schedule_in(seconds(1), [this, &job] { submit(job); });
}

// A user who types: answers after a while, and again if home lost the piece before it was recorded, because home then asks again.
void JobWorkload::on_input_wanted(SimulatedNode& home, const job::InputWanted& wanted) {
  timeline_.schedule_in(milliseconds(1 + static_cast<std::int64_t>(rng_.below(400))), [&home, wanted, boot = home.boot_number()] {
    home.call(boot, [wanted](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_local(now, peer::SupplyInput{wanted.job, wanted.piece, input_piece(wanted.piece)}, out);
    });
  });
}

void JobWorkload::cancel(const Job& job) {
  SimulatedNode& home = *nodes_[job.home];
  if (stopped_ || over(job)) return;
  if (home.up() && home.peer().homes().contains(job.id))
    home.call([&job](peer::Peer& peer, Time now, std::vector<job::Action>& out) { peer.on_local(now, peer::Cancel{job.id}, out); });
  timeline_.schedule_in(seconds(1), [this, &job] { cancel(job); });
}

void JobWorkload::suspend_all(Time at, Time until) {
  for (const Job& job : jobs_) timeline_.schedule(at, [this, &job, until] { suspend_or_resume(job, until); });
}

// A request at the wrong time is refused without effect.
void JobWorkload::suspend_or_resume(const Job& job, Time until) {
  SimulatedNode& home = *nodes_[job.home];
  if (stopped_ || over(job)) return;
  const bool suspend = timeline_.now() < until && rng_.below(2) == 0;
  if (home.up() && home.peer().homes().contains(job.id))
    home.call([&job, suspend](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      if (suspend) {
        peer.on_local(now, peer::SuspendJob{job.id}, out);
      } else {
        peer.on_local(now, peer::ResumeJob{job.id}, out);
      }
    });
  timeline_.schedule_in(milliseconds(500 + static_cast<std::int64_t>(rng_.below(3000))),
                        [this, &job, until] { suspend_or_resume(job, until); });
}

bool JobWorkload::over(const Job& job) const {
  if (without_home_.contains(job.home)) return true;
  const std::uint64_t changes = nodes_[job.home]->disk().changes() + 1;
  Seen& seen = seen_[job.id];
  if (seen.changes != changes) seen = {changes, is_recorded_as_over(job)};
  return seen.over;
}

std::optional<wire::pb::JobRecord> JobWorkload::record_of(const Job& job) const {
  const auto& records = nodes_[job.home]->disk().records();
  const auto found = records.find(job::RecordKey{.kind = job::RecordKind::job, .job = job.id}.encode());
  wire::pb::JobRecord record;
  if (found == records.end() || !record.ParseFromString(found->second)) return std::nullopt;
  return record;
}

bool JobWorkload::is_recorded_as_over(const Job& job) const {
  const auto record = record_of(job);
  return record && record->state() != wire::pb::JobRecord::RUNNING;
}

// The home of the job has found a record or a part of the output damaged, and says so.
bool JobWorkload::was_given_up(const Job& job) const {
  const auto record = record_of(job);
  if (!scenario_.bad_records || !record || record->sentence().find("damaged") == std::string::npos) return false;
  GW_REACHED("sim: a job has ended because a record was damaged");
  return true;
}

// A job that lost a host, and may not replace it.
bool JobWorkload::was_stopped(const Job& job) const {
  const auto record = record_of(job);
  if (!scenario_.loss_policies || !record || record->sentence().empty()) return false;
  GW_REACHED("sim: a job has ended because a host was lost");
  return true;
}

bool JobWorkload::all_over() const {
  return std::ranges::all_of(jobs_, [&](const Job& job) { return over(job) || !job.honest || job.too_large; });
}

bool JobWorkload::must_be_right(const Job& job) const { return !without_home_.contains(job.home) && job.honest && !was_given_up(job); }

Complaint JobWorkload::check_stopped(const Job& job) const {
  using Policy = wire::pb::Manifest::Policy;
  const auto record = record_of(job);
  if (job.too_large && record && record->ended() + record->failed() > 0) return "a gang that needs more slots than there are has begun";
  if (!scenario_.loss_policies || !record) return "";
  const bool has_words = record->on_failure() == Policy::CANCEL   ? record->sentence().find("--on-failure is cancel") != std::string::npos
                         : record->on_failure() == Policy::IGNORE ? record->sentence().find("--on-failure ignore") != std::string::npos
                                                                  : false;
  if (record->sentence().empty() || has_words) return "";
  return fmt::format("a job whose policy is {} ended with '{}'", static_cast<int>(record->on_failure()), record->sentence());
}

std::vector<job::ThreadFailed> JobWorkload::failed_threads() const {
  std::vector<job::ThreadFailed> failed;
  for (const Job& job : jobs_)
    if (must_be_right(job))
      for (const auto& [thread, sentence] : sim::failed_threads(nodes_[job.home]->disk().output(job.id)))
        failed.push_back({job.id, thread, sentence});
  return failed;
}

Complaint JobWorkload::check_results(const TaintedThreads& tainted) const {
  for (const Job& job : jobs_) {
    if (!must_be_right(job)) continue;
    // A job that stopped has tasks that never ran.
    const bool stopped = scenario_.stop_after > 0 || was_stopped(job) || job.too_large;
    if (Complaint wrong = check_stopped(job); !wrong.empty()) return wrong;
    const std::vector<job::EffectEntry>& output = nodes_[job.home]->disk().output(job.id);
    const job::Manifest manifest = job::Manifest::check(job.manifest).value();
    const job::TaskSet skipped = skipped_tasks(output);
    const auto excused = [&](ThreadId thread) {
      const auto task = job::task_of_thread(thread, manifest.tasks());
      return stopped || tainted.contains(job.id, thread) || (task && skipped.contains(*task));
    };
    if (Complaint wrong = manifest.graph() ? check_graph(output, manifest) : Complaint(); !wrong.empty()) return wrong;
    if (Complaint wrong = sim::check_results(output, job.expected, excused); !wrong.empty()) return wrong;
    if (Complaint wrong = check_failures(output, {scenario_.retries, scenario_.stop_after}); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace gw::sim

#include "job_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/records.h"

namespace gw::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

SigningKey key_of(std::uint64_t number) {
  ByteWriter writer;
  writer.u64(number);
  return SigningKey(sha256(writer.take()).bytes);
}

JobWorkload::JobWorkload(const Scenario& scenario, std::uint64_t seed, Nodes& nodes, Timeline& timeline)
    : scenario_(scenario),
      seed_(seed),
      nodes_(nodes),
      timeline_(timeline),
      rng_(Rng(seed * 1000003 + 1).next()),
      module_(fmt::format("module of seed {}", seed)) {
  for (std::size_t home = 0; home < scenario.jobs; ++home) jobs_.push_back(make_job(home));
}

JobWorkload::Job JobWorkload::make_job(std::size_t home) {
  constexpr std::uint64_t kForks = 2;
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(wire::bytes_of(sha256(as_bytes(module_))));
  manifest.mutable_module()->set_size(module_.size());
  manifest.mutable_module()->add_chunks(manifest.module().hash());
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.set_standard_input(scenario_.input);
  manifest.mutable_policy()->set_slots(scenario_.wanted_slots);
  manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(scenario_.checkpoint_every.count()));
  for (std::uint32_t task = 0; task < scenario_.tasks; ++task) {
    GuestState beginning{.program = rng_.next(), .steps = 1 + rng_.below(scenario_.steps)};
    beginning.forks_left = scenario_.pure ? 0 : kForks;
    beginning.pure = scenario_.pure ? 1 : 0;
    beginning.reads = scenario_.input ? 1 : 0;
    manifest.add_tasks()->add_args(encode_program(beginning));
  }
  Job job{.home = home, .manifest = job::Manifest::encode(manifest)};
  wire::pb::JobCharter charter;
  charter.set_nonce(seed_ * 1000 + home);
  charter.set_first_home(wire::bytes_of(sha256(key_of(home).public_key())));
  charter.set_manifest(wire::bytes_of(sha256(job.manifest)));
  job.charter = job::Charter::sign(charter, key_of(~seed_));
  job.id = {sha256(job.charter)};
  const job::Manifest checked = job::Manifest::check(job.manifest).value();
  for (std::uint32_t task = 0; task < scenario_.tasks; ++task)
    expected_effects(checked.thread_of(task), decode_program(checked.config_of(task)), job.expected);
  return job;
}

void JobWorkload::submit_all(Time at) {
  for (const Job& job : jobs_) timeline_.schedule(at, [this, &job] { submit(job); });
}

void JobWorkload::cancel_all(Time at) {
  for (const Job& job : jobs_) timeline_.schedule(at, [this, &job] { cancel(job); });
}

void JobWorkload::give_up(std::size_t home) { without_home_.insert(home); }

void JobWorkload::submit(const Job& job) {
  SimulatedNode& home = *nodes_[job.home];
  if (stopped_ || without_home_.contains(job.home)) return;
  if (home.up() && !home.peer().homes().contains(job.id) && !over(job)) {
    home.call([this](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
      peer.on_local(now, peer::Upload{{sha256(as_bytes(module_)), module_}}, out);
    });
    timeline_.schedule_in(milliseconds(300), [&home, &job, boot = home.boot_number()] {
      home.call(boot, [&job](peer::Peer& peer, Time now, std::vector<job::Action>& out) {
        peer.on_local(now, peer::Submit{job.charter, job.manifest}, out);
      });
    });
  }
  timeline_.schedule_in(seconds(1), [this, &job] { submit(job); });
}

// A person who types: after a while, and again if home has lost it before it was written down, because home then asks again.
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

bool JobWorkload::over(const Job& job) const {
  if (without_home_.contains(job.home)) return true;
  const auto& records = nodes_[job.home]->disk().records();
  const auto found = records.find(job::RecordKey{.kind = job::RecordKind::job, .job = job.id}.encode());
  wire::pb::JobRecord record;
  return found != records.end() && record.ParseFromString(found->second) && record.state() != wire::pb::JobRecord::RUNNING;
}

bool JobWorkload::all_over() const {
  return std::ranges::all_of(jobs_, [&](const Job& job) { return over(job); });
}

Complaint JobWorkload::check_results() const {
  for (const Job& job : jobs_) {
    if (without_home_.contains(job.home)) continue;
    if (Complaint wrong = sim::check_results(nodes_[job.home]->disk().output(job.id), job.expected); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace gw::sim

// The jobs of a world: what they are, and what must have come of them.

#include <fmt/format.h>

#include "base/reached.h"
#include "job/records.h"
#include "world.h"

namespace gw::sim {

using std::chrono::seconds;

SigningKey key_of(std::uint64_t number) {
  ByteWriter writer;
  writer.u64(number);
  return SigningKey(sha256(writer.take()).bytes);
}

World::Job World::make_job(std::size_t home, std::uint64_t seed) {
  constexpr std::uint64_t kForks = 2;
  wire::pb::Manifest manifest;
  manifest.set_nonce(seed * 1000 + home);
  manifest.mutable_module()->set_hash(wire::bytes_of(sha256(as_bytes(module_))));
  manifest.mutable_module()->set_size(module_.size());
  manifest.mutable_module()->add_chunks(manifest.module().hash());
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(scenario_.wanted_slots);
  manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(scenario_.checkpoint_every.count()));
  for (std::uint32_t task = 0; task < scenario_.tasks; ++task) {
    GuestState beginning{.program = world_rng_.next(), .steps = 1 + world_rng_.below(scenario_.steps)};
    beginning.forks_left = scenario_.pure ? 0 : kForks;
    beginning.pure = scenario_.pure ? 1 : 0;
    manifest.add_tasks()->add_args(encode_program(beginning));
  }
  Job job{.home = home, .manifest = job::Manifest::sign(manifest, key_of(~seed))};
  const job::Manifest checked = job::Manifest::check(job.manifest).value();
  job.id = checked.id();
  for (std::uint32_t task = 0; task < scenario_.tasks; ++task)
    expected_effects(checked.thread_of(task), decode_program(checked.config_of(task)), job.expected);
  return job;
}

// As a person would: again, if the peer says nothing or was restarted without knowing the job.
void World::submit(const Job& job) {
  Node& home = *nodes_[job.home];
  if (over_ || home.permanently_dead) return;
  if (home.peer != nullptr && !home.peer->homes().contains(job.id) && !over(job)) {
    call(job.home, home.boot, [this](Node& node, Time now, std::vector<job::Action>& out) {
      node.peer->on_local(now, peer::Upload{{sha256(as_bytes(module_)), module_}}, out);
    });
    schedule(now_ + std::chrono::milliseconds(300), [this, &job, boot = home.boot] {
      call(job.home, boot,
           [&job](Node& node, Time now, std::vector<job::Action>& out) { node.peer->on_local(now, peer::Submit{job.manifest}, out); });
    });
  }
  schedule(now_ + seconds(1), [this, &job] { submit(job); });
}

void World::cancel(const Job& job) {
  Node& home = *nodes_[job.home];
  if (over_ || over(job)) return;
  if (home.peer != nullptr && home.peer->homes().contains(job.id))
    call(job.home, home.boot,
         [&job](Node& node, Time now, std::vector<job::Action>& out) { node.peer->on_local(now, peer::Cancel{job.id}, out); });
  schedule(now_ + seconds(1), [this, &job] { cancel(job); });
}

bool World::over(const Job& job) const {
  if (nodes_[job.home]->permanently_dead) return true;
  const auto& records = nodes_[job.home]->disk.records();
  const auto found = records.find(job::RecordKey{.kind = job::RecordKind::job, .job = job.id}.encode());
  wire::pb::JobRecord record;
  return found != records.end() && record.ParseFromString(found->second) && record.state() != wire::pb::JobRecord::RUNNING;
}

bool World::all_over() const {
  return std::ranges::all_of(jobs_, [&](const Job& job) { return over(job); });
}

void World::check_end() {
  for (const Job& job : jobs_)
    if (!scenario_.cancelled && !nodes_[job.home]->permanently_dead)
      complain(Verdict::safety, check_results(nodes_[job.home]->disk.records(), job.id, job.expected));
  for (const auto& node : nodes_)
    if (!node->permanently_dead) complain(Verdict::safety, check_leaks(*node->peer, scenario_.slots, node->disk.blobs()));
}

}  // namespace gw::sim

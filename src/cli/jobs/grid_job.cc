#include "cli/jobs/grid_job.h"

#include <fmt/core.h>

#include <random>

#include "job/authority/charter.h"
#include "job/authority/manifest.h"

namespace gw::cli {
namespace {

// Only the peer knows what a private grid is called on this machine.
Result<std::optional<wire::GridId>> grid_called(const std::string& name, gateway::Client& client) {
  if (name.empty()) return std::optional<wire::GridId>();
  GW_TRY(const auto grids, client.grids());
  for (const node::GridView& grid : grids)
    if (grid.name == name) return std::optional(grid.id);
  return fail(Kind::not_found, "this machine is not in grid '{}': list its grids with 'godwit grid list'", name);
}

}  // namespace

wire::pb::Manifest to_manifest(const GridJob& job) {
  wire::pb::Manifest manifest;
  *manifest.mutable_module() = job::Manifest::describe(job.module);
  *manifest.mutable_config() = job.config;
  for (const wire::pb::InputEntry& entry : job.inputs.entries()) *manifest.mutable_config()->add_inputs() = entry;
  if (job.tasks) manifest.mutable_array()->set_count(*job.tasks);
  if (job.image) *manifest.mutable_image() = job::Manifest::describe(job.image->encoded());
  manifest.set_standard_input(job.input.has_value());
  wire::pb::Manifest::Policy& policy = *manifest.mutable_policy();
  policy.set_slots(job.workers);
  policy.set_checkpoint_every_ns(job.checkpoint_every_ns);
  policy.set_max_failures(kMaxFailures);
  policy.set_promote_after_ns(static_cast<std::uint64_t>(job.promote_after.count()));
  *policy.mutable_limits() = job.limits;
  return manifest;
}

Result<job::JobId> submit(gateway::Client& client, const GridJob& job, const SigningKey& key,
                          const std::function<void(std::uint64_t)>& stored) {
  std::random_device entropy;
  GW_TRY(const std::optional<wire::GridId> grid, grid_called(job.grid, client));
  const Bytes manifest = job::Manifest::encode(to_manifest(job));
  GW_TRY_VOID(job::Manifest::check(manifest));  // what is wrong is said before anything is sent
  GW_TRY(const node::NodeView node, client.node());
  wire::pb::JobCharter charter;
  charter.set_nonce(std::uint64_t{entropy()} << 32 | entropy());
  charter.set_first_home(node.id.bytes());
  if (grid) charter.set_grid(grid->bytes());
  charter.set_manifest(wire::bytes_of(sha256(manifest)));
  std::uint64_t sent = 0;
  for (const ByteView file : {ByteView(job.module), job.image ? job.image->encoded() : ByteView()}) {
    for (const ByteView piece : job::Manifest::pieces_of(file)) {
      GW_TRY_VOID(client.store_blob(piece));
      stored(sent += piece.size());
    }
  }
  for (const Hash256& chunk : job.inputs.chunks()) {
    GW_TRY(const Bytes piece, job.inputs.read_chunk(chunk));
    GW_TRY_VOID(client.store_blob(piece));
    stored(sent += piece.size());
  }
  return client.submit(job::Charter::sign(std::move(charter), key), manifest);
}

}  // namespace gw::cli

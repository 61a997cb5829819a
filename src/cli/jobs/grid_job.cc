#include "cli/jobs/grid_job.h"

#include <fmt/core.h>

#include <random>

#include "cli/jobs/job_selector.h"
#include "job/authority/charter.h"
#include "job/authority/manifest.h"

namespace gw::cli {
namespace {

// Only the peer knows what a private grid is called on this machine.
// A job is signed for one grid, also if its user names none: lenders decide by it.
Result<std::optional<wire::GridId>> grid_called(const std::string& name, gateway::Client& client) {
  GW_TRY(const auto grids, client.grids());
  if (name.empty()) return grids.empty() ? std::optional<wire::GridId>() : std::optional(grids.front().id);
  for (const node::GridView& grid : grids)
    if (grid.name == name) return std::optional(grid.id);
  return fail(Kind::not_found, "this machine is not in grid '{}': list its grids with 'godwit grid list'", name);
}

Status add_predecessors(const std::vector<std::string>& names, gateway::Client& client, wire::pb::Manifest& manifest) {
  if (names.empty()) return ok();
  GW_TRY(const auto jobs, client.jobs());
  for (const std::string& name : names) {
    GW_TRY(const job::JobId id, find_job(name, jobs));
    manifest.mutable_policy()->add_after(id.bytes());
  }
  return ok();
}

}  // namespace

wire::pb::Manifest to_manifest(const GridJob& job) {
  wire::pb::Manifest manifest;
  *manifest.mutable_module() = job::Manifest::describe(job.module);
  *manifest.mutable_config() = job.config;
  for (const wire::pb::InputEntry& entry : job.inputs.entries()) *manifest.mutable_config()->add_inputs() = entry;
  if (job.stdin_file) *manifest.mutable_config()->mutable_standard_input() = *job.stdin_file;
  if (job.sweep) {
    *manifest.mutable_array() = job.sweep->array();
    if (job.sweep->standard_input()) *manifest.mutable_config()->mutable_standard_input() = *job.sweep->standard_input();
  }
  if (job.image) *manifest.mutable_image() = job::Manifest::describe(job.image->encoded());
  manifest.set_standard_input(job.input.has_value());
  wire::pb::Manifest::Policy& policy = *manifest.mutable_policy();
  policy.set_slots(job.workers);
  policy.set_priority(job.priority);
  write(job.placing, policy);
  policy.set_checkpoint_every_ns(job.checkpoint_every_ns);
  policy.set_max_failures(kMaxFailures);
  policy.set_retries(job.retries);
  policy.set_stop_after_failures(job.stop_after_failures);
  manifest.set_name(job.name);
  policy.set_promote_after_ns(static_cast<std::uint64_t>(job.promote_after.count()));
  policy.set_no_prefetch(!job.prefetch);
  *policy.mutable_limits() = job.limits;
  return manifest;
}

Result<job::JobId> submit(gateway::Client& client, wire::pb::JobSubmission submission, const std::string& grid_name,
                          const std::string& job_key, const SigningKey& key) {
  std::random_device entropy;
  GW_TRY(const std::optional<wire::GridId> grid, grid_called(grid_name, client));
  GW_TRY(const node::NodeView node, client.node());
  wire::pb::JobCharter charter;
  charter.set_nonce(job_key.empty() ? std::uint64_t{entropy()} << 32 | entropy() : job::nonce_of_key(job_key));
  charter.set_key(job_key);
  charter.set_first_home(node.id.bytes());
  if (grid) charter.set_grid(grid->bytes());
  charter.set_manifest(wire::bytes_of(sha256(as_bytes(submission.manifest()))));
  submission.set_charter(std::string(as_text(job::Charter::sign(std::move(charter), key))));
  return client.submit(submission);
}

Result<job::JobId> submit(gateway::Client& client, const GridJob& job, const SigningKey& key,
                          const std::function<void(std::uint64_t)>& stored) {
  GW_TRY_VOID(grid_called(job.grid, client));
  wire::pb::Manifest content = to_manifest(job);
  GW_TRY_VOID(add_predecessors(job.after, client, content));
  GW_TRY_VOID(job::Manifest::check(job::Manifest::encode(content)));  // what is wrong is said before anything is fetched
  GW_TRY(const std::vector<wire::pb::InputEntry> fetched, fetch_urls(client, job.urls, stored));
  for (const wire::pb::InputEntry& entry : fetched) *content.mutable_config()->add_inputs() = entry;
  const Bytes manifest = job::Manifest::encode(content);
  GW_TRY_VOID(job::Manifest::check(manifest));  // what is wrong is said before anything is sent
  std::uint64_t sent = 0;
  for (const ByteView file : {ByteView(job.module), job.image ? job.image->encoded() : ByteView()}) {
    for (const ByteView piece : job::Manifest::pieces_of(file)) {
      GW_TRY_VOID(client.store_blob(piece));
      stored(sent += piece.size());
    }
  }
  wire::pb::JobSubmission submission;
  submission.set_manifest(std::string(as_text(manifest)));
  const bool has_rows = job.sweep && !job.sweep->segments().empty();
  for (const Hash256& chunk : job.inputs.chunks()) {
    GW_TRY(const Bytes piece, job.inputs.read_chunk(chunk));
    GW_TRY_VOID(client.store_blob(piece));
    stored(sent += piece.size());
    if (has_rows) submission.mutable_row_inputs()->append(wire::bytes_of(chunk));
  }
  if (has_rows)
    for (const std::string& segment : job.sweep->segments()) {
      GW_TRY_VOID(client.store_blob(as_bytes(segment)));
      stored(sent += segment.size());
    }
  return submit(client, std::move(submission), job.grid, job.key, key);
}

}  // namespace gw::cli

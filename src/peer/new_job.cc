#include "peer/new_job.h"

namespace gw::peer {
namespace {

Error taken(const std::string& key, const job::JobId& job) {
  return fail(Kind::invalid, "the key '{}' belongs to job {}, which has another program, other inputs or other options: use another key",
              key, job.brief());
}

Status check_key(const JobsHere& jobs, const job::Charter& charter) {
  if (charter.key().empty()) return ok();
  for (const auto& [id, home] : jobs.homes)
    if (home->charter().key() == charter.key() && home->charter().submitter() == charter.submitter()) return taken(charter.key(), id);
  for (const auto& [id, record] : jobs.past.all())
    if (record.key() == charter.key() && record.submitter() == wire::bytes_of(charter.submitter())) return taken(charter.key(), id);
  return ok();
}

}  // namespace

Status check_new_job(const JobsHere& jobs, const job::Charter& charter, const job::Manifest& manifest) {
  GW_TRY_VOID(check_key(jobs, charter));
  if (jobs.homes.size() >= jobs.most)
    return fail(Kind::overloaded, "this peer has {} jobs, which is its limit: wait for one to end", jobs.homes.size());
  for (const std::string& bytes : manifest.content().policy().after()) {
    const job::JobId job = job::JobId::from(bytes);
    if (!jobs.homes.contains(job) && jobs.past.find(job) == nullptr)
      return fail(Kind::not_found, "job {}, which the new job is to follow, is not known at this peer", job.brief());
  }
  return ok();
}

std::string describe_grid(const std::optional<GridId>& grid) {
  return grid ? fmt::format("grid {}", grid->brief()) : "the grid of jobs that name none";
}

namespace {

Error not_in_grid(const Grids& grids, const std::optional<GridId>& grid) {
  if (grids.is_damaged(grid))
    return fail(Kind::not_found, "the record of {} is damaged on this disk: join that grid again, or name another grid",
                describe_grid(grid));
  if (grid)
    return fail(Kind::not_found, "this peer is not in {}, where the job is to run: submit it to one that is, or name another grid",
                describe_grid(grid));
  return fail(Kind::not_found, "this peer is in no grid, and the job names none: join one with 'godwit grid join NAME'");
}

}  // namespace

Result<Submission> check_submission(const JobsHere& here, ByteView charter_bytes, ByteView manifest_bytes, ByteView row_inputs) {
  GW_TRY(job::Charter charter, job::Charter::check(charter_bytes));
  if (charter.first_home() != here.self)
    return fail(Kind::invalid, "the charter names peer {} as the home of the job, and this is {}: submit it there, or sign another charter",
                charter.first_home().brief(), here.self.brief());
  if (charter.manifest() != sha256(manifest_bytes)) return fail(Kind::invalid, "the manifest is not the one that the charter names");
  GW_TRY(job::Manifest manifest, job::Manifest::check(manifest_bytes));
  GW_TRY_VOID(check_new_job(here, charter, manifest));
  if (here.grids.of(charter.grid()) == nullptr) return not_in_grid(here.grids, charter.grid());
  GW_TRY(std::vector<Hash256> blobs, job::blobs_of_job(manifest, as_text(row_inputs)));
  GW_TRY_VOID(here.uploads.check_stored(blobs));
  return Submission{std::move(charter), std::move(manifest), std::move(blobs)};
}

}  // namespace gw::peer

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

}  // namespace gw::peer

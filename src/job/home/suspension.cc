#include "job/home/suspension.h"

#include "base/reached.h"
#include "job/records.h"

namespace gw::job {
namespace {

std::string suspension_key(const JobId& job) { return RecordKey{.kind = RecordKind::suspension, .job = job}.encode(); }

}  // namespace

Status Suspension::begin(Actions& out) {
  if (reached()) return fail(Kind::invalid, "the job is suspended already: resume it with 'godwit job resume'");
  if (wanted()) return fail(Kind::invalid, "the job is being suspended: its threads save their last images");
  GW_REACHED("home: a job is being suspended");
  state_ = State::wanted;
  out.record(suspension_key(job_), "");
  return ok();
}

Status Suspension::end(Actions& out) {
  if (!wanted()) return fail(Kind::invalid, "the job is not suspended");
  GW_REACHED("home: a job was resumed");
  clear(out);
  out.after_disk(Notify{JobResumed{job_}});
  return ok();
}

bool Suspension::complete(std::size_t placed, Actions& out) {
  if (state_ != State::wanted || placed > 0) return false;
  GW_REACHED("home: a job was suspended");
  state_ = State::reached;
  out.after_disk(Notify{JobSuspended{job_}});
  return true;
}

Result<ThreadId> Suspension::only_thread(const ThreadTable& threads, const Manifest& manifest, const PeerId& self) const {
  if (!reached()) return fail(Kind::invalid, "job {} is not suspended: suspend it first", job_.brief());
  const ThreadId main = manifest.thread_of(0);
  if (threads.unfinished() != 1 || manifest.tasks() != 1 || !threads.at(main).waits())
    return fail(Kind::unsupported,
                "job {} has {} threads that have not ended, and an image holds the main thread alone: continue it with 'godwit job resume'",
                job_.brief(), threads.unfinished());
  if (!threads.at(main).kept_at(self))
    return fail(Kind::not_found,
                "the state of job {} is kept by another peer: resume the job, and suspend it again while it runs, to bring it here",
                job_.brief());
  return main;
}

void Suspension::clear(Actions& out) {
  if (!wanted()) return;
  state_ = State::none;
  out.record(suspension_key(job_), std::nullopt);
}

}  // namespace gw::job

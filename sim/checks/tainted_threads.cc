#include "base/reached.h"
#include "checks/checkers.h"

namespace gw::sim {

void TaintedThreads::on_sent(const wire::pb::PeerMessage& message) {
  using wire::pb::JobMessage;
  const JobMessage& job = message.job();
  std::uint64_t thread = 0;
  if (job.has_assign()) thread = job.assign().thread();                        // to its host
  if (job.has_keep_image()) thread = job.keep_image().thread();                // to its keeper
  if (job.has_keep_determinants()) thread = job.keep_determinants().thread();  // likewise
  if (job.has_want_image()) thread = job.want_image().thread();                // likewise
  for (std::uint32_t i = 0; i < job.task_batch().tasks().count(); ++i)         // to the host of tasks
    threads_.emplace(job::JobId::from(job.job()), job::thread_of_task(job.task_batch().tasks().first() + i, wire::kMaxTasks));
  if (thread == 0) return;
  GW_REACHED("sim: a Byzantine peer got a thread of an honest job");
  threads_.emplace(job::JobId::from(job.job()), ThreadId{thread});
}

void TaintedThreads::on_stored(const job::JobId& job, const Effect& effect) {
  if (effect.has_spawn() && contains(job, ThreadId{effect.thread()})) threads_.emplace(job, ThreadId{effect.spawn().child()});
}

}  // namespace gw::sim

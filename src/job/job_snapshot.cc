#include "job/job_snapshot.h"

namespace gw::job {

ThreadSnapshot snapshot_of(ThreadId id, const wire::pb::ThreadRecord& record) {
  ThreadSnapshot snapshot{.id = id,
                          .state = record.state(),
                          .epoch = record.epoch(),
                          .resumed = record.resumed(),
                          .restarted = record.restarted(),
                          .exit_code = record.exit_code(),
                          .sentence = record.sentence()};
  if (!record.forked()) snapshot.task = record.task();
  if (!record.host().empty()) snapshot.host = PeerId::from(record.host());
  return snapshot;
}

JobSnapshot snapshot_of(const wire::pb::JobRecord& record) {
  JobSnapshot snapshot{.record = record, .ended = record.ended(), .failed = record.failed()};
  snapshot.record.clear_manifest();
  snapshot.record.clear_charter();
  snapshot.record.clear_some();
  for (const wire::pb::ThreadRecord& thread : record.some()) snapshot.threads.push_back(snapshot_of(ThreadId{thread.id()}, thread));
  for (const wire::pb::RecoveryCountersRecord::Peer& peer : record.counters().peers())
    snapshot.peers.push_back({.peer = PeerId::from(peer.peer()), .finished = peer.finished(), .lost = peer.lost(), .taken = peer.taken()});
  return snapshot;
}

}  // namespace gw::job

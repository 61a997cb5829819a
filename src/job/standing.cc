#include "job/standing.h"

namespace gw::job {

ThreadStanding standing_of(ThreadId id, const wire::pb::ThreadRecord& record) {
  ThreadStanding standing{.id = id,
                          .state = record.state(),
                          .epoch = record.epoch(),
                          .resumed = record.resumed(),
                          .restarted = record.restarted(),
                          .exit_code = record.exit_code(),
                          .sentence = record.sentence()};
  if (!record.forked()) standing.task = record.task();
  if (!record.host().empty()) standing.host = PeerId::from(record.host());
  return standing;
}

JobStanding standing_of(const wire::pb::JobRecord& record) {
  JobStanding standing{.record = record, .ended = record.ended(), .failed = record.failed()};
  standing.record.clear_manifest();
  standing.record.clear_some();
  for (const wire::pb::ThreadRecord& thread : record.some()) standing.threads.push_back(standing_of(ThreadId{thread.id()}, thread));
  for (const wire::pb::TallyRecord::Peer& peer : record.tally().peers())
    standing.peers.push_back({.peer = PeerId::from(peer.peer()), .finished = peer.finished(), .lost = peer.lost(), .taken = peer.taken()});
  return standing;
}

}  // namespace gw::job

#pragma once
// Actions: the requests of a pure machine to its driver. A machine has no other output.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/shared_bytes.h"
#include "job/effects/stored_effect.h"
#include "job/names.h"
#include "job/tasks/task_set.h"
#include "wire/contact.h"
#include "wire/messages/streams.h"
#include "wire/peer.pb.h"
#include "wire/worker.pb.h"

namespace gw::job {

using JobMessage = wire::pb::JobMessage;
using PeerMessage = wire::pb::PeerMessage;

// --- network

// A message may be lost, late or duplicated, so every sender repeats what matters.
struct Send {
  PeerId to;
  PeerMessage message;
  wire::Contact contact = {};  // where to dial if there is no connection; without address and anchors the message is dropped
};
// A message about a job. Peer fills in its term and roster version when it leaves.
inline Send to_peer(const PeerId& to, const JobId& job, JobMessage message) {
  Send send{to, {}};
  message.set_job(job.bytes());
  *send.message.mutable_job() = std::move(message);
  return send;
}
// Answered by Peer::on_connection if a peer answers at that address.
struct Connect {
  std::string address;
};

// Dials the peer at the address its connection comes from, at this port and nowhere else. Answered by Peer::on_connection (DialledBack).
struct DialBack {
  PeerId peer;
  std::uint16_t port;
};
// The new contact of this peer: the driver gives it to other peers and keeps connections to its anchors.
struct Publish {
  wire::Contact contact;
};
// Closes all connections to the peer and tells it why.
struct Disconnect {
  PeerId peer;
  std::string why;
};

// --- workers

struct StartWorker {
  WorkerId worker;
  JobId job;
  std::uint32_t slots;
};
// The worker stands still, or goes on: its slots are another job's for now.
struct PauseWorker {
  WorkerId worker;
  bool paused;
};
struct KillWorker {
  WorkerId worker;
  std::string broken_rule = {};  // empty: the worker is not needed any more
};
// Something that goes beside a frame as sealed memory, put together from blobs. The code that builds it checks the result: a module against
// the manifest's hash, an image by decoding it and by the state of its gate. An image of many pages goes in several frames.
struct Attachment {
  enum class Form : std::uint8_t { given, pieces, image };
  // The thread as home and keeper describe it. An image whose gate says something else would make its worker break a rule later.
  struct Gate {
    std::uint64_t thread = 0;
    std::uint64_t epoch = 0;         // that the thread is to live in
    std::uint64_t determinants = 0;  // in the image
    wire::StreamMarks stored;        // effects that home has
  };
  Form form = Form::pieces;
  std::string bytes;           // given: these
  std::vector<Hash256> blobs;  // pieces: one after the other. image: its root
  Hash256 whole;               // of pieces: what must come out
  Gate gate = {};              // of an image: what must be in there
};
struct FrameToWorker {
  WorkerId worker;
  wire::pb::ToWorker frame;
  std::vector<Attachment> beside;
};

// --- disk: takes effect, and is answered by Peer::on_disk, in the order it was given

// The last value written under a key counts; no value: the key is gone.
struct Record {
  std::string key;
  std::optional<std::string> value;
};
using Ticket = std::uint64_t;
// Appends one effect entry to the output of a job.
struct Append {
  JobId job;
  EffectEntry entry;
};
// Entries and records of one Persist take effect together or not at all, in the order of the tickets. They are durable when the driver
// answers.
struct Persist {
  Ticket ticket;
  std::vector<Record> records;
  std::vector<Append> appends = {};
};
// Deletes the output of a job. The job's record is deleted first, so that no record names output that is gone.
struct DropOutput {
  JobId job;
};
// Deletes every record whose key has this prefix.
struct DropRecords {
  std::string prefix;
};
struct StoreBlob {  // durable when the driver answers: a record may name the blob from then on
  Hash256 hash;
  SharedBytes bytes;
};
struct LoadBlob {
  Hash256 hash;
};
struct DropBlob {
  Hash256 hash;
};
// Sent once after a start: the driver deletes every other blob that earlier boots have left.
struct RetainBlobs {
  std::vector<Hash256> hashes;
};

// --- people

struct BlobUploaded {
  Hash256 hash;
};
struct BlobRefused {
  Hash256 hash;
  Error error;
};
struct JobAccepted {
  JobId job;
};
struct JobRefused {
  JobId job;
  Error error;
};
struct EffectStored {  // each effect once per boot of home; after a restart, stored effects are read from the records
  JobId job;
  wire::pb::Effect effect;
};
// The program wants more standard input than was supplied; answered by peer::SupplyInput. Sent once per piece and boot of home.
struct InputWanted {
  JobId job;
  std::uint64_t piece;
};
struct InputStored {
  JobId job;
  std::uint64_t piece;
};
struct InputRefused {
  JobId job;
  std::uint64_t piece;
  Error error;
};
struct JobOver {
  JobId job;
  std::uint64_t threads = 0;
  std::uint64_t failed = 0;
  std::uint32_t exit_code = 0;
  bool cancelled = false;
  std::string sentence = {};  // why it stopped before all its tasks had run
};
struct JobSuspended {  // none of its threads runs any more; their last images are kept
  JobId job;
};
struct JobResumed {
  JobId job;
};
struct JobRequestRefused {  // a request to suspend or resume the job
  JobId job;
  Error error;
};
struct ThreadPlaced {  // for the first time
  JobId job;
  ThreadId thread;
  std::uint64_t epoch;
  PeerId host;
};
struct ThreadResumed {  // after its host was lost, from its last image
  JobId job;
  ThreadId thread;
  std::uint64_t epoch;
  PeerId host;
};
struct ThreadRestarted {  // after its host was lost, from its beginning
  JobId job;
  ThreadId thread;
  std::uint64_t epoch;
  PeerId host;
};
struct HostLost {  // `threads`: how many threads of the job ran there
  JobId job;
  PeerId peer;
  std::uint64_t threads;
};
struct RunRepeated {  // a run of a task has failed, and the task runs again: what it has printed before is void
  JobId job;
  ThreadId thread;
  PeerId host;  // of the run
  wire::pb::Effect::End end;
};
struct TasksSkipped {  // they will not run, because a task before them has failed
  JobId job;
  std::vector<TaskSpan> tasks;
  std::string sentence;
};
struct ThreadFailed {
  JobId job;
  ThreadId thread;
  std::string sentence;
};
struct PeerSeen {
  PeerId peer;
  bool alive;
};
struct GridAnswered {  // the answer to a user's request about grids
  std::uint64_t request;
  std::optional<Error> error;
  std::string text = {};  // an invitation, or the id of the grid
};
struct PeerRefused {  // the peer broke a rule of the protocol
  PeerId peer;
  std::string sentence;
};
struct RecordsDamaged {  // on this peer's disk; the sentence names them and what is lost with them
  std::string sentence;
};
using Event = std::variant<BlobUploaded, BlobRefused, JobAccepted, JobRefused, EffectStored, InputWanted, InputStored, InputRefused,
                           JobOver, JobSuspended, JobResumed, JobRequestRefused, ThreadPlaced, ThreadResumed, ThreadRestarted, HostLost,
                           RunRepeated, TasksSkipped, ThreadFailed, PeerSeen, GridAnswered, PeerRefused, RecordsDamaged>;
struct Notify {
  Event event;
};

using Action = std::variant<Send, Connect, DialBack, Publish, Disconnect, StartWorker, PauseWorker, KillWorker, FrameToWorker, Persist,
                            DropRecords, DropOutput, StoreBlob, LoadBlob, DropBlob, RetainBlobs, Notify>;

// A key that the overlay is to look up in the grid of the job: the peer that answers for it, or one near it with a free slot. Answered by
// Home::on_located.
struct KeyLookup {
  JobId job;
  std::uint32_t slot;  // of the job
  Hash256 key;
};

// The actions of one turn. The machines fill the lists, Peer empties them.
//
// All records and entries of a turn are one batch, which goes to the disk before the other actions of the turn. after_disk() holds an
// action back until everything recorded so far, in this turn or before, is durable. Every message on which another peer may rely is sent
// by after_disk().
struct Actions {
  std::vector<Action> now;
  std::vector<Action> later;
  std::vector<Record> records;
  std::vector<Append> appends;
  std::vector<KeyLookup> lookups;
  std::vector<PeerId> watched_peers;  // this peer has no connection to them, but a machine must learn soon when they die

  void add(Action action) { now.push_back(std::move(action)); }
  void after_disk(Action action) { later.push_back(std::move(action)); }
  void send(const PeerId& to, PeerMessage message) { add(Send{to, std::move(message)}); }
  void send(const PeerId& to, const JobId& job, JobMessage message) { add(to_peer(to, job, std::move(message))); }
  void notify(Event event) { add(Notify{std::move(event)}); }
  bool empty() const { return now.empty() && later.empty() && records.empty() && appends.empty(); }
  void append(const JobId& job, EffectEntry entry) { appends.push_back({job, std::move(entry)}); }
  void record(std::string key, std::optional<std::string> value) { records.push_back({std::move(key), std::move(value)}); }
};

}  // namespace gw::job

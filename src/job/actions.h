#pragma once
// What a machine without I/O wants done: the only thing that leaves it.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job/names.h"
#include "job/stored_effect.h"
#include "wire/contact.h"
#include "wire/peer.pb.h"
#include "wire/worker.pb.h"

namespace gw::job {

using JobMessage = wire::pb::JobMessage;
using PeerMessage = wire::pb::PeerMessage;

// --- network

// May be lost, late, doubled: every sender repeats what matters.
struct Send {
  PeerId to;
  PeerMessage message;
  wire::Contact contact = {};  // how it is reached if there is no connection; without address and anchors: not at all
};
// A message about a job. Its term and roster version are filled in when it leaves.
inline Send to_peer(const PeerId& to, const JobId& job, JobMessage message) {
  Send send{to, {}};
  message.set_job(job.bytes());
  *send.message.mutable_job() = std::move(message);
  return send;
}
// Answered by Peer::on_connection, if somebody is there.
struct Connect {
  std::string address;
};

// Dials the peer at the address its connection comes from, at this port and nowhere else. Answered by Peer::on_connection (DialledBack).
struct DialBack {
  PeerId peer;
  std::uint16_t port;
};
// So others reach this peer from now on; connections to its anchors are kept.
struct Publish {
  wire::Contact contact;
};
// Whatever connection there is to it ends; it is told why.
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
struct KillWorker {
  WorkerId worker;
  std::string broken_rule = {};  // empty: it is not needed any more
};
// Something that goes beside a frame as sealed memory, put together from blobs. Whoever does so checks the result: a module against the
// manifest's hash, an image by decoding it.
struct Attachment {
  enum class Form : std::uint8_t { given, pieces, image };
  Form form = Form::pieces;
  std::string bytes;           // given: these
  std::vector<Hash256> blobs;  // pieces: one after the other. image: the blob of its ImageManifest
  Hash256 whole;               // of pieces: what must come out
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
// What a thread of a job did goes to the end of what the job has written.
struct Append {
  JobId job;
  EffectEntry entry;
};
// Entries and records become true together, or none of them, in the order of the tickets; on the medium when it is answered.
struct Persist {
  Ticket ticket;
  std::vector<Record> records;
  std::vector<Append> appends = {};
};
// What the job has written is gone. The records say first that the job is forgotten.
struct DropOutput {
  JobId job;
};
// Every record whose key begins so is gone.
struct DropRecords {
  std::string prefix;
};
struct StoreBlob {  // on the medium when it is answered: a record may name it from then on
  Hash256 hash;
  std::string bytes;
};
struct LoadBlob {
  Hash256 hash;
};
struct DropBlob {
  Hash256 hash;
};
// Once, after a start: everything else that lives before have left is dropped.
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
struct EffectStored {  // each once in a life of home; after a restart what was stored is read from the records
  JobId job;
  wire::pb::Effect effect;
};
// The program wants more standard input than there is: to be answered by peer::SupplyInput. Once in a life of home for each piece.
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
struct HostLost {  // with so many threads of the job
  JobId job;
  PeerId peer;
  std::uint64_t threads;
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
struct GridAnswered {  // a request of people about grids
  std::uint64_t request;
  std::optional<Error> error;
  std::string text = {};  // an invitation, or the id of the grid
};
struct PeerRefused {  // somebody broke a rule
  PeerId peer;
  std::string sentence;
};
struct RecordsDamaged {  // on this peer's disk: which, and what that costs
  std::string sentence;
};
using Event =
    std::variant<BlobUploaded, BlobRefused, JobAccepted, JobRefused, EffectStored, InputWanted, InputStored, InputRefused, JobOver,
                 ThreadPlaced, ThreadResumed, ThreadRestarted, HostLost, ThreadFailed, PeerSeen, GridAnswered, PeerRefused, RecordsDamaged>;
struct Notify {
  Event event;
};

using Action = std::variant<Send, Connect, DialBack, Publish, Disconnect, StartWorker, KillWorker, FrameToWorker, Persist, DropRecords,
                            DropOutput, StoreBlob, LoadBlob, DropBlob, RetainBlobs, Notify>;

// What one turn of a peer leaves. Filled by the machines, emptied by Peer.
//
// All records and entries of a turn are one batch, which goes to the disk before everything else of the turn. after_disk() holds an action
// back until everything recorded so far, in this turn or before, is durable: what others may rely on is said that way.
struct Actions {
  std::vector<Action> now;
  std::vector<Action> later;
  std::vector<Record> records;
  std::vector<Append> appends;
  std::vector<PeerId> watched_peers;  // others talk to them, and somebody here must know soon when they are gone

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

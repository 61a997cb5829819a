#pragma once
// The files that tasks of a graph leave for the tasks behind them, at the job's home; docs/design/020-graphs.md.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/home/claim_table.h"
#include "job/home/home_recovery.h"

namespace gw::job {

// The blobs of a job at its home.
struct HomeBlobs {
  std::function<bool(const Hash256&)> has = {};  // on disk
  // Each adds a need of the job until it is over. put: stores the blob, unless it is here. adopt: an earlier boot has stored it.
  std::function<void(const JobId&, const Hash256&, std::string bytes, Actions&)> put = {};
  std::function<void(const JobId&, const Hash256&)> adopt = {};
};

// The problem. A piece of an output file is stored twice: as an effect in the output of the job, and as a blob, which successors fetch by
// its hash. A record must not name a blob that is not on disk, and a message must not be acknowledged before all of it is durable.
//
// Therefore a message that brings pieces is kept until each piece is a blob on disk, and only then Home takes its effects: their records
// name blobs that are there. Messages of a peer stay in their order. What is lost meanwhile, the host repeats.
//
// When a task has ended well, the entries of its files are one more blob, its list. It follows from the records, so it needs none.
//
// A host may send pieces of effects that Home never takes, because they are not the next ones. They stay blobs until the job is over, so
// their bytes are charged to the host, and at kMaxUntakenBytes it can store no new ones.
//
// Limits: kMaxKept messages of a peer and kMaxKeptBytes in all, further ones are dropped and repeated by their hosts; a list of
// wire::kMaxFileListBytes; kMaxRowInputs pieces and lists. Memory: the pieces of tasks that are not over, and some hashes for each task
// that is. Costs: O(pieces named). A machine without I/O or threads: its Home owns and drives it.
class TaskFiles {
 public:
  static constexpr std::size_t kMaxKept = 32;
  static constexpr std::size_t kMaxKeptBytes = 32u << 20;
  static constexpr std::size_t kMaxUntakenBytes = 256u << 20;

  struct Environment {  // outlives it
    JobId job;
    const Manifest& manifest;
    const ClaimTable& claims;
    const HomeBlobs& blobs;
  };
  explicit TaskFiles(const Environment& environment) : environment_(environment) {}

  // --- messages that bring pieces
  // False: the message is kept, or dropped, and comes again by take_ready().
  bool admit(const PeerId& from, const JobMessage::TaskReport& report, Actions& out);
  // REQUIRES: the peer hosts the thread.
  bool admit(const PeerId& from, const JobMessage::Effects& effects, Actions& out);
  // A blob is on disk. Returns the tasks whose files are ready now.
  std::vector<std::uint32_t> on_blob_stored(const Hash256& hash);
  // The next message that waits no more.
  std::optional<std::pair<PeerId, JobMessage>> take_ready();

  // --- effects that Home takes
  // Whether the effect may be stored. Kind::invalid with a sentence if not.
  Status check(const Effect& effect) const;
  // REQUIRES: admit() was true for the message that has brought the effect.
  void on_effect(const Effect& effect, Actions& out);
  // The run of the task is void.
  void drop(std::uint32_t task, Actions& out);
  // The task has ended well. True: its files are ready. False: on_blob_stored() says when they are.
  bool on_end(std::uint32_t task, Actions& out);
  bool reads(std::uint32_t task) const;

  // --- a restart of home, and the end of the job
  void recover(const HomeRecords& records);
  void remove_records(Actions& out) const;

  // --- hosts
  // The answer to a host that asks about these tasks. `is_over`: whether a task has ended well.
  JobMessage answer(const JobMessage::WantFiles& want, const std::function<bool(std::uint32_t)>& is_over) const;

 private:
  using Piece = wire::pb::FilePieceRecord;
  struct Kept {
    JobMessage message;
    std::size_t bytes;
    std::set<Hash256> missing;
  };
  struct Open {
    std::vector<Piece> pieces;
    std::size_t bytes = 0;  // of its list, at most

    void add(Piece piece);
  };
  struct Listed {
    std::optional<Hash256> list;  // none: there are no files
    std::uint32_t pieces = 0;
    bool ready = false;
  };

  std::optional<std::uint32_t> task_of(const Effect& effect) const;
  void keep(const PeerId& from, JobMessage message, std::set<Hash256> missing);
  void hold(const Hash256& hash, std::string bytes, Actions& out);
  // False: the host has sent too many pieces that Home has not taken.
  bool store_pieces(const PeerId& from, const Effect& effect, std::set<Hash256>& missing, Actions& out);
  std::string key(std::uint32_t task, std::uint64_t number) const;

  const Environment environment_;
  std::map<PeerId, std::deque<Kept>> kept_;
  std::size_t kept_bytes_ = 0;
  std::map<Hash256, std::set<PeerId>> waiting_;  // peers whose messages wait for a blob
  std::set<PeerId> ready_;                       // peers whose first message waits no more
  std::set<Hash256> held_;                       // blobs of pieces and lists
  std::uint64_t stored_bytes_ = 0;               // of those stored in this boot
  std::map<Hash256, PeerId> untaken_;            // the host of each piece that Home has not taken yet
  std::map<PeerId, std::size_t> untaken_bytes_;
  std::map<std::uint32_t, Open> open_;                   // of tasks that are not over
  std::map<std::uint32_t, Listed> listed_;               // of tasks that are
  std::map<Hash256, std::vector<std::uint32_t>> lists_;  // that are not on disk yet
};

}  // namespace gw::job

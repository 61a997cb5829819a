#pragma once
// The messages between the threads of a job, at its home.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/actions.h"
#include "job/authority/manifest.h"
#include "job/effects/effect_ledger.h"
#include "job/home/claim_table.h"
#include "job/home/standard_input.h"
#include "job/home/task_table.h"
#include "job/home/thread_table.h"
#include "job/records.h"
#include "wire/records.pb.h"

namespace gw::job {

// A mailbox for each thread that is written to: messages and notices as numbered items, in the order in which home has stored them. A
// replay reads the same items in the same order, so taking the next one is no choice. docs/design/023-programming-model.md.
//
// Invariants: an item is recorded before it is given out; it stays until a stable image of its receiver contains it (or, for threads that
// are not continued, until it was taken); the last item of a mailbox stays until the receiver is over, because its number says which is
// next. A thread that waits for a message uses no slot of its claim. Limits: Config; a message for which there is no room is not stored,
// so that its sender repeats it, and at last waits. Costs: O(log n) per item. A machine without I/O or threads: its Home owns and drives
// it.
class Mailboxes {
 public:
  struct Config {
    std::size_t items = 65536;           // of one mailbox
    std::size_t bytes = 32u << 20;       // of one mailbox
    std::size_t job_bytes = 256u << 20;  // of all together; an empty mailbox takes one more
    std::size_t watches = 1u << 17;
    StandardInput::Config::Keep keep = StandardInput::Config::Keep::until_in_image;
  };
  // The host of the receiver, and what it asks for.
  struct Want {
    PeerId host;
    std::uint64_t epoch = 0;
    std::uint64_t next = 0;
    std::uint64_t in_image = 0;  // items before this one are in a stable image
    bool waits = false;          // the thread does nothing before the next item is there
  };
  struct Environment {  // outlives it
    JobId job;
    const EffectLedger& ledger;
    const Manifest& manifest;
    const TaskTable& tasks;
    const ThreadTable& threads;
    ClaimTable& claims;
  };
  using Items = std::map<ThreadId, std::map<std::uint64_t, wire::pb::Mail>>;
  using Marks = std::map<ThreadId, wire::pb::MailMarkRecord>;
  using Watches = std::set<std::pair<ThreadId, ThreadId>>;  // watched thread, watching thread

  Mailboxes(const Config& config, const Environment& environment) : config_(config), environment_(environment) {}

  // Called before any other function. Kind::corrupt if an item is missing between two.
  Status recover(const Items& items, const Watches& watches);

  // Whether the message or watch can be stored now. `spawns`: those of the sender that are stored. If not, its host repeats it.
  bool admits(const Effect& effect, std::uint64_t spawns);
  // Stores it. REQUIRES: admits(), and the ledger has taken it.
  void take(const Effect& effect, Actions& out);
  // Gives out the next items, now or when they come. Kind::not_found: they were dropped and are asked for again and again, so the thread
  // cannot go on from where it is; Kind::invalid: the host has not got so far.
  Status on_want(ThreadId thread, const Want& want, Actions& out);
  // The thread has left its host.
  void on_left(ThreadId thread);
  // Tasks that were no threads have come to their end, as the report says.
  void on_report(const JobMessage::TaskReport& report, Actions& out);
  // The thread is over: notices to those who watch it, and nobody reads its mailbox any more.
  void on_over(ThreadId thread, Actions& out);
  // Whether the thread could read its mailbox from the beginning again.
  bool has_beginning(ThreadId thread) const;
  // The turn is over: gives out what has come in it, has messages repeated for which there is room again, and records how far each thread's
  // messages are stored.
  void end_turn(Actions& out);
  // The job is over.
  void remove_records(Actions& out) const;

 private:
  struct Box {
    std::uint64_t first = 0;
    std::deque<wire::pb::Mail> items;
    std::size_t bytes = 0;
    std::optional<Want> want;    // not answered yet
    std::uint64_t epoch = 0;     // of the receiver, as the last want says
    std::uint64_t asked = 0;     // the highest item that was asked for in that epoch: an older want is late
    std::uint32_t refused = 0;   // consecutive wants for items that were dropped
    std::set<ThreadId> blocked;  // senders that found no room
    std::uint64_t next() const { return first + items.size(); }
  };

  static std::size_t bytes_of(const wire::pb::Mail& mail) { return mail.bytes().size() + 64; }
  std::string key(RecordKind kind, ThreadId thread, std::uint64_t number) const;
  bool has_room(ThreadId to, const Box& box, std::size_t bytes) const;
  bool runs(ThreadId thread) const;
  // A task of the task plane, which is no thread; none: it is not of the job.
  std::optional<std::uint32_t> task_of(ThreadId thread) const;
  bool is_reader(ThreadId thread) const;
  void put(ThreadId to, wire::pb::Mail mail, Actions& out);
  wire::pb::Mail notice_of(ThreadId thread) const;
  void drop_before(Box& box, ThreadId thread, std::uint64_t number, Actions& out);
  void unblock(Box& box);
  void repeat(ThreadId sender, Actions& out) const;
  void give(ThreadId thread, Box& box, Actions& out);

  const Config config_;
  const Environment environment_;
  std::map<ThreadId, Box> boxes_;
  std::size_t bytes_ = 0;
  Watches watches_;
  std::set<ThreadId> changed_;    // mailboxes that may answer a want
  std::set<ThreadId> unblocked_;  // senders that found no room, and do now
  Marks marks_;                   // that have changed in this turn
};

}  // namespace gw::job

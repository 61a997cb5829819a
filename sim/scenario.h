#pragma once
// The scenario of a simulation: the grid and the jobs from a file, the faults from the seed.

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "outcome.h"

namespace gw::sim {

struct Scenario {
  std::uint32_t peers = 4;
  std::uint32_t slots = 2;  // of each peer
  std::uint32_t jobs = 1;   // each at another home
  std::uint32_t tasks = 8;  // of each job
  std::uint32_t wanted_slots = 6;
  std::uint32_t min_slots = 0;  // a job begins when it has so many at once
  bool too_large = false;       // the last job needs more slots at once than there are: it never begins, and no other waits for it
  bool loss_policies = false;   // job n replaces hosts that are lost, ignores the loss, or is cancelled, as n % 3 says
  std::uint32_t steps = 40;     // of each task, at most
  Time step{std::chrono::milliseconds(100)};
  Time promote_after{0};  // tasks are threads from their start; else a task becomes one after as many steps as this has milliseconds
  Time checkpoint_every{std::chrono::milliseconds(1000)};
  Time fault_time{std::chrono::seconds(60)};  // afterwards everything is healed
  Time heal_time{std::chrono::seconds(240)};  // by then the job must have ended
  std::uint32_t flaky = 0;    // each so-many-th task exits with an error on every second peer, and each second of those everywhere; 0: none
  std::uint32_t retries = 0;  // of a task that fails
  std::uint32_t stop_after = 0;  // the job stops when so many tasks have failed; 0: never
  bool faults = true;
  bool pure = false;            // guests neither read clocks nor fork
  bool childless = false;       // guests do not fork
  bool rows = false;            // the program of each task is in its row, in segments that hosts fetch
  bool graph = false;           // rows, and tasks in random stages that leave files for each other
  bool input = false;           // the one task of each job reads standard input
  std::uint32_t rounds = 0;     // of messages between the tasks of a job: in each, a task writes to the next two and waits for two messages
  std::uint32_t liars = 0;      // peers that also replay messages of others
  std::uint32_t walled = 0;     // peers that cannot be dialled: the first ones, so the homes
  std::uint32_t members = 0;    // of a private grid in which the honest jobs run: the first peers; 0: the grid is open
  std::uint32_t byzantine = 0;  // peers that send messages with wrong fields, each also the home of a job
  std::uint32_t saboteurs = 0;  // peers that fail their duties (faults/saboteur.h), before the Byzantine ones
  std::uint32_t strangers = 0;  // peers that use up what others lend and store (faults/stranger.h), before the saboteurs
  bool crafty = false;          // Byzantine peers also lie in the ways that once worked
  bool only_keepers = false;    // saboteurs fail as keepers only
  bool only_idlers = false;     // saboteurs take threads and do nothing for them
  bool only_seeders = false;    // saboteurs fail as senders of code and inputs only
  bool only_relays = false;     // saboteurs fail in searches only: as relays, and as peers that answer
  bool narrow = false;          // peers have few neighbours, so that searches take several hops
  bool places = false;          // the jobs are placed near, by hash and spread in turn
  std::uint32_t inputs = 0;     // files of each job, which every worker reads
  std::uint32_t graves = 0;     // peers that die permanently, none of them a home
  bool cancelled = false;       // the jobs are cancelled while they run
  bool suspended = false;       // the jobs are suspended and resumed repeatedly until everything is healed
  bool bad_disks = false;       // blobs rot and vanish, disks fill up: a thread may be lost, with an error that says so
  bool bad_records = false;     // records and output rot: a job or thread may be lost, with an error that says so
  bool slow = false;            // no faults, but messages, processors and disks that take long
  bool shares = false;          // no faults, but owners that change what they lend and stop their daemons: no work is repeated
  bool users = false;           // each job has another user; the user of job n has the weight n % 3 + 1 at every lender
  bool memory_limited = false;  // owners limit the memory that they lend, so that claims cannot share slots
  bool owners = false;          // machines lend only while they are idle, and their owners come and go
  bool rigid = false;           // guests cannot be checkpointed: one that reads the clock too often fails with a sentence
  Time end_by{0};               // the latest end of the jobs; 0: heal_time alone counts
  bool home_dies = false;       // permanently: the first job never ends, and no peer may keep anything of it
  Time keeper_patience{std::chrono::minutes(30)};

  // The least number of peers: each special peer needs its own.
  std::uint32_t peers_with_parts() const {
    return std::max({jobs + graves + liars + byzantine + saboteurs + strangers, members + byzantine, walled + 2});
  }
  // The liars are the last peers, the Byzantine ones come before them.
  bool is_byzantine(std::size_t peer) const { return peer + liars < peers && peer + liars + byzantine >= peers; }

  bool is_saboteur(std::size_t peer) const { return peer + liars + byzantine < peers && peer + liars + byzantine + saboteurs >= peers; }

  bool is_stranger(std::size_t peer) const {
    const std::size_t after = liars + byzantine + saboteurs;
    return peer + after < peers && peer + after + strangers >= peers;
  }

  // Whether the task exits with an error at this peer.
  bool is_flaky(std::uint32_t task, std::size_t peer) const {
    return flaky > 0 && task % flaky == 0 && (peer % 2 == 0 || task % (2 * flaky) == 0);
  }

  // Kind::invalid with the line, for unknown keys too.
  static Result<Scenario> read(const std::filesystem::path& file);
};

}  // namespace gw::sim

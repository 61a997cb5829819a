#pragma once
// Actions of a peer that wait until its records are on the disk.

#include <cstdint>
#include <deque>
#include <vector>

#include "job/actions.h"

namespace gw::peer {

// Hands the records of each turn to the disk as one batch, and holds back the actions that wait for a batch.
//
// Invariants: actions that wait leave in the order in which they came, and never before all batches that were handed over before them are
// on the disk. Limits: Config. Messages beyond them are dropped: their sender repeats each of them when it is due, or its receiver asks
// again. A value without threads.
class DiskQueue {
 public:
  struct Config {
    std::size_t batches = 1024;             // on their way to the disk; behind() says that there are more
    std::size_t waiting = 1u << 16;         // actions that wait
    std::size_t waiting_bytes = 32u << 20;  // in the messages among them
  };
  explicit DiskQueue(const Config& config) : config_(config) {}

  // Takes the records and actions of a turn. Appends what is to be carried out now to `ready`, the batch for the disk first.
  void add(job::Actions& turn, std::deque<job::Action>& ready);
  // This batch and all before it are on the disk: appends what waited for them. REQUIRES: the batch was handed over and not reported yet.
  void on_persisted(job::Ticket ticket, std::vector<job::Action>& ready);
  bool behind() const { return batches_.size() >= config_.batches; }
  std::size_t waiting() const { return waiting_; }

 private:
  struct Batch {
    job::Ticket ticket;
    std::vector<job::Action> then = {};
    std::size_t bytes = 0;  // in the messages among them
  };

  const Config config_;
  job::Ticket next_ticket_ = 0;
  std::deque<Batch> batches_;
  std::size_t waiting_ = 0;  // actions in them
  std::size_t waiting_bytes_ = 0;
};

}  // namespace gw::peer

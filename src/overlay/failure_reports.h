#pragma once
// What this peer tells others about peers that do not answer.

#include <map>

#include "overlay/descriptor.h"

namespace gw::overlay {

// Goes along with messages that are sent anyway, each rumour so many times, those told least often first.
// Limits: Config; a new rumour takes the place of the one that has been told most.
class FailureReports {
 public:
  struct Config {
    std::size_t most = 64;
    int per_message = 8;
  };

  explicit FailureReports(const Config& config) : config_(config) {}

  // `times`: how often it is to be told. A rumour about an incarnation that was told of already is none.
  void add(const PeerId& peer, const Incarnation& incarnation, unsigned times);
  void remove(const PeerId& peer) { reports_.erase(peer); }
  void add_to(Message& message);
  bool has_news() const;
  std::size_t size() const { return reports_.size(); }

 private:
  struct Report {
    Incarnation incarnation;
    unsigned left;  // how often it is still to be told
  };

  const Config config_;
  std::map<PeerId, Report> reports_;
};

}  // namespace gw::overlay

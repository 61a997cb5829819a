#pragma once
// Reports to other peers about peers that do not answer.

#include <map>

#include "overlay/membership/descriptor.h"

namespace gw::overlay {

// Rumours are added to messages that are sent anyway, each a limited number of times, those sent least often first.
// Limits: Config; a new rumour replaces the one that was sent most often.
class FailureReports {
 public:
  struct Config {
    std::size_t most = 64;
    int per_message = 8;
  };

  explicit FailureReports(const Config& config) : config_(config) {}

  // `times`: how often the rumour is to be sent. A rumour about an incarnation that was reported already is ignored.
  void add(const PeerId& peer, const Incarnation& incarnation, unsigned times);
  void remove(const PeerId& peer) { reports_.erase(peer); }
  void add_to(Message& message);
  bool has_news() const;
  std::size_t size() const { return reports_.size(); }

 private:
  struct Report {
    Incarnation incarnation;
    unsigned left;  // how often it is still to be sent
  };

  const Config config_;
  std::map<PeerId, Report> reports_;
};

}  // namespace gw::overlay

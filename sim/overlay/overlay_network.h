#pragma once
// Delivers messages and dials between the hosts of an overlay simulation.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/agenda.h"
#include "overlay/internet.h"
#include "overlay/links.h"
#include "overlay/population.h"
#include "overlay/simulation_log.h"
#include "overlay/turn_queue.h"

namespace gw::sim::overlay_simulation {

// Connections behave as those of the transport: a dial takes a round trip; it is refused if the process is dead, and not answered if the
// host is down or behind a firewall. A process that dies resets its connections; the peers of a host that loses power find them broken
// later. Messages travel as bytes. Every arrival becomes a turn of its host. The other parts outlive this object.
class OverlayNetwork {
 public:
  struct Losses {  // probabilities, of each message
    double loss = 0;
    double duplicate = 0;
  };
  struct Environment {
    Population& population;
    Agenda& agenda;
    SimulationLog& log;
    TurnQueue& turns;
  };

  OverlayNetwork(Internet internet, const Losses& losses, const Environment& environment)
      : environment_(environment),
        internet_(std::move(internet)),
        losses_(losses),
        links_(static_cast<std::uint32_t>(environment.population.hosts.size())) {}

  const Internet& internet() const { return internet_; }
  void lose_nothing() { losses_ = {}; }

  // May be called on any thread, but for one host on one thread at a time.
  bool use_link(std::uint32_t from, std::uint32_t to, Time now) { return links_.use(from, to, now); }
  // REQUIRES: the connection is open.
  Delivery plan_delivery(Host& from, std::uint32_t to, Time now) const;

  void send(Host& host, Turn::QueuedMessage& queued);
  void dial(Host& host, std::uint32_t to, const std::string& address) { dial(host, to, address, std::nullopt); }
  // The host's process is dead: its operating system closes its connections.
  void reset_connections(Host& host);

  // Handles a due event. REQUIRES: one of deliver, dial_arrives, dial_over, unreachable, broken, reset.
  void handle(const Event& event);
  // Prefetches the objects of a later event into the processor's caches.
  void fetch_early(const Event& later) const;
  void fetch_late(const Event& soon) const;

 private:
  struct PendingMessage {  // a message on its way
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t to_life = 0;
    std::string bytes;
  };
  enum class Answer : std::uint8_t { none, connected, refused };
  struct Call {  // a dial under way, and the messages that wait for it
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t from_life = 0;
    Answer answer = Answer::none;
    Time began{0};
    std::string address;
    std::vector<PendingMessage> pending_messages;
  };
  struct Break {  // a host will learn that a connection is broken or a peer unreachable
    std::uint32_t other = 0;
    std::uint32_t life = 0;
  };

  Host& host_of(std::uint32_t number) { return environment_.population.hosts[number]; }
  Time now() const { return environment_.agenda.now(); }
  Turn& add_turn(Host& host, Turn::Kind kind, std::uint32_t other) { return environment_.turns.add(host, kind, other, now()); }
  static bool separated(const Host& a, const Host& b) { return a.side != b.side; }

  void dial(Host& host, std::uint32_t to, const std::string& address, std::optional<PendingMessage> pending);
  void post(PendingMessage pending, const Delivery& delivery);
  void on_deliver(std::uint32_t slot);
  void on_dial_arrives(std::uint32_t slot);
  void on_dial_over(std::uint32_t slot);
  void on_unreachable(Host& host, std::uint32_t slot);
  void on_broken(Host& host, std::uint32_t slot);
  void on_reset(Host& host, std::uint32_t slot);
  void find_broken_later(std::uint32_t at, std::uint32_t other);

  const Environment environment_;
  const Internet internet_;
  Losses losses_;
  Links links_;
  Pool<PendingMessage> pending_messages_;
  Pool<Call> calls_;
  Pool<Break> breaks_;
  std::unordered_map<std::uint64_t, std::uint32_t> calls_under_way_;  // (from, to) to the call
};

}  // namespace gw::sim::overlay_simulation

#pragma once
// Circuits that this peer carries for others.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "transport/connection/message_assembler.h"
#include "transport/identity/identity.h"
#include "transport/relay/fair_share.h"

namespace gw::transport {

// An end of a circuit, as a connection names it.
struct Port {
  std::uint64_t connection;
  std::uint32_t stream;

  auto operator<=>(const Port&) const = default;
};

// The middle of circuits: takes what one end sends and hands it to the other, without understanding any of it.
//
// Each end may have kCircuitCredit bytes under way, which the other end renews; an end that sends more breaks the protocol. Relayed bytes
// go through FairShare. Limits: Config, per peer and in all. An unused circuit is closed. Pure: frames in, frames out.
class Relay {
 public:
  struct Config {
    std::size_t circuits = 256;  // 0: it carries nothing for others
    std::size_t per_peer = 16;   // opened by one peer
    std::size_t to_peer = 32;    // that lead to one peer
    std::chrono::seconds idle{90};
    FairShare::Config share;
  };
  struct Outgoing {
    std::uint64_t connection;
    Message frame;
  };
  struct Counters {
    std::uint64_t opened = 0, refused = 0;
    std::uint64_t bytes = 0;
  };
  // Where an end is.
  struct End {
    Port port;
    PeerId peer;
  };

  Relay(Config config, Time now) : config_(config), share_(config.share, now) {}

  // `to`: the end at the target, under a number that is new there; none: there is no connection to it.
  void open(Time now, const End& from, const std::optional<End>& to, std::vector<Outgoing>& out);
  // Whether a circuit ends there.
  bool carries(const Port& port) const { return ports_.contains(port); }
  // Handles a frame for a circuit that ends at `port`. Kind::invalid: its sender broke a rule. REQUIRES of all three: carries(port).
  Status on_data(Time now, const Port& port, ByteView bytes, std::vector<Outgoing>& out);
  Status on_credit(const Port& port, std::uint32_t bytes, std::vector<Outgoing>& out);
  void on_close(Time now, const Port& port, Bytes reason, std::vector<Outgoing>& out);
  // Bytes to that end could not be sent. A stream with missing bytes is of no use, so the circuit ends.
  void on_stuck(const Port& port, std::vector<Outgoing>& out);
  // The connection is gone, and with it the circuits that end there.
  void on_connection_ended(std::uint64_t connection, std::vector<Outgoing>& out);
  void on_tick(Time now, std::vector<Outgoing>& out);
  Time next_deadline(Time now);

  const Counters& counters() const { return counters_; }
  std::size_t circuits() const { return circuits_.size(); }

 private:
  using Side = std::size_t;  // 0: who has opened it, 1: the target
  struct Circuit {
    End ends[2];
    std::size_t credit[2];        // what each may still send
    std::optional<Bytes> closed;  // by the one whose last bytes are being handed on
    Time used;
  };
  struct CircuitSide {
    std::uint64_t circuit;
    Side side;
  };
  static FairShare::Flow flow_of(const CircuitSide& circuit_side) { return 2 * circuit_side.circuit + circuit_side.side; }

  Status check_room(const PeerId& from, const PeerId& to) const;
  void hand_on(Time now, std::vector<Outgoing>& out);
  void finish(std::uint64_t circuit, Side told, Bytes reason, std::vector<Outgoing>& out);
  void erase(std::uint64_t circuit);

  const Config config_;
  FairShare share_;
  Counters counters_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Circuit> circuits_;
  std::map<Port, CircuitSide> ports_;
};

}  // namespace gw::transport

// A relay with four connections that send any frames in any order; each byte of the tape chooses one. The bytes that leave at one end must
// be those that entered at the other, no frame may follow a close, and no end may be sent more than its credit.

#include <algorithm>
#include <deque>
#include <map>

#include "tape.h"
#include "transport/relay/relay.h"

namespace {

using namespace gw;
using fuzz::Tape;
using namespace gw::transport;

constexpr std::uint8_t kConnections = 4;

class Performance {
 public:
  explicit Performance(Tape tape) : tape_(tape) {}

  void run() {
    while (!tape_.at_end()) {
      std::vector<Relay::Outgoing> out;
      happen(out);
      for (const Relay::Outgoing& frame : out) check(frame);
      GW_ASSERT(relay_.circuits() <= 8);
    }
  }

 private:
  std::uint8_t connection() { return static_cast<std::uint8_t>(1 + tape_.next() % kConnections); }
  static PeerId peer(std::uint64_t connection) { return PeerId{{static_cast<std::uint8_t>(connection)}}; }

  // Any end that was ever opened, or one that was not.
  Port somewhere() {
    if (pairs_.empty()) return {connection(), tape_.next()};
    return std::next(pairs_.begin(), tape_.next() % static_cast<std::ptrdiff_t>(pairs_.size()))->first;
  }

  void happen(std::vector<Relay::Outgoing>& out) {
    switch (tape_.next() % 6) {
      case 0:
        return open(out);
      case 1:
        return send(out);
      case 2:
        if (const Port port = somewhere(); relay_.carries(port))
          (void)relay_.on_credit(port, static_cast<std::uint32_t>(tape_.next() * 512), out);
        return;
      case 3:
        if (const Port port = somewhere(); relay_.carries(port)) {
          closed_[port] = true;
          relay_.on_close(now_, port, Bytes{1}, out);
        }
        return;
      case 4:
        return relay_.on_connection_ended(connection(), out);
      default:
        now_ += std::chrono::milliseconds(tape_.next() * 100);
        return relay_.on_tick(now_, out);
    }
  }

  void open(std::vector<Relay::Outgoing>& out) {
    const Port from{connection(), ++stream_}, to{connection(), ++stream_};
    if (from.connection == to.connection) return relay_.open(now_, {from, peer(from.connection)}, std::nullopt, out);
    relay_.open(now_, {from, peer(from.connection)}, Relay::End{to, peer(to.connection)}, out);
    if (!relay_.carries(from)) return;
    pairs_[from] = to;
    pairs_[to] = from;
  }

  void send(std::vector<Relay::Outgoing>& out) {
    const Port port = somewhere();
    if (!relay_.carries(port)) return;
    Bytes bytes(std::size_t{tape_.next()} * 64);
    for (std::uint8_t& byte : bytes) byte = ++counter_;
    std::deque<std::uint8_t>& under_way = under_way_[pairs_.at(port)];
    const std::size_t before = under_way.size();
    under_way.insert(under_way.end(), bytes.begin(), bytes.end());  // it may come out at once
    if (!relay_.on_data(now_, port, bytes, out)) under_way.resize(before);
  }

  void check(const Relay::Outgoing& outgoing) {
    const Port port{outgoing.connection, outgoing.frame.stream};
    GW_ASSERT(!over_[port]);
    if (outgoing.frame.kind == FrameKind::circuit_close) over_[port] = true;
    if (outgoing.frame.kind != FrameKind::circuit_data) return;
    std::deque<std::uint8_t>& under_way = under_way_[port];
    GW_ASSERT(outgoing.frame.bytes.size() <= std::min(under_way.size(), kMaxCircuitPayload));
    GW_ASSERT(!closed_[port]);
    for (const std::uint8_t byte : outgoing.frame.bytes) {
      GW_ASSERT(under_way.front() == byte);
      under_way.pop_front();
    }
  }

  Tape tape_;
  Time now_{};
  Relay relay_{{.circuits = 8, .per_peer = 3, .share = {.bytes_per_second = 100'000, .burst = 10'000, .waiting = 400'000}}, now_};
  std::uint32_t stream_ = 0;
  std::uint8_t counter_ = 0;
  std::map<Port, Port> pairs_;
  std::map<Port, std::deque<std::uint8_t>> under_way_;  // to that end
  std::map<Port, bool> closed_;                         // by that end: it reads no more
  std::map<Port, bool> over_;                           // that end was told
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Performance(Tape(ByteView(data, std::min<std::size_t>(size, 4096)))).run();
  return 0;
}

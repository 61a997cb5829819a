// An overlay, with every machine in it, and whatever may happen to it, in any order: messages of honest and lying peers, connections that
// come, fail and break, time that passes. Each byte of the tape chooses; afterwards every table must be sound, every message that leaves
// must be one that the decoder takes, and there must be something to wait for.

#include <algorithm>
#include <set>

#include "overlay/overlay.h"
#include "overlay/test/test_peers.h"
#include "tape.h"
#include "wire/messages/overlay_messages.h"

namespace {

using namespace gw;
using fuzz::Tape;
using namespace gw::overlay;

constexpr std::uint64_t kPeers = 200;  // besides the one under test, which is 0
constexpr std::size_t kMostSends = 512;
constexpr std::size_t kMostKnown = 1024;

class Performance {
 public:
  explicit Performance(Tape tape) : tape_(tape), overlay_(config(), {test_id(0), test_key(0), 3}, signer_, Rng(tape_.next())) {
    overlay_.start(now_, {"peer-7:1"}, out_);
  }

  void run() {
    while (!tape_.at_end()) {
      happen();
      check_output();
      check_tables();
    }
  }

 private:
  static Overlay::Config config() {
    Overlay::Config config;
    config.address = "peer-0:1";
    config.known = {"peer-1:1", "peer-2:1"};
    return config;
  }

  PeerId somebody() { return test_id(tape_.below(kPeers + 1)); }

  Descriptor descriptor() {
    const std::uint64_t number = tape_.below(kPeers + 1);
    Descriptor peer = test_peer(number, tape_.next());
    peer.incarnation.boot = 1 + tape_.next() % 4;
    if (tape_.next() % 8 == 0) peer.address.clear();
    for (float& component : peer.coordinate.position) component = static_cast<float>(tape_.next()) / 256;
    peer.coordinate.error = static_cast<float>(tape_.next()) / 128;
    peer.slots = 255;
    peer.free_slots = tape_.next();
    peer.reach = static_cast<Reach>(tape_.next() % 4);
    for (int i = tape_.next() % 4; i > 0; --i) peer.anchors.push_back({somebody(), "192.0.2.1:1"});
    peer.age = tape_.next();
    sign(GridId{}, TestSigner(peer.key), peer);
    if (tape_.next() % 8 == 0) peer.signature[0] ^= 1;
    return peer;
  }

  void describe(wire::pb::Descriptor& message) { write(descriptor(), message); }

  void fill(Message::Gossip& gossip) {
    describe(*gossip.mutable_self());
    for (int i = tape_.next() % 20; i > 0; --i) describe(*gossip.add_others());
  }

  std::uint64_t number() { return asked_.empty() ? tape_.next() : asked_[tape_.below(asked_.size())]; }

  Message message() {
    Message message;
    message.set_grid(GridId{}.bytes());
    for (int i = tape_.next() % 4; i > 0; --i) {
      Message::Rumour& rumour = *message.add_rumours();
      rumour.set_peer(somebody().bytes());
      rumour.set_boot(1 + tape_.next() % 4);
      rumour.set_stamp(tape_.next());
    }
    choose_kind(message);
    return message;
  }

  void choose_kind(Message& message) {
    switch (tape_.next() % 11) {
      case 0:
        return fill(*message.mutable_gossip());
      case 1:
        return fill(*message.mutable_gossip_reply());
      case 2:
        return fill(*message.mutable_ring());
      case 3:
        return fill(*message.mutable_ring_reply());
      case 4:
        message.mutable_ping()->set_number(tape_.next());
        message.mutable_ping()->set_suspected_boot(tape_.next() % 6);
        return message.mutable_ping()->set_suspected_stamp(tape_.next());
      case 5:
        message.mutable_pong()->set_number(number());
        write(descriptor().coordinate, *message.mutable_pong()->mutable_coordinate());
        if (tape_.next() % 2 == 0) describe(*message.mutable_pong()->mutable_self());
        return;
      case 6:
      case 7: {
        const bool asks = tape_.next() % 2 == 0;
        Message::PingFor& ping = asks ? *message.mutable_ping_for() : *message.mutable_pong_for();
        ping.set_number(number());
        const Descriptor about = descriptor();
        ping.set_peer(about.id.bytes());
        return write(about, *ping.mutable_self());
      }
      case 8:
        message.mutable_route()->set_key(test_id(tape_.below(1000)).bytes());
        message.mutable_route()->set_number(tape_.next());
        message.mutable_route()->set_hops(tape_.next() % 33);
        message.mutable_route()->set_demand(tape_.next());
        message.mutable_route()->set_diversions(tape_.next() % 4);
        return describe(*message.mutable_route()->mutable_origin());
      case 9:
        message.mutable_found()->set_number(number());
        message.mutable_found()->set_refused(tape_.next() % 2 == 0);
        return describe(*message.mutable_found()->mutable_host());
      default:
        message.mutable_leave()->set_boot(1 + tape_.next() % 4);
        return message.mutable_leave()->set_stamp(tape_.next());
    }
  }

  void happen() {
    switch (tape_.next() % 12) {
      case 0:
      case 1:
        now_ += std::chrono::milliseconds(tape_.below(3000));
        return overlay_.on_tick(now_, out_);
      case 2:
        if (overlay_.next_deadline() != kNever) now_ = std::max(now_, overlay_.next_deadline());
        overlay_.on_tick(now_, out_);
        GW_ASSERT(overlay_.next_deadline() > now_);
        return;
      case 3:
        return overlay_.on_connected(now_, somebody(), tape_.next() % 2 == 0 ? "" : fmt::format("peer-{}:1", tape_.next() % 8), out_);
      case 4:
        return overlay_.on_unreachable(now_, somebody(), tape_.next() % 2 == 0 ? Failure::refused : Failure::no_answer, out_);
      case 5:
        return overlay_.on_reset(now_, somebody(), out_);
      case 6:
        overlay_.on_seen(now_, somebody(), out_);
        return overlay_.watch_peer(now_, somebody(), out_);
      case 7:
        overlay_.set_slots(tape_.next(), tape_.next());
        asked_.push_back(overlay_.place(now_, test_id(tape_.below(1000)).hash, tape_.next() % 4, out_));
        return;
      case 8: {  // bytes as they come
        const PeerId from = somebody();
        if (auto wild = wire::decode_overlay_message(tape_.take(tape_.next()))) overlay_.on_message(now_, from, *wild, out_);
        return;
      }
      default: {
        const Message tame = message();
        GW_ASSERT(wire::check(tame).has_value());
        return overlay_.on_message(now_, tape_.next() % 4 == 0 ? somebody() : speaker_of(tame), tame, out_);
      }
    }
  }

  // The plausible sender of a message: a message that describes its sender comes from it.
  PeerId speaker_of(const Message& message) {
    if (message.has_gossip()) return read(message.gossip().self(), signer_).id;
    if (message.has_gossip_reply()) return read(message.gossip_reply().self(), signer_).id;
    if (message.has_ring()) return read(message.ring().self(), signer_).id;
    if (message.has_ring_reply()) return read(message.ring_reply().self(), signer_).id;
    if (message.has_pong() && message.pong().has_self()) return read(message.pong().self(), signer_).id;
    return somebody();
  }

  void check_output() {
    GW_ASSERT(out_.sends.size() <= kMostSends && out_.dials.size() <= kMostSends && out_.events.size() <= kMostSends);
    for (const Send& send : out_.sends) {
      GW_ASSERT(send.to != test_id(0));
      GW_ASSERT(wire::check(send.message).has_value() && wire::encode(send.message).has_value());
      if (send.message.has_ping()) asked_.push_back(send.message.ping().number());
      if (send.message.has_gossip()) GW_ASSERT(is_genuine(GridId{}, signer_, read(send.message.gossip().self(), signer_)));
    }
    if (asked_.size() > 64) asked_.erase(asked_.begin(), asked_.end() - 64);
    out_ = {};
  }

  void check_tables() {
    const std::vector<Overlay::Known> all = overlay_.all();
    std::set<PeerId> ids;
    for (const Overlay::Known& known : all) {
      GW_ASSERT(known.descriptor.id != test_id(0));
      // A peer that has left is dead as of its own last message.
      GW_ASSERT(known.state == FailureDetector::State::dead || is_genuine(GridId{}, signer_, known.descriptor));
      ids.insert(known.descriptor.id);
    }
    GW_ASSERT(ids.size() == all.size() && all.size() <= kMostKnown);
    GW_ASSERT(overlay_.sampler().cache().size() <= 100 && overlay_.sampler().fallback().size() <= 32);
    GW_ASSERT(overlay_.ring().leafset().members().size() <= 16);
    GW_ASSERT(overlay_.neighbours().near().size() <= 17 && overlay_.neighbours().random().size() <= 6);
    GW_ASSERT(overlay_.size() >= 1 && overlay_.to_remember().size() <= 32 && overlay_.alive(test_id(0)));
  }

  Tape tape_;
  TestSigner signer_{test_key(0)};
  Time now_ = std::chrono::seconds(1);
  Overlay overlay_;
  Output out_;
  std::vector<std::uint64_t> asked_;  // numbers whose answers would be taken
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 1u << 14;  // longer tapes only take longer
  Performance(Tape({data, std::min(size, kLongest)})).run();
  return 0;
}

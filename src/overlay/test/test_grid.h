#pragma once
// Some overlays and a network that delivers everything after a while, for tests of the composition. Faults belong to the simulator.

#include <memory>
#include <queue>
#include <set>
#include <vector>

#include "overlay/overlay.h"
#include "overlay/test/test_peers.h"

namespace gw::overlay {

class TestGrid {
 public:
  static constexpr Time kDelay = std::chrono::milliseconds(20);  // one way

  explicit TestGrid(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      Overlay::Config config;
      config.address = address(i);
      config.known = {address(0)};
      add(config, i);
    }
    for (std::size_t i = 0; i < size; ++i) collect(i, [&](Output& out) { peers_[i]->overlay.start(now_, {}, out); });
  }

  Overlay& operator[](std::size_t index) { return peers_[index]->overlay; }
  std::size_t size() const { return peers_.size(); }
  Time now() const { return now_; }
  const std::vector<Event>& events(std::size_t index) const { return peers_[index]->events; }
  void kill(std::size_t index) { dead_.insert(index); }

  void run(Time span) {
    const Time end = now_ + span;
    while (!queue_.empty() && queue_.top().at <= end) {
      // top() is const, and the message is worth moving; nothing that orders the queue is moved.
      Item item = std::move(const_cast<Item&>(queue_.top()));
      queue_.pop();
      now_ = item.at;
      if (!dead_.contains(item.to)) deliver(item);
    }
    now_ = end;
  }

  template <class Call>
  void collect(std::size_t index, Call call) {
    Output out;
    call(out);
    for (Send& send : out.sends) carry(index, number_of(send.to), std::move(send.message));
    for (const Dial& dial : out.dials) this->dial(index, dial.address);
    for (Event& event : out.events) peers_[index]->events.push_back(std::move(event));
    Node& node = *peers_[index];
    const Time next = std::max(now_, node.overlay.next_deadline());
    if (next >= node.tick_at) return;  // one is on its way
    node.tick_at = next;
    push({.at = next, .to = index, .kind = Item::Kind::tick});
  }

 private:
  struct Node {
    TestSigner signer;
    Overlay overlay;
    std::vector<Event> events;
    Time tick_at = kNever;

    Node(const Overlay::Config& config, std::size_t index)
        : signer(test_key(index)), overlay(config, {test_id(index), test_key(index), 1}, signer, Rng(index)) {}
  };
  struct Item {
    Time at;
    std::uint64_t order = 0;
    std::size_t to;
    enum class Kind : std::uint8_t { message, tick, connected, accepted, refused } kind;
    std::size_t from = 0;
    Message message{};

    bool operator<(const Item& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };

  static std::string address(std::size_t index) { return fmt::format("p{}:1", index); }
  std::size_t number_of(const PeerId& id) const {
    std::size_t index = 0;
    while (peers_[index]->overlay.self().id != id) ++index;
    return index;
  }

  void add(const Overlay::Config& config, std::size_t index) { peers_.push_back(std::make_unique<Node>(config, index)); }
  void push(Item item) {
    if (item.at == kNever) return;
    item.order = ++order_;
    queue_.push(std::move(item));
  }
  void carry(std::size_t from, std::size_t to, Message message) {
    const auto kind = dead_.contains(to) ? Item::Kind::refused : Item::Kind::message;
    if (kind == Item::Kind::message && connected_.insert(std::minmax(from, to)).second)
      push({.at = now_ + kDelay, .to = to, .kind = Item::Kind::accepted, .from = from});
    if (kind == Item::Kind::refused) std::swap(from, to);
    push({.at = now_ + kDelay, .to = to, .kind = kind, .from = from, .message = std::move(message)});
  }
  void dial(std::size_t from, const std::string& where) {
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (address(i) == where && !dead_.contains(i)) push({.at = now_ + 2 * kDelay, .to = from, .kind = Item::Kind::connected, .from = i});
  }
  void deliver(const Item& item) {
    Overlay& overlay = peers_[item.to]->overlay;
    const PeerId from = peers_[item.from]->overlay.self().id;
    if (item.kind == Item::Kind::tick && peers_[item.to]->tick_at == item.at) peers_[item.to]->tick_at = kNever;
    collect(item.to, [&](Output& out) {
      switch (item.kind) {
        case Item::Kind::message:
          return overlay.on_message(now_, from, item.message, out);
        case Item::Kind::tick:
          return overlay.on_tick(now_, out);
        case Item::Kind::connected:
          return overlay.on_connected(now_, from, address(item.from), out);
        case Item::Kind::accepted:
          return overlay.on_connected(now_, from, "", out);
        case Item::Kind::refused:
          return overlay.on_unreachable(now_, from, Failure::refused, out);
      }
    });
  }

  std::vector<std::unique_ptr<Node>> peers_;
  std::set<std::size_t> dead_;
  std::set<std::pair<std::size_t, std::size_t>> connected_;
  std::priority_queue<Item> queue_;
  std::uint64_t order_ = 0;
  Time now_ = std::chrono::seconds(1);
};

}  // namespace gw::overlay

#pragma once
// Overlays and nothing else, up to ten thousand of them, in virtual time.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "overlay/event_queue.h"
#include "overlay/figures.h"
#include "overlay/host.h"
#include "overlay/internet.h"
#include "overlay/links.h"
#include "overlay/requests.h"
#include "overlay/scenario.h"
#include "overlay/thread_pool.h"
#include "overlay/turn.h"

namespace gw::sim::overlay_simulation {

// One run of a scenario with one seed. The same seed gives the same run, to the last event, on any number of threads: no message takes less
// than a millisecond, so what comes to hosts within the same one cannot be because of each other. It is noted in order, then all whom it
// concerns take their turns side by side, then what they want is carried out, in order again. A timer rings in the next millisecond at the
// soonest. What happens to the world as a whole (happenings) finds all turns before it done.
//
// Connections are as the transport makes them: a dial takes a round trip; it is refused where the process is dead, and not answered where
// the host is, or where a wall stands in between. A process that dies resets its connections; a host that loses power leaves them to be
// found broken. Messages travel as bytes.
class OverlaySimulation {
 public:
  OverlaySimulation(const Scenario& scenario, std::uint64_t seed, Trace trace, unsigned threads);

  Outcome run();

  // What came out of it; after run().
  const Figures& figures() const { return figures_; }
  const Series& series() const { return series_; }

 private:
  struct PendingMessage {  // a message on its way
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t to_life = 0;
    std::string bytes;
  };
  enum class Answer : std::uint8_t { none, connected, refused };
  struct Call {  // a dial under way, and what waits for it
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t from_life = 0;
    Answer answer = Answer::none;
    Time began{0};
    std::string address;
    std::vector<PendingMessage> pending_messages;
  };
  struct Break {  // somebody will find out that a connection is gone, or that nobody can be reached
    std::uint32_t other = 0;
    std::uint32_t life = 0;
  };
  // Objects with numbers that are used again.
  template <class T>
  class Pool {
   public:
    std::uint32_t put(T value) {
      if (free_.empty()) {
        items_.push_back(std::move(value));
        return static_cast<std::uint32_t>(items_.size() - 1);
      }
      const std::uint32_t slot = free_.back();
      free_.pop_back();
      items_[slot] = std::move(value);
      return slot;
    }
    T take(std::uint32_t slot) {
      free_.push_back(slot);
      return std::exchange(items_[slot], T());
    }
    T& at(std::uint32_t slot) { return items_[slot]; }
    const T& at(std::uint32_t slot) const { return items_[slot]; }

   private:
    std::vector<T> items_;
    std::vector<std::uint32_t> free_;
  };

  // overlay_simulation.cc
  void make_hosts(std::uint64_t seed);
  void plan();
  void at(Time when, std::function<void()> happening);
  void every(Time period, Time until, const std::function<void()>& happening);
  // All that comes in the next millisecond in which something does. False: nothing does until then.
  bool advance(Time until);
  void look_ahead() const;
  void handle(const Event& event);
  void fold(std::uint64_t word) { outcome_.trace = (outcome_.trace ^ word) * 1099511628211u; }
  void note(std::uint32_t host, const char* what, std::uint64_t detail);
  void complain(Verdict verdict, const std::string& complaint);
  bool goes_on() const { return outcome_.verdict == Verdict::good && !over_; }

  // overlay_simulation_turns.cc
  struct ThreadBuffers {  // of a thread; its memory is used again
    gw::overlay::Message received;
    gw::overlay::Output out;
  };
  Turn& await_turn(Host& host, Turn::Kind kind, std::uint32_t other);
  void take_turns();
  void take_turns_of(std::uint32_t first, ThreadBuffers& buffers);
  void take(Turn& turn, ThreadBuffers& buffers);
  void pack(Host& host, gw::overlay::Output& out, Turn& turn);
  void carry_out(Turn& turn);
  void arm(Host& host, Time deadline);
  // Not because of something that comes from others: at once.
  template <class Act>
  void take_turn_now(Host& host, const Act& act) {
    Turn turn{.host = host.index, .at = now_};
    gw::overlay::Output out;
    act(*host.overlay, host.local(now_), out);
    pack(host, out, turn);
    turn.deadline = host.overlay->next_deadline();
    carry_out(turn);
  }

  // overlay_simulation_network.cc
  std::optional<std::uint32_t> host_at(const std::string& address) const;
  Delivery plan_delivery(Host& from, std::uint32_t to, Time now) const;
  void send(Host& host, Turn::QueuedMessage& queued);
  void dial(Host& host, std::uint32_t to, const std::string& address, std::optional<PendingMessage> pending);
  void post(PendingMessage pending, const Delivery& delivery);
  void on_deliver(std::uint32_t slot);
  void on_dial_arrives(std::uint32_t slot);
  void on_dial_over(std::uint32_t slot);
  void on_unreachable(Host& host, std::uint32_t slot);
  void on_broken(Host& host, std::uint32_t slot);
  void on_reset(Host& host, std::uint32_t slot);
  void find_broken_later(std::uint32_t at, std::uint32_t other);
  bool separated(const Host& a, const Host& b) const { return a.side != b.side; }

  // overlay_simulation_faults.cc
  void boot(Host& host);
  void stop(Host& host, Host::Power power);
  void kill_some_permanently();
  void split();
  void heal();
  void churn();
  Status follow_trace();
  void make_faults();
  void cut_some();
  void end_faults();

  // overlay_simulation_requests.cc
  void ask();
  void on_located(Host& host, const gw::overlay::Located& located);
  std::uint32_t root_of(const Hash256& key) const;

  // overlay_simulation_measures.cc
  Time sample_every() const;
  Time fault_time() const { return scenario_.duration / 3; }  // of a swarm run
  Time quiet_from() const;
  void watch();
  void sample();
  void mark_bytes();
  void measure();
  bool goals_met() const;
  void judge();

  const Scenario scenario_;
  const Trace trace_;
  Rng rng_;  // of the world
  Rng fault_rng_;
  FaultMix faults_;
  double loss_;
  double duplicate_;
  Internet internet_;
  Links links_;
  std::vector<Host> hosts_;
  std::unordered_map<Hash256, std::uint32_t> index_;
  gw::overlay::GridId grid_;
  EventQueue queue_;
  Pool<PendingMessage> pending_messages_;
  Pool<Call> calls_;
  Pool<Break> breaks_;
  std::unordered_map<std::uint64_t, std::uint32_t> calls_under_way_;  // (from, to) to the call
  Pool<std::function<void()>> happenings_;
  Requests requests_;
  std::vector<ThreadBuffers> thread_buffers_;
  std::vector<Turn> turns_;  // the first `waiting_` wait; their memory is used again
  std::size_t waiting_ = 0;
  std::vector<std::uint32_t> first_turns_;  // of each host that has one
  Time now_{0};
  Time next_window_{0};    // the millisecond after this one
  bool over_ = false;      // before its time
  Time disturbed_{0};      // when something last happened to the membership
  Time ring_perfect_{-1};  // when all leafsets were, for the first time after that; earlier: not yet
  std::uint64_t bytes_at_sample_ = 0;
  std::uint64_t bytes_at_mark_ = 0;
  Time mark_{0};
  Figures figures_;
  Series series_;
  Outcome outcome_;
  ThreadPool thread_pool_;  // last: it uses the others
};

}  // namespace gw::sim::overlay_simulation

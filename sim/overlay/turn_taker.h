#pragma once
// Lets the hosts of an overlay simulation take their turns in parallel, and carries out their outputs.

#include <functional>
#include <vector>

#include "overlay/overlay_network.h"
#include "overlay/thread_pool.h"

namespace gw::sim::overlay_simulation {

// Turns are taken on several threads; their outputs are carried out on one, in the order of their events. Therefore the number of threads
// does not change the run. The other parts outlive this object.
class TurnTaker {
 public:
  struct Environment {
    Population& population;
    Agenda& agenda;
    SimulationLog& log;
    TurnQueue& turns;
    OverlayNetwork& network;
  };
  // A host has received the answer to its request.
  using OnLocated = std::function<void(Host&, const gw::overlay::Located&)>;
  using Act = std::function<void(gw::overlay::Overlay&, Time local, gw::overlay::Output&)>;

  TurnTaker(const Environment& environment, OnLocated on_located, unsigned threads);

  // Takes all waiting turns.
  void take_turns();
  // Takes a turn that no message caused, at once.
  void take_turn_now(Host& host, const Act& act);

 private:
  struct ThreadBuffers {  // of one thread; their memory is reused
    gw::overlay::Message received;
    gw::overlay::Output out;
  };

  void take_turns_of(std::uint32_t first, ThreadBuffers& buffers);
  void take(Turn& turn, ThreadBuffers& buffers);
  void pack(Host& host, gw::overlay::Output& out, Turn& turn);
  void pack_message(Host& host, gw::overlay::Send& send, Turn& turn);
  void carry_out(Turn& turn);
  void arm(Host& host, Time deadline);

  const Environment environment_;
  const OnLocated on_located_;
  std::vector<ThreadBuffers> thread_buffers_;
  ThreadPool thread_pool_;  // last: it uses the others
};

}  // namespace gw::sim::overlay_simulation

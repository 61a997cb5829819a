#pragma once
// Messages to peers, whether there is a connection or not.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/name_resolver.h"
#include "transport/transport.h"

namespace gw::node {

// Opens a connection when a message needs one. Of a peer that is being dialled the messages wait, and leave in their order once somebody
// is there, whoever dialled; if nobody is, they are lost, and the owner is told how.
//
// Invariant: one dial for each peer and each address at a time. Limits: Config; what is beyond them is lost like any other message.
// Belongs to the node thread. REQUIRES: the transport has stopped before this goes.
class Dialer {
 public:
  struct Config {
    std::size_t dials = 64;        // at once
    std::size_t messages = 64;     // that wait for one dial
    std::size_t bytes = 4u << 20;  // of them
  };
  // Nobody listens where the peer was said to be; or: nothing came back, or somebody else is there.
  enum class Failure : std::uint8_t { refused, no_answer };
  // Told how a dial ended, never from inside a call of this.
  class Owner {
   public:
    virtual void on_reached(const transport::PeerId& peer, const std::string& address) = 0;
    virtual void on_unreachable(const transport::PeerId& peer, Failure failure) = 0;

   protected:
    ~Owner() = default;
  };

  Dialer(Config config, transport::Transport& transport, NameResolver& names, Owner& owner);
  ~Dialer();

  struct Letter {
    transport::Lane lane;
    Bytes bytes;
  };
  // `address`: host:port; empty: it cannot be dialled.
  void send(const transport::PeerId& to, const std::string& address, Letter letter);
  // Whoever is there. Nobody is told if nobody is.
  void dial(const std::string& address);
  // Somebody else has made the connection.
  void on_connected(const transport::PeerId& peer);

 private:
  struct Waiting {
    std::vector<Letter> letters;
    std::size_t bytes = 0;
  };

  void connect(const std::string& address, std::optional<transport::PeerId> expected, transport::Transport::Connected done);
  void on_dialled(const transport::PeerId& peer, const std::string& address, const Result<transport::PeerId>& found);
  void hand_over(const transport::PeerId& to, Letter letter);
  void keep(Waiting& waiting, Letter letter) const;

  const Config config_;
  transport::Transport& transport_;
  NameResolver& names_;
  Owner& owner_;
  std::map<transport::PeerId, Waiting> waiting_;
  std::set<std::string> addresses_;  // being dialled for nobody in particular
  std::shared_ptr<bool> alive_;      // shared with questions for the address of a name
};

}  // namespace gw::node

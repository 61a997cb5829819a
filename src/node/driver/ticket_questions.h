#pragma once
// Questions about jobs by their tickets, on the connections between peers.

#include <memory>

#include "node/discovery/dialer.h"
#include "node/job_tickets.h"
#include "node/jobs/job_views.h"
#include "overlay/per_peer_rate_limit.h"
#include "peer/peer.h"
#include "transport/transport.h"

namespace gw::node {

// A question is a request of the transport: any peer that reaches home may ask, member of its grid or not, and a wrong ticket costs home
// one signature. Limits: Config. Belongs to the node thread.
class TicketQuestions final : public JobTickets {
 public:
  struct Config {
    job::PeerId self;
    PublicKey key{};                     // of this peer
    std::vector<std::string> addresses;  // where others reach it
    overlay::PerPeerRateLimit::Config questions{.period = std::chrono::seconds(1), .per_peer = 64, .peers = 256};
  };
  // References outlive this object.
  struct Parts {
    const peer::Peer& peer;
    const JobViews& jobs;
    transport::Transport& transport;
    Dialer& dialer;
    const wire::Signer& signer;
    std::function<void(std::function<void()>)> post;  // to a later turn of the loop
  };
  TicketQuestions(Parts parts, Config config);

  Result<wire::JobTicket> make(const job::JobId& job) const override;
  void ask(const wire::JobTicket& ticket, wire::pb::TicketQuestion question, Answered done) override;
  void set_desk(Desk desk) override { desk_ = std::move(desk); }

  // A question of another peer.
  void on_question(job::Time now, const transport::RequestId& request, ByteView bytes);

 private:
  void send(const job::PeerId& home, const Bytes& question, Answered done);
  Status admit(job::Time now, const transport::RequestId& request, const wire::pb::TicketQuestion& question);
  void answer(const transport::RequestId& request, const Result<wire::pb::TicketAnswer>& answer);

  const Parts parts_;
  const Config config_;
  overlay::PerPeerRateLimit questions_;
  Desk desk_;
};

}  // namespace gw::node

#pragma once
// Tickets of jobs: made for jobs of this peer, and shown to the homes of others.

#include <functional>

#include "job/names.h"
#include "wire/job_ticket.h"

namespace gw::node {

// Implemented by TicketQuestions; by a fake in the gateway's tests. Thread: the node thread only. Callbacks as those of Control.
class JobTickets {
 public:
  using Answered = std::function<void(Result<wire::pb::TicketAnswer>)>;
  using Desk = std::function<void(const wire::pb::TicketQuestion&, Answered)>;

  virtual ~JobTickets() = default;

  // The ticket of a job whose home is this peer. Kind::not_found.
  virtual Result<wire::JobTicket> make(const job::JobId& job) const = 0;
  // Asks the home of the job. Kind::not_found, disconnected, timeout: it cannot be reached; Kind::invalid: it refuses the ticket;
  // Kind::corrupt: its answer is wrong.
  virtual void ask(const wire::JobTicket& ticket, wire::pb::TicketQuestion question, Answered done) = 0;
  // Answers questions of others about jobs of this peer from now on. The question has shown a genuine ticket of its job. nullptr: nobody
  // does.
  virtual void set_desk(Desk desk) = 0;
};

}  // namespace gw::node

#pragma once
// Answers questions about jobs of this peer by people that have their tickets, on other machines.

#include <memory>
#include <set>

#include "gateway/api.h"
#include "gateway/job_pieces.h"
#include "node/job_tickets.h"
#include "transport/task_group.h"

namespace gw::gateway {

// A question is a GET request of the local API about the one job of the ticket: its state, its tasks, its output, its events. Nothing else
// is answered, and nothing can be changed. A stream is answered by its next piece.
//
// Belongs to the node thread. Limit: kMostQuestions at a time. REQUIRES: stop() has returned before the destructor; control and tickets
// outlive it.
class TicketDesk {
 public:
  static constexpr std::size_t kMostQuestions = 64;

  // Begins to answer.
  TicketDesk(asio::io_context& io, node::Control& control, node::JobTickets& tickets);
  // Kind::disconnected is the answer to open and to later questions.
  asio::awaitable<void> stop();

 private:
  using Question = wire::pb::TicketQuestion;
  using Answer = wire::pb::TicketAnswer;

  void take(const Question& question, node::JobTickets::Answered done);
  asio::awaitable<void> answer(Question question, node::JobTickets::Answered done);
  asio::awaitable<Result<Answer>> find_answer(const Question& question, std::shared_ptr<WakeSignal> wake);

  node::Control& control_;
  node::JobTickets& tickets_;
  asio::any_io_executor executor_;
  std::set<std::shared_ptr<WakeSignal>> open_;  // of the questions, shared with callbacks that may come too late
  transport::TaskGroup tasks_;
};

}  // namespace gw::gateway

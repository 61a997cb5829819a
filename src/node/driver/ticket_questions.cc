#include "node/driver/ticket_questions.h"

#include <algorithm>

namespace gw::node {
namespace {

constexpr std::chrono::seconds kPatience(30);

Error nobody_answers() { return fail(Kind::disconnected, "the home of the job stops"); }

}  // namespace

TicketQuestions::TicketQuestions(Parts parts, Config config)
    : parts_(std::move(parts)), config_(std::move(config)), questions_(config_.questions) {}

Result<wire::JobTicket> TicketQuestions::make(const job::JobId& job) const {
  GW_TRY_VOID(parts_.jobs.summary(job));
  return wire::make_ticket(job, config_.self, parts_.signer, config_.addresses);
}

void TicketQuestions::ask(const wire::JobTicket& ticket, wire::pb::TicketQuestion question, Answered done) {
  question.set_job(ticket.job.bytes());
  question.set_signature(std::string(as_text(ticket.signature)));
  if (ticket.home == config_.self) {
    parts_.post([this, question = std::move(question), done = std::move(done)] {
      if (!wire::is_ticket(wire::JobId::from(question.job()), *wire::signature_of(question), config_.key, parts_.signer))
        return done(fail(Kind::invalid, "the ticket is not genuine: this peer did not make it"));
      desk_ ? desk_(question, done) : done(nobody_answers());
    });
    return;
  }
  const Bytes bytes = wire::encode_question(question);
  if (parts_.transport.connected(ticket.home.hash)) return send(ticket.home, bytes, std::move(done));
  wire::Contact contact = parts_.peer.grids().contact_of(ticket.home);
  if (contact.address.empty() && contact.anchors.empty() && !ticket.addresses.empty()) contact.address = ticket.addresses.front();
  parts_.dialer.reach(ticket.home.hash, contact, [this, home = ticket.home, bytes, done](const Status& reached) {
    if (!reached)
      return done(fail(reached.error().kind,
                       "the home of the job cannot be reached ({}): is its machine on, and in a network that this one reaches?",
                       reached.error().detail));
    send(home, bytes, done);
  });
}

void TicketQuestions::send(const job::PeerId& home, const Bytes& question, Answered done) {
  const auto answered = [done](const Result<Bytes>& answer) {
    done(answer ? wire::read_ticket_answer(*answer) : Result<wire::pb::TicketAnswer>(answer.error()));
  };
  const Status sent = parts_.transport.request(home.hash, transport::Lane::bulk, question, kPatience, answered);
  if (!sent) parts_.post([done, why = sent.error()] { done(why); });
}

Status TicketQuestions::admit(job::Time now, const transport::RequestId& request, const wire::pb::TicketQuestion& question) {
  if (!questions_.admit(now, {request.peer})) return fail(Kind::overloaded, "too many questions about jobs: ask again in a second");
  const job::JobId job = job::JobId::from(question.job());
  if (!wire::is_ticket(job, *wire::signature_of(question), config_.key, parts_.signer))
    return fail(Kind::invalid, "the ticket is not genuine: the home of the job did not make it");
  if (!desk_) return nobody_answers();
  return ok();
}

void TicketQuestions::on_question(job::Time now, const transport::RequestId& request, ByteView bytes) {
  const auto question = wire::read_question(bytes);
  const Status admitted = question ? admit(now, request, *question) : Status(question.error());
  if (!admitted) return answer(request, admitted.error());
  desk_(*question, [this, request](const Result<wire::pb::TicketAnswer>& found) { answer(request, found); });
}

void TicketQuestions::answer(const transport::RequestId& request, const Result<wire::pb::TicketAnswer>& answer) {
  Result<Bytes> bytes = answer ? Result<Bytes>(Bytes()) : Result<Bytes>(answer.error());
  if (answer) {
    const std::string text = answer->SerializeAsString();
    bytes = Bytes(text.begin(), text.end());
  }
  (void)parts_.transport.answer(request, transport::Lane::bulk, std::move(bytes));
}

}  // namespace gw::node

#include "gateway/ticket_desk.h"

#include "gateway/routes.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
namespace {

constexpr std::chrono::seconds kPatience(20);  // less than that of the asking side

// The kinds of questions: streams and single answers.
bool is(const Handler& handler, StreamHandler stream) {
  const auto* found = std::get_if<StreamHandler>(&handler);
  return found != nullptr && *found == stream;
}
bool is(const Handler& handler, ApiHandler api) {
  const auto* found = std::get_if<ApiHandler>(&handler);
  return found != nullptr && *found == api;
}

wire::pb::TicketAnswer answer_of_piece(JobPiece piece, const char* type) {
  wire::pb::TicketAnswer answer;
  answer.set_status(200);
  answer.set_type(type);
  answer.set_body(std::move(piece.bytes));
  answer.set_next(piece.next);
  answer.set_end(piece.end);
  return answer;
}

wire::pb::TicketAnswer answer_of_api(httpd::Answer found) {
  wire::pb::TicketAnswer answer;
  if (found.body.size() > wire::kMaxTicketBody)
    found = Api::refusal(fail(Kind::overloaded, "the answer is longer than {} bytes: ask on the machine of the job", wire::kMaxTicketBody));
  answer.set_status(found.status);
  answer.set_type(found.type);
  answer.set_body(std::move(found.body));
  return answer;
}

}  // namespace

TicketDesk::TicketDesk(asio::io_context& io, node::Control& control, node::JobTickets& tickets)
    : control_(control), tickets_(tickets), executor_(io.get_executor()), tasks_(io.get_executor()) {
  tickets_.set_desk([this](const Question& question, node::JobTickets::Answered done) { take(question, std::move(done)); });
}

asio::awaitable<void> TicketDesk::stop() {
  tickets_.set_desk(nullptr);
  for (const auto& wake : open_) wake->stop();
  co_await tasks_.wait();
}

void TicketDesk::take(const Question& question, node::JobTickets::Answered done) {
  if (tasks_.size() >= kMostQuestions) return done(fail(Kind::overloaded, "too many questions about jobs at a time: ask again"));
  tasks_.spawn("ticket", answer(question, std::move(done)));
}

asio::awaitable<void> TicketDesk::answer(Question question, node::JobTickets::Answered done) {
  const auto wake = std::make_shared<WakeSignal>(executor_);
  open_.insert(wake);
  auto found = co_await find_answer(question, wake);
  open_.erase(wake);
  done(std::move(found));
}

asio::awaitable<Result<wire::pb::TicketAnswer>> TicketDesk::find_answer(const Question& question, std::shared_ptr<WakeSignal> wake) {
  const auto found = match(routes(), "GET", question.target());
  if (!found) co_return found.error();
  const Handler& handler = handler_of(*found->route);
  const job::JobId job = job::JobId::from(question.job());
  if (is(handler, &Api::list_jobs)) {
    const auto summary = control_.job_summary(job);
    if (!summary) co_return answer_of_api(Api::refusal(summary.error()));
    co_return answer_of_api({200, dump(to_json(std::vector{*summary})) + "\n"});
  }
  if (job::JobId{found->name} != job) co_return fail(Kind::invalid, "the ticket is that of another job");
  Api api(control_, tickets_, wake, kPatience, nullptr);
  if (is(handler, &Api::show_job)) co_return answer_of_api(co_await api.show_job(*found, ""));
  if (is(handler, &Api::list_tasks)) co_return answer_of_api(co_await api.list_tasks(*found, ""));
  JobPieces pieces(control_, wake, {.answer = kPatience});
  const JobPieces::From from = question.from() > 0 ? JobPieces::From(question.from()) : std::nullopt;
  const bool output = is(handler, &JobStream::send_output);
  const bool frames = is(handler, &JobStream::send_frames);
  if (!output && !frames && !is(handler, &JobStream::send_events))
    co_return fail(Kind::unsupported, "a ticket shows the state, the tasks, the output and the events of a job, and nothing else");
  auto piece = co_await (output ? pieces.output(*found, from) : frames ? pieces.frames(*found, from) : pieces.events(*found, from));
  if (!piece) co_return answer_of_api(Api::refusal(piece.error()));
  co_return answer_of_piece(*std::move(piece), output || frames ? "application/octet-stream" : "application/x-ndjson");
}

}  // namespace gw::gateway

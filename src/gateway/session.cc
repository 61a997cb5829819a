#include "gateway/session.h"

#include "base/metrics.h"
#include "gateway/routes.h"
#include "gateway/ticket_header.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
namespace {

// Empty if it is missing or ambiguous.
std::string_view only(const http::fields& head, http::field field) { return head.count(field) == 1 ? std::string_view(head[field]) : ""; }

RequestHead head_of(const http::request_header<>& head) {
  const auto site = head.find("Sec-Fetch-Site");
  return {.method = head.method_string(),
          .target = head.target(),
          .host = only(head, http::field::host),
          .origin = head.count(http::field::origin) > 1 ? "several" : only(head, http::field::origin),
          .fetch_site = site == head.end() ? std::string_view() : std::string_view(site->value()),
          .authorization = only(head, http::field::authorization),
          .accept_encoding = only(head, http::field::accept_encoding),
          .if_none_match = only(head, http::field::if_none_match)};
}

}  // namespace

Session::Session(AnyStream::socket socket, node::Control& control, node::JobTickets& tickets, const Config& config, WebAccess* web,
                 Entrance entrance)
    : wake_(std::make_shared<WakeSignal>(socket.get_executor())),
      exchange_(std::move(socket), config.http),
      web_(web),
      entrance_(entrance),
      tickets_(tickets),
      patience_(config.answer),
      api_(control, tickets, wake_, config.answer, web),
      stream_(exchange_, control, wake_, config.stream) {}

void Session::stop() {
  wake_->stop();
  exchange_.stream().close();
}

asio::awaitable<void> Session::run() {
  while (co_await serve_one() == httpd::After::next_request && !wake_->stopped()) {
  }
  exchange_.stream().close();
}

std::variant<std::size_t, httpd::Answer> Session::admit(const Request::header_type& head, Scope& granted) {
  const RequestHead known = head_of(head);
  if (entrance_ == Entrance::web) {
    if (auto refusal = web_->refuse_sender(known)) return *std::move(refusal);
    if (!WebAccess::is_api(known.target)) return std::size_t{0};
  }
  const auto found = match(routes(), known.method, known.target);
  if (!found) {
    httpd::Answer answer = Api::refusal(found.error());
    if (found.error().kind == Kind::unsupported) answer.allow = methods_of(routes(), known.target);
    return answer;
  }
  if (entrance_ == Entrance::web) {
    auto admitted = web_->admit(known, scope_of(*found->route), Api::now());
    if (auto* refusal = std::get_if<httpd::Answer>(&admitted)) return std::move(*refusal);
    granted = std::get<Scope>(admitted);
  }
  return found->route->max_body_bytes;
}

asio::awaitable<httpd::After> Session::serve_one() {
  Scope granted = Scope::manage;
  auto request = co_await exchange_.read([&](const auto& head) { return admit(head, granted); });
  if (!request) co_return httpd::After::close;
  metrics::count(metrics::Metric::requests);
  const httpd::After after = request->keep_alive() ? httpd::After::next_request : httpd::After::close;
  const std::string target(request->target());
  if (entrance_ == Entrance::web && !WebAccess::is_api(target)) co_return co_await exchange_.send(web_->page(head_of(*request)), after);
  auto found = match(routes(), request->method_string(), target);
  GW_ASSERT(found);  // admit() has let it through
  found->granted = granted;
  const Handler& handler = handler_of(*found->route);
  if (const auto ticket = request->find(kTicketHeader); ticket != request->end()) {
    if (found->route->method != "GET")
      co_return co_await exchange_.send(
          Api::refusal(fail(Kind::invalid, "a ticket shows a job and changes nothing: do this on the machine of the job")), after);
    if (entrance_ == Entrance::web)
      co_return co_await exchange_.send(Api::refusal(fail(Kind::unsupported, "tickets of jobs are shown through the socket of the daemon")),
                                        after);
    const std::string text(ticket->value());
    co_return co_await serve_by_ticket({text, target, handler}, after);
  }
  if (const auto* stream = std::get_if<StreamHandler>(&handler)) {
    co_await (stream_.**stream)(*found);
    co_return httpd::After::close;
  }
  httpd::Answer answer = co_await (api_.*std::get<ApiHandler>(handler))(*found, std::move(request->body()));
  co_return co_await exchange_.send(std::move(answer), after);
}

// --- by ticket

asio::awaitable<Result<wire::pb::TicketAnswer>> Session::ask_home(const wire::JobTicket& ticket, const std::string& target,
                                                                  JobPieces::From from) {
  wire::pb::TicketQuestion question;
  question.set_target(target);
  question.set_from(from.value_or(0));
  co_return co_await answer_of<wire::pb::TicketAnswer>(wake_, patience_,
                                                       [&](auto done) { tickets_.ask(ticket, std::move(question), std::move(done)); });
}

asio::awaitable<Result<JobPiece>> Session::next_piece(const wire::JobTicket& ticket, const std::string& target, JobPieces::From from) {
  auto answer = co_await ask_home(ticket, target, from);
  if (!answer) co_return answer.error();
  if (answer->status() >= 300) co_return httpd::error_of(answer->status(), answer->body());
  co_return JobPiece{.bytes = std::move(*answer->mutable_body()), .next = answer->next(), .end = answer->end()};
}

asio::awaitable<httpd::After> Session::serve_by_ticket(TicketRequest request, httpd::After after) {
  const auto ticket = wire::parse_ticket(request.ticket);
  if (!ticket) co_return co_await exchange_.send(Api::refusal(ticket.error()), after);
  if (request.target.size() > wire::kMaxTicketTarget)
    co_return co_await exchange_.send(Api::refusal(fail(Kind::invalid, "the request is longer than {} bytes", wire::kMaxTicketTarget)),
                                      after);
  if (std::holds_alternative<StreamHandler>(request.handler)) {
    co_await stream_.relay("application/octet-stream", [&](JobPieces::From from) { return next_piece(*ticket, request.target, from); });
    co_return httpd::After::close;
  }
  auto answer = co_await ask_home(*ticket, request.target, std::nullopt);
  if (!answer) co_return co_await exchange_.send(Api::refusal(answer.error()), after);
  co_return co_await exchange_.send({.status = answer->status(), .body = std::move(*answer->mutable_body()), .type = answer->type()},
                                    after);
}

}  // namespace gw::gateway

#pragma once
// A connection to the local API.

#include <chrono>
#include <memory>
#include <optional>

#include "gateway/api.h"
#include "gateway/http.h"
#include "gateway/job_stream.h"
#include "gateway/routes.h"
#include "gateway/wake_signal.h"
#include "gateway/web/web_access.h"
#include "httpd/error_answer.h"
#include "httpd/exchange.h"
#include "node/control.h"
#include "node/job_tickets.h"

namespace gw::gateway {

// Reads requests one after the other, finds their routes (routes.h) and answers them; a stream ends the connection.
//
// Runs on the node thread, as a coroutine of the gateway, which outlives it, as do control and tickets. Limits: Config,
// Route::max_body_bytes.
class Session {
 public:
  struct Config {
    httpd::Exchange<AnyStream>::Config http{.error_body = httpd::error_body};
    JobStream::Config stream;
    std::chrono::milliseconds answer = std::chrono::seconds(60);  // of the daemon behind the API
  };

  // Through the unix socket comes the user of the daemon, who may do everything; through the web, whoever `web` admits.
  enum class Entrance : std::uint8_t { local, web };
  // REQUIRES: `web` is there if the entrance is Entrance::web; it outlives the session.
  Session(AnyStream::socket socket, node::Control& control, node::JobTickets& tickets, const Config& config, WebAccess* web,
          Entrance entrance);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Ends when the client closes the connection, breaks a rule or is too slow, or after stop().
  asio::awaitable<void> run();
  void stop();
  std::optional<std::chrono::steady_clock::time_point> waiting_since() const { return exchange_.waiting_since(); }

 private:
  using Request = httpd::Exchange<AnyStream>::Request;
  // The limit of the body, or the answer that refuses the request. `granted`: what its sender may do.
  std::variant<std::size_t, httpd::Answer> admit(const Request::header_type& head, Scope& granted);
  asio::awaitable<httpd::After> serve_one();
  // A request about a job whose home is another peer.
  struct TicketRequest {
    std::string_view ticket;
    std::string target;
    const Handler& handler;
  };
  asio::awaitable<httpd::After> serve_by_ticket(TicketRequest request, httpd::After after);
  asio::awaitable<Result<wire::pb::TicketAnswer>> ask_home(const wire::JobTicket& ticket, const std::string& target, JobPieces::From from);
  asio::awaitable<Result<JobPiece>> next_piece(const wire::JobTicket& ticket, const std::string& target, JobPieces::From from);

  const std::shared_ptr<WakeSignal> wake_;  // shared with callbacks
  httpd::Exchange<AnyStream> exchange_;
  WebAccess* const web_;
  const Entrance entrance_;
  node::JobTickets& tickets_;
  const std::chrono::milliseconds patience_;
  Api api_;
  JobStream stream_;
};

}  // namespace gw::gateway

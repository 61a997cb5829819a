#pragma once
// The operations of the local API that have one answer; docs/api/openapi.yaml.

#include <chrono>
#include <memory>
#include <string>

#include "gateway/http.h"
#include "gateway/route.h"
#include "gateway/wake_signal.h"
#include "gateway/web/web_access.h"
#include "httpd/answer.h"
#include "node/control.h"
#include "node/job_tickets.h"

namespace gw::gateway {

// Asks the daemon behind it and writes the answer as JSON. One function for each route (routes.cc). A function that needs the disk or
// another peer waits for a callback, at most `patience`.
//
// Belongs to one session; node thread. REQUIRES: control and tickets outlive it.
class Api {
 public:
  using Answer = httpd::Answer;

  // `web`: the dashboard, if it is served.
  Api(node::Control& control, const node::JobTickets& tickets, std::shared_ptr<WakeSignal> wake, std::chrono::milliseconds patience,
      WebAccess* web)
      : control_(control), tickets_(tickets), wake_(std::move(wake)), patience_(patience), web_(web) {}

  asio::awaitable<Answer> show_node(const Match& match, std::string body);
  asio::awaitable<Answer> list_peers(const Match& match, std::string body);
  asio::awaitable<Answer> ping_peer(const Match& match, std::string body);
  asio::awaitable<Answer> list_jobs(const Match& match, std::string body);
  asio::awaitable<Answer> show_balance(const Match& match, std::string body);
  asio::awaitable<Answer> list_hosted(const Match& match, std::string body);
  asio::awaitable<Answer> show_job(const Match& match, std::string body);
  asio::awaitable<Answer> make_ticket(const Match& match, std::string body);
  asio::awaitable<Answer> list_tasks(const Match& match, std::string body);
  asio::awaitable<Answer> show_manifest(const Match& match, std::string body);
  asio::awaitable<Answer> submit_job(const Match& match, std::string body);
  asio::awaitable<Answer> cancel_job(const Match& match, std::string body);
  asio::awaitable<Answer> suspend_job(const Match& match, std::string body);
  asio::awaitable<Answer> resume_job(const Match& match, std::string body);
  asio::awaitable<Answer> show_image(const Match& match, std::string body);
  asio::awaitable<Answer> load_blob(const Match& match, std::string body);
  asio::awaitable<Answer> forget_job(const Match& match, std::string body);
  asio::awaitable<Answer> supply_input(const Match& match, std::string body);
  asio::awaitable<Answer> store_blob(const Match& match, std::string body);
  asio::awaitable<Answer> fetch(const Match& match, std::string body);
  asio::awaitable<Answer> change_share(const Match& match, std::string body);
  asio::awaitable<Answer> show_metrics(const Match& match, std::string body);
  asio::awaitable<Answer> list_grids(const Match& match, std::string body);
  asio::awaitable<Answer> add_grid(const Match& match, std::string body);
  asio::awaitable<Answer> leave_grid(const Match& match, std::string body);
  asio::awaitable<Answer> invite(const Match& match, std::string body);
  asio::awaitable<Answer> revoke(const Match& match, std::string body);
  asio::awaitable<Answer> show_web(const Match& match, std::string body);
  asio::awaitable<Answer> list_web_tokens(const Match& match, std::string body);
  asio::awaitable<Answer> add_web_token(const Match& match, std::string body);
  asio::awaitable<Answer> revoke_web_token(const Match& match, std::string body);
  asio::awaitable<Answer> stop_node(const Match& match, std::string body);

  // The answer to a request that failed; counts it.
  static Answer refusal(const Error& error);
  // The time of requests, by which tokens expire.
  static WebTokens::Time now();

 private:
  asio::awaitable<Answer> change_grids(Result<node::GridOrder> order, unsigned status, const char* key);

  node::Control& control_;
  const node::JobTickets& tickets_;
  const std::shared_ptr<WakeSignal> wake_;  // shared with callbacks that may come after the session has ended
  const std::chrono::milliseconds patience_;
  WebAccess* const web_;
};

}  // namespace gw::gateway

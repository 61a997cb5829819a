#pragma once
// One connection to the local API.

#include <chrono>
#include <memory>
#include <string>

#include "gateway/http.h"
#include "gateway/route.h"
#include "gateway/wake_signal.h"
#include "httpd/error_answer.h"
#include "httpd/exchange.h"
#include "node/control.h"

namespace gw::gateway {

// Reads requests one after the other and answers them: plain answers in one piece, output and events as a stream that ends the connection.
//
// A stream takes what there is when the client is ready for more, so a slow client queues nothing. Runs on the node thread, as a coroutine
// of the gateway, which outlives it. Limits: Config, Route::max_body_bytes.
class Session {
 public:
  struct Config {
    httpd::Exchange<Local>::Config http{.error_body = httpd::error_body};
    std::chrono::milliseconds answer = std::chrono::seconds(60);  // of the peer behind us
    std::size_t piece_bytes = 64u << 10;                          // of output
    std::size_t piece_events = 256;
  };

  Session(Local::socket socket, node::Control& control, const Config& config);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Ends when the client goes, breaks a rule or is too slow, or after stop().
  asio::awaitable<void> run();
  void stop();
  std::optional<std::chrono::steady_clock::time_point> waiting_since() const { return exchange_.waiting_since(); }

 private:
  using Answer = httpd::Answer;
  using After = httpd::After;
  using Request = httpd::Exchange<Local>::Request;

  // session.cc
  asio::awaitable<After> serve_one();
  asio::awaitable<After> serve(const Call& call, Request request);
  asio::awaitable<After> send(Answer answer, After after) { return exchange_.send(std::move(answer), after); }
  static Answer refusal(const Error& error);

  // session_calls.cc: each answers one kind of call.
  asio::awaitable<Answer> perform(const Call& call, std::string body);
  asio::awaitable<Answer> perform(const ShowNode& call, std::string body);
  asio::awaitable<Answer> perform(const ListPeers& call, std::string body);
  asio::awaitable<Answer> perform(const ListJobs& call, std::string body);
  asio::awaitable<Answer> perform(const ShowJob& call, std::string body);
  asio::awaitable<Answer> perform(const SubmitJob& call, std::string body);
  asio::awaitable<Answer> perform(const CancelJob& call, std::string body);
  asio::awaitable<Answer> perform(const StoreBlob& call, std::string body);
  asio::awaitable<Answer> perform(const PingPeer& call, std::string body);
  asio::awaitable<Answer> perform(const SetShare& call, std::string body);
  asio::awaitable<Answer> perform(const ReadMetrics& call, std::string body);
  asio::awaitable<Answer> perform(const StopNode& call, std::string body);

  // session_grids.cc
  asio::awaitable<Answer> perform(const ListGrids& call, std::string body);
  asio::awaitable<Answer> perform(const AddGrid& call, std::string body);
  asio::awaitable<Answer> perform(const LeaveGrid& call, std::string body);
  asio::awaitable<Answer> perform(const InviteToGrid& call, std::string body);
  asio::awaitable<Answer> perform(const RevokeInGrid& call, std::string body);
  asio::awaitable<Answer> change_grids(Result<node::GridOrder> order, unsigned status, const char* key);

  // session_streams.cc
  asio::awaitable<void> stream(const ReadOutput& call);
  asio::awaitable<void> stream(const ReadEvents& call);
  template <class Next>
  asio::awaitable<void> send_stream(job::JobId job, std::string_view type, Next next);
  asio::awaitable<bool> send_head(std::string_view type);
  asio::awaitable<bool> send_chunk(std::string_view bytes);
  void watch_client();

  httpd::Exchange<Local> exchange_;
  beast::basic_stream<Local>& stream_;  // of the exchange, for what is sent in pieces
  node::Control& control_;
  const Config config_;
  std::shared_ptr<WakeSignal> wake_;  // callbacks own it too
};

}  // namespace gw::gateway

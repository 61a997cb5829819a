#pragma once
// One connection to the local API.

#include <chrono>
#include <memory>
#include <string>

#include "gateway/http.h"
#include "gateway/route.h"
#include "gateway/wake.h"
#include "node/control.h"

namespace gw::gateway {

// Reads requests one after the other and answers them: plain answers in one piece, output and events as a stream that ends the connection.
//
// A stream takes what there is when the client is ready for more, so a slow client queues nothing. Runs on the node thread, as a coroutine
// of the gateway, which outlives it. Limits: Config, Route::max_body_bytes.
class Session {
 public:
  struct Config {
    std::uint32_t header_bytes = 8u << 10;
    std::chrono::milliseconds idle = std::chrono::seconds(60);     // until the head of the next request is there
    std::chrono::milliseconds receive = std::chrono::seconds(30);  // for its body
    std::chrono::milliseconds answer = std::chrono::seconds(60);   // of the peer behind us
    std::chrono::milliseconds send = std::chrono::seconds(30);     // for a piece, which the client has to take
    std::size_t piece_bytes = 64u << 10;                           // of output
    std::size_t piece_events = 256;
  };

  Session(Local::socket socket, node::Control& control, const Config& config);

  // Ends when the client goes, breaks a rule or is too slow, or after stop().
  asio::awaitable<void> run();
  void stop();

 private:
  using Request = http::request<http::string_body>;
  struct Answer {
    unsigned status = 200;
    std::string body = {};
    std::string allow = {};  // methods, of a 405
  };
  enum class After : std::uint8_t { next_request, close };

  // session.cc
  asio::awaitable<After> serve_one();
  asio::awaitable<After> serve(const Call& call, Request request);
  asio::awaitable<bool> read_body(http::request_parser<http::string_body>& parser, std::size_t limit);
  asio::awaitable<After> send(Answer answer, After after);
  asio::awaitable<After> refuse(error_code error);
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
  asio::awaitable<Answer> perform(const StopNode& call, std::string body);

  // session_streams.cc
  asio::awaitable<void> stream(const ReadOutput& call);
  asio::awaitable<void> stream(const ReadEvents& call);
  template <class Next>
  asio::awaitable<void> send_stream(job::JobId job, std::string_view type, Next next);
  asio::awaitable<bool> send_head(std::string_view type);
  asio::awaitable<bool> send_chunk(std::string_view bytes);
  void watch_client();

  beast::basic_stream<Local> stream_;
  node::Control& control_;
  const Config config_;
  beast::flat_buffer buffer_;
  std::shared_ptr<Wake> wake_;  // callbacks own it too
};

}  // namespace gw::gateway

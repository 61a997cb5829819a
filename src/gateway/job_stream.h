#pragma once
// The output and the events of a job, sent while the job runs.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "gateway/http.h"
#include "gateway/job_pieces.h"
#include "gateway/route.h"
#include "gateway/wake_signal.h"
#include "httpd/exchange.h"
#include "node/control.h"

namespace gw::gateway {

// Sends a chunked answer whose pieces are taken from the daemon when the client is ready for more, so a slow client queues nothing. A
// stream ends with the job, with the client, or with the gateway; afterwards its connection is closed. A stream that cannot be finished
// breaks off without its last chunk, so that no client takes it for complete.
//
// Belongs to one session; node thread. REQUIRES: control and exchange outlive it.
class JobStream {
 public:
  struct Config {
    std::chrono::milliseconds send = std::chrono::seconds(30);  // for the client to take one piece
    JobPieces::Config pieces;
    std::chrono::milliseconds ask_again = std::chrono::milliseconds(500);  // the home of a job of which a client has a ticket
  };

  JobStream(httpd::Exchange<AnyStream>& exchange, node::Control& control, std::shared_ptr<WakeSignal> wake, const Config& config)
      : exchange_(exchange),
        stream_(exchange.stream()),
        control_(control),
        wake_(wake),
        config_(config),
        pieces_(control, std::move(wake), config.pieces) {}

  asio::awaitable<void> send_output(const Match& match);
  asio::awaitable<void> send_frames(const Match& match);
  asio::awaitable<void> send_events(const Match& match);

  // Sends pieces that come from elsewhere, from the first one on: nothing tells when there are more, so `next` is called again and again.
  using NextPiece = std::function<asio::awaitable<Result<JobPiece>>(JobPieces::From)>;
  asio::awaitable<void> relay(std::string_view type, const NextPiece& next) { return send_stream(std::nullopt, type, next); }
  asio::awaitable<void> refuse(const Error& error);

 private:
  // `watched`: says when there is more of it. None: nobody does.
  asio::awaitable<void> send_stream(std::optional<job::JobId> watched, std::string_view type, const NextPiece& next);
  asio::awaitable<bool> send_head(std::string_view type);
  asio::awaitable<bool> send_chunk(std::string_view bytes);
  void watch_client();

  httpd::Exchange<AnyStream>& exchange_;
  beast::basic_stream<AnyStream>& stream_;  // of the exchange, for what is sent in pieces
  node::Control& control_;
  const std::shared_ptr<WakeSignal> wake_;  // shared with callbacks that may come after the session has ended
  const Config config_;
  JobPieces pieces_;
};

}  // namespace gw::gateway

#include "gateway/job_stream.h"

#include "base/log.h"
#include "gateway/api.h"

namespace gw::gateway {
namespace {

constexpr std::chrono::milliseconds kQuiet = std::chrono::hours(1);  // then the loop looks again: a stream waits as long as its client

}  // namespace

// A client that closes the connection, or sends something else, ends the stream. Without this a client that has gone would be noticed only
// when the job writes again.
void JobStream::watch_client() {
  stream_.socket().async_wait(AnyStream::socket::wait_read, [wake = wake_](error_code) { wake->stop(); });
}

asio::awaitable<bool> JobStream::send_head(std::string_view type) {
  const std::string head = httpd::head_of_stream(type, exchange_.headers());
  stream_.expires_after(config_.send);
  auto [error, bytes] = co_await asio::async_write(stream_, asio::buffer(head), kAsTuple);
  co_return !error;
}

asio::awaitable<bool> JobStream::send_chunk(std::string_view bytes) {
  stream_.expires_after(config_.send);
  if (bytes.empty()) {
    auto [error, sent] = co_await asio::async_write(stream_, http::make_chunk_last(), kAsTuple);
    co_return !error;
  }
  auto [error, sent] = co_await asio::async_write(stream_, http::make_chunk(asio::buffer(bytes)), kAsTuple);
  co_return !error;
}

asio::awaitable<void> JobStream::refuse(const Error& error) { co_await exchange_.send(Api::refusal(error), httpd::After::close); }

asio::awaitable<void> JobStream::send_stream(std::optional<job::JobId> watched, std::string_view type, const NextPiece& next) {
  // A flag of its own, because waiting for an answer also consumes what raises the signal.
  auto changed = std::make_shared<bool>(false);
  std::unique_ptr<node::Subscription> subscription;
  if (watched) {
    auto subscribed = control_.watch(*watched, [wake = wake_, changed] {
      *changed = true;
      wake->raise();
    });
    if (!subscribed) co_return co_await refuse(subscribed.error());
    subscription = *std::move(subscribed);
  }
  Result<JobPiece> piece = co_await next(std::nullopt);
  if (!piece) co_return co_await refuse(piece.error());
  if (!co_await send_head(type)) co_return;
  watch_client();
  for (;;) {
    if (!piece->bytes.empty() && !co_await send_chunk(piece->bytes)) co_return;
    if (piece->end) break;
    while (piece->bytes.empty() && !*changed && !wake_->stopped()) {
      co_await wake_->wait(watched ? kQuiet : config_.ask_again);
      if (!watched) break;
    }
    if (wake_->stopped()) co_return;
    *changed = false;
    piece = co_await next(piece->next);
    if (!piece) {
      log::warn("gateway", "a stream broke off", kv("type", std::string(type)), kv("why", piece.error().detail));
      co_return;
    }
  }
  co_await send_chunk("");
}

asio::awaitable<void> JobStream::send_output(const Match& match) {
  co_await send_stream(job::JobId{match.name}, "application/octet-stream",
                       [&](JobPieces::From from) { return pieces_.output(match, from); });
}

asio::awaitable<void> JobStream::send_frames(const Match& match) {
  co_await send_stream(job::JobId{match.name}, "application/octet-stream",
                       [&](JobPieces::From from) { return pieces_.frames(match, from); });
}

asio::awaitable<void> JobStream::send_events(const Match& match) {
  co_await send_stream(job::JobId{match.name}, "application/x-ndjson", [&](JobPieces::From from) { return pieces_.events(match, from); });
}

}  // namespace gw::gateway

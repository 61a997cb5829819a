#include <optional>

#include "base/log.h"
#include "gateway/session.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
namespace {

constexpr std::chrono::milliseconds kForAWhile = std::chrono::hours(1);  // a stream waits as long as its client does

// What goes out next.
struct Piece {
  std::string bytes;  // empty: nothing for now
  bool end = false;   // and nothing afterwards
};

bool is_over(const node::Control& control, const job::JobId& id) {
  const Result<node::JobView> view = control.job(id);
  return view && view->summary.state != node::JobState::running;
}

}  // namespace

// A client that goes, or speaks although its turn is over, ends the stream: this is how one is noticed that waits for a quiet job.
void Session::watch_client() {
  stream_.socket().async_wait(Local::socket::wait_read, [wake = wake_](error_code) { wake->stop(); });
}

asio::awaitable<bool> Session::send_head(std::string_view type) {
  http::response<http::empty_body> response(http::status::ok, 11);
  response.set(http::field::server, "godwit");
  response.set(http::field::content_type, std::string(type));
  response.keep_alive(false);
  response.chunked(true);
  http::response_serializer<http::empty_body> serializer(response);
  stream_.expires_after(config_.http.send);
  auto [error, bytes] = co_await http::async_write_header(stream_, serializer, kAsTuple);
  co_return !error;
}

asio::awaitable<bool> Session::send_chunk(std::string_view bytes) {
  stream_.expires_after(config_.http.send);
  if (bytes.empty()) {
    auto [error, sent] = co_await asio::async_write(stream_, http::make_chunk_last(), kAsTuple);
    co_return !error;
  }
  auto [error, sent] = co_await asio::async_write(stream_, http::make_chunk(asio::buffer(bytes)), kAsTuple);
  co_return !error;
}

// `next` gives pieces, as awaitable<Result<Piece>>, until one says that it is the last. A stream that cannot be finished breaks off without
// its last chunk, so that no client takes it for whole.
template <class Next>
asio::awaitable<void> Session::send_stream(job::JobId job, std::string_view type, Next next) {
  // A flag of its own, because waiting for an answer uses up what raises the wake.
  auto changed = std::make_shared<bool>(false);
  auto subscription = control_.watch(job, [wake = wake_, changed] {
    *changed = true;
    wake->raise();
  });
  if (!subscription) {
    co_await send(refusal(subscription.error()), After::close);
    co_return;
  }
  Result<Piece> piece = co_await next();
  if (!piece) {
    co_await send(refusal(piece.error()), After::close);
    co_return;
  }
  if (!co_await send_head(type)) co_return;
  watch_client();
  for (;;) {
    if (!piece->bytes.empty() && !co_await send_chunk(piece->bytes)) co_return;
    if (piece->end) break;
    while (piece->bytes.empty() && !*changed && !wake_->stopped()) co_await wake_->wait(kForAWhile);
    if (wake_->stopped()) co_return;
    *changed = false;
    piece = co_await next();
    if (!piece) {
      log::warn("gateway", "a stream broke off", kv("job", job.brief()), kv("why", piece.error().detail));
      co_return;
    }
  }
  co_await send_chunk("");
}

asio::awaitable<void> Session::stream(const ReadOutput& call) {
  std::uint64_t offset = call.from;
  const auto next = [this, call, &offset]() -> asio::awaitable<Result<Piece>> {
    Result<node::OutputPiece> found = co_await answer_of<node::OutputPiece>(wake_, config_.answer, [&](auto done) {
      control_.read_output(call.job, call.stream, offset, config_.piece_bytes, std::move(done));
    });
    if (!found) co_return found.error();
    offset += found->bytes.size();
    const bool all_for_now = found->bytes.empty() && call.until == ReadOutput::ReadUntil::now;
    co_return Piece{std::move(found->bytes), found->end || all_for_now};
  };
  co_await send_stream(call.job, "application/octet-stream", next);
}

asio::awaitable<void> Session::stream(const ReadEvents& call) {
  std::uint64_t from = call.from;
  const auto next = [this, call, &from]() -> asio::awaitable<Result<Piece>> {
    const auto events = control_.events(call.job, from, config_.piece_events);
    if (!events) co_return events.error();
    Piece piece{.bytes = "", .end = events->empty() && is_over(control_, call.job)};  // nothing comes after the last one
    for (const node::JobEvent& event : *events) {
      piece.bytes += dump(to_json(event)) + "\n";
      piece.end = std::holds_alternative<node::JobEvent::Over>(event.kind);
      from = event.number + 1;
    }
    co_return piece;
  };
  co_await send_stream(call.job, "application/x-ndjson", next);
}

}  // namespace gw::gateway

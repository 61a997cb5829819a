#include "gateway/job_stream.h"

#include "base/log.h"
#include "gateway/api.h"
#include "gateway/output_frames.h"
#include "gateway/view_json.h"

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

asio::awaitable<void> JobStream::send_stream(job::JobId job, std::string_view type, const NextPiece& next) {
  // A flag of its own, because waiting for an answer also consumes what raises the signal.
  auto changed = std::make_shared<bool>(false);
  auto subscription = control_.watch(job, [wake = wake_, changed] {
    *changed = true;
    wake->raise();
  });
  if (!subscription) co_return co_await refuse(subscription.error());
  Result<Piece> piece = co_await next();
  if (!piece) co_return co_await refuse(piece.error());
  if (!co_await send_head(type)) co_return;
  watch_client();
  for (;;) {
    if (!piece->bytes.empty() && !co_await send_chunk(piece->bytes)) co_return;
    if (piece->end) break;
    while (piece->bytes.empty() && !*changed && !wake_->stopped()) co_await wake_->wait(kQuiet);
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

asio::awaitable<void> JobStream::send_output(const Match& match) {
  const job::JobId id{match.name};
  const auto which = stream(match);
  const auto follow = flag(match, "follow");
  const auto from = number(match, "from");
  if (!which) co_return co_await refuse(which.error());
  if (!follow) co_return co_await refuse(follow.error());
  if (!from) co_return co_await refuse(from.error());
  std::uint64_t offset = *from;
  const NextPiece next = [&]() -> asio::awaitable<Result<Piece>> {
    Result<node::OutputPiece> found = co_await answer_of<node::OutputPiece>(
        wake_, config_.answer, [&](auto done) { control_.read_output(id, *which, offset, config_.piece_bytes, std::move(done)); });
    if (!found) co_return found.error();
    offset += found->bytes.size();
    const bool all_for_now = found->bytes.empty() && !*follow;
    co_return Piece{std::move(found->bytes), found->end || all_for_now};
  };
  co_await send_stream(id, "application/octet-stream", next);
}

asio::awaitable<void> JobStream::send_frames(const Match& match) {
  const job::JobId id{match.name};
  auto query = frame_query(match);
  const auto follow = flag(match, "follow");
  if (!query) co_return co_await refuse(query.error());
  if (!follow) co_return co_await refuse(follow.error());
  if (*follow && query->order == node::FrameQuery::Order::task)
    co_return co_await refuse(
        fail(Kind::invalid, "follow=1 goes with order=arrival; output in the order of tasks is at /v1/jobs/{{id}}/output"));
  const auto summary = control_.job_summary(id);
  if (!summary) co_return co_await refuse(summary.error());
  query->limit = config_.piece_bytes;
  const NextPiece next = [&]() -> asio::awaitable<Result<Piece>> {
    Result<node::OutputFrames> found = co_await answer_of<node::OutputFrames>(
        wake_, config_.answer, [&](auto done) { control_.read_frames(id, *query, std::move(done)); });
    if (!found) co_return found.error();
    const bool all_for_now = found->next == query->from || (found->frames.empty() && query->order == node::FrameQuery::Order::arrival);
    query->from = found->next;
    Piece piece{.bytes = "", .end = found->end || (all_for_now && !*follow)};
    for (const node::OutputFrame& frame : found->frames) piece.bytes += encode_frame(frame, summary->array);
    co_return piece;
  };
  co_await send_stream(id, "application/octet-stream", next);
}

asio::awaitable<void> JobStream::send_events(const Match& match) {
  const job::JobId id{match.name};
  const auto first = number(match, "from");
  if (!first) co_return co_await refuse(first.error());
  std::uint64_t from = *first;
  const NextPiece next = [&]() -> asio::awaitable<Result<Piece>> {
    const auto events = control_.events(id, from, config_.piece_events);
    if (!events) co_return events.error();
    Piece piece{.bytes = "", .end = events->empty() && control_.is_over(id)};  // no event comes after the end
    for (const node::JobEvent& event : *events) {
      piece.bytes += dump(to_json(event)) + "\n";
      piece.end = std::holds_alternative<node::JobEvent::Over>(event.kind);
      from = event.number + 1;
    }
    co_return piece;
  };
  co_await send_stream(id, "application/x-ndjson", next);
}

}  // namespace gw::gateway

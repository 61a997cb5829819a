#include "gateway/job_pieces.h"

#include "gateway/output_frames.h"
#include "gateway/view_json.h"

namespace gw::gateway {

asio::awaitable<Result<JobPiece>> JobPieces::output(const Match& match, From from) {
  const auto which = stream(match);
  const auto follow = flag(match, "follow");
  const auto first = number(match, "from");
  if (!which) co_return which.error();
  if (!follow) co_return follow.error();
  if (!first) co_return first.error();
  const std::uint64_t offset = from.value_or(*first);
  Result<node::OutputPiece> found = co_await answer_of<node::OutputPiece>(wake_, config_.answer, [&](auto done) {
    control_.read_output(job::JobId{match.name}, *which, offset, config_.bytes, std::move(done));
  });
  if (!found) co_return found.error();
  const bool all_for_now = found->bytes.empty() && !*follow;
  const std::uint64_t next = offset + found->bytes.size();
  co_return JobPiece{.bytes = std::move(found->bytes), .next = next, .end = found->end || all_for_now};
}

asio::awaitable<Result<JobPiece>> JobPieces::frames(const Match& match, From from) {
  const job::JobId id{match.name};
  auto query = frame_query(match);
  const auto follow = flag(match, "follow");
  if (!query) co_return query.error();
  if (!follow) co_return follow.error();
  if (*follow && query->order == node::FrameQuery::Order::task)
    co_return fail(Kind::invalid, "follow=1 goes with order=arrival; output in the order of tasks is at /v1/jobs/{{id}}/output");
  const auto summary = control_.job_summary(id);
  if (!summary) co_return summary.error();
  query->limit = config_.bytes;
  query->from = from.value_or(query->from);
  Result<node::OutputFrames> found =
      co_await answer_of<node::OutputFrames>(wake_, config_.answer, [&](auto done) { control_.read_frames(id, *query, std::move(done)); });
  if (!found) co_return found.error();
  const bool all_for_now = found->next == query->from || (found->frames.empty() && query->order == node::FrameQuery::Order::arrival);
  JobPiece piece{.bytes = "", .next = found->next, .end = found->end || (all_for_now && !*follow)};
  for (const node::OutputFrame& frame : found->frames) piece.bytes += encode_frame(frame, summary->array);
  co_return piece;
}

asio::awaitable<Result<JobPiece>> JobPieces::events(const Match& match, From from) {
  const job::JobId id{match.name};
  const auto first = number(match, "from");
  if (!first) co_return first.error();
  JobPiece piece{.bytes = "", .next = from.value_or(*first)};
  const auto events = control_.events(id, piece.next, config_.events);
  if (!events) co_return events.error();
  piece.end = events->empty() && control_.is_over(id);  // no event comes after the end
  for (const node::JobEvent& event : *events) {
    piece.bytes += dump(to_json(event)) + "\n";
    piece.end = std::holds_alternative<node::JobEvent::Over>(event.kind);
    piece.next = event.number + 1;
  }
  co_return piece;
}

}  // namespace gw::gateway

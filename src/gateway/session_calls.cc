#include "gateway/session.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"
#include "wire/peer.pb.h"

namespace gw::gateway {
namespace {

std::string line(const Json& json) { return dump(json) + "\n"; }

Bytes bytes_from(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

asio::awaitable<Session::Answer> Session::perform(const Call& call, std::string body) {
  return std::visit(
      [this, &body]<class Known>(const Known& known) -> asio::awaitable<Answer> {
        if constexpr (std::is_same_v<Known, ReadOutput> || std::is_same_v<Known, ReadEvents>) {
          GW_ASSERT(false);  // streams
        } else {
          return perform(known, std::move(body));
        }
      },
      call);
}

asio::awaitable<Session::Answer> Session::perform(const ShowNode&, std::string) { co_return Answer{200, line(to_json(control_.node()))}; }

asio::awaitable<Session::Answer> Session::perform(const ListPeers&, std::string) { co_return Answer{200, line(to_json(control_.peers()))}; }

asio::awaitable<Session::Answer> Session::perform(const ListJobs&, std::string) { co_return Answer{200, line(to_json(control_.jobs()))}; }

asio::awaitable<Session::Answer> Session::perform(const ShowJob& call, std::string) {
  const Result<node::JobView> view = control_.job(call.job);
  co_return view ? Answer{200, line(to_json(*view))} : refusal(view.error());
}

asio::awaitable<Session::Answer> Session::perform(const SubmitJob&, std::string body) {
  wire::pb::JobSubmission submission;
  if (!submission.ParseFromString(body)) co_return refusal(fail(Kind::invalid, "the charter and manifest of a job cannot be read"));
  const Result<job::JobId> id = co_await answer_of<job::JobId>(wake_, config_.answer, [&](auto done) {
    control_.submit(bytes_from(submission.charter()), bytes_from(submission.manifest()), std::move(done));
  });
  co_return id ? Answer{201, line({{"id", id->hash.hex()}})} : refusal(id.error());
}

asio::awaitable<Session::Answer> Session::perform(const CancelJob& call, std::string) {
  const Status cancelled = co_await answer_of<void>(wake_, config_.answer, [&](auto done) { control_.cancel(call.job, std::move(done)); });
  co_return cancelled ? Answer{200, line({{"id", call.job.hash.hex()}})} : refusal(cancelled.error());
}

asio::awaitable<Session::Answer> Session::perform(const StoreBlob& call, std::string body) {
  const Hash256 found = sha256(as_bytes(body));
  if (found != call.hash)
    co_return refusal(fail(Kind::corrupt, "the {} bytes that came have the SHA-256 {}, not {}", body.size(), found.hex(), call.hash.hex()));
  const Status stored =
      co_await answer_of<void>(wake_, config_.answer, [&](auto done) { control_.store_blob(call.hash, std::move(body), std::move(done)); });
  co_return stored ? Answer{201, line({{"sha256", call.hash.hex()}})} : refusal(stored.error());
}

asio::awaitable<Session::Answer> Session::perform(const PingPeer& call, std::string) {
  const auto pong =
      co_await answer_of<node::PingView>(wake_, config_.answer, [&](auto done) { control_.ping(call.peer, std::move(done)); });
  co_return pong ? Answer{200, line(to_json(*pong))} : refusal(pong.error());
}

asio::awaitable<Session::Answer> Session::perform(const SetShare&, std::string body) {
  const auto change = share_change(body);
  if (!change) co_return refusal(change.error());
  const auto share = co_await answer_of<node::Share>(wake_, config_.answer, [&](auto done) { control_.share(*change, std::move(done)); });
  co_return share ? Answer{200, line(to_json(*share))} : refusal(share.error());
}

asio::awaitable<Session::Answer> Session::perform(const ReadMetrics&, std::string) {
  co_return Answer{.status = 200, .body = control_.metrics(), .type = "text/plain; version=0.0.4"};
}

asio::awaitable<Session::Answer> Session::perform(const StopNode&, std::string) {
  control_.stop();
  co_return Answer{202, line({{"stopping", true}})};
}

}  // namespace gw::gateway

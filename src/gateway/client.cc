#include "gateway/client.h"

#include <fmt/core.h>

#include <boost/asio/post.hpp>
#include <optional>

#include "gateway/grid_json.h"
#include "gateway/http.h"
#include "gateway/output_frames.h"
#include "gateway/ticket_header.h"
#include "gateway/view_json.h"
#include "httpd/error_answer.h"
#include "job/tasks/task_ranges.h"
#include "os/sockets/local_socket.h"

namespace gw::gateway {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64u << 20;  // the list of 65,536 threads has 15 MiB
constexpr std::size_t kPieceBytes = 64u << 10;
constexpr std::size_t kMaxLineBytes = 4u << 20;  // an event with a report in it

}  // namespace

struct Client::Request {
  http::verb method = http::verb::get;
  std::string target;
  std::string body = {};
  std::string ticket = {};
  std::chrono::milliseconds patience = {};  // 0: as the method says
};

// The loop that a call runs in, and its connection, which another thread may want to end.
struct Client::Exchange {
  asio::io_context io{1};
  std::optional<beast::basic_stream<Local>> stream;
  beast::flat_buffer buffer;
  Result<pid_t> daemon = fail(Kind::not_found, "not connected");  // its process
  bool interrupted = false;

  Error broken(error_code error, std::chrono::milliseconds patience) const;
  asio::awaitable<Status> send(const std::filesystem::path& socket, const Request& request);
  asio::awaitable<Result<std::string>> ask(const std::filesystem::path& socket, const Request& request);
  asio::awaitable<Status> read_stream(const std::filesystem::path& socket, const Request& request, const TakeBytes& take);

  // Runs one of these to its end.
  template <class T>
  Result<T> run(asio::awaitable<Result<T>> call);
};

namespace {

template <class T>
asio::awaitable<void> put(asio::awaitable<Result<T>> call, std::optional<Result<T>>& into) {
  into.emplace(co_await std::move(call));
}

}  // namespace

template <class T>
Result<T> Client::Exchange::run(asio::awaitable<Result<T>> call) {
  std::optional<Result<T>> result;
  bool over = false;
  stream.emplace(io);
  buffer.clear();
  io.restart();
  asio::co_spawn(io, put(std::move(call), result), [&over](const std::exception_ptr&) { over = true; });
  while (!over && io.run_one() > 0) {
  }
  stream->close();
  if (!result) return fail(Kind::internal, "the request to the daemon failed: look into its log");
  return std::move(*result);
}

Error Client::Exchange::broken(error_code error, std::chrono::milliseconds patience) const {
  if (error != beast::error::timeout)
    return fail(Kind::disconnected, "the connection to the daemon broke ({}): 'godwit status' says whether it still runs", error.message());
  const std::string waited = fmt::format("{:g} s", std::chrono::duration<double>(patience).count());
  if (!daemon) return fail(Kind::timeout, "the daemon has not answered for {}: try again, or look into its log", waited);
  return fail(Kind::timeout,
              "the daemon (process {0}) has not answered for {1}: it is suspended or overloaded. Continue it with 'kill -CONT {0}', or "
              "end it with 'kill -KILL {0}' and start it again with 'godwit up'",
              *daemon, waited);
}

asio::awaitable<Status> Client::Exchange::send(const std::filesystem::path& socket, const Request& request) {
  if (interrupted) co_return fail(Kind::disconnected, "interrupted");
  stream->expires_after(request.patience);
  auto [refused] = co_await stream->async_connect(Local::endpoint(socket.string()), kAsTuple);
  if (refused)
    co_return fail(Kind::disconnected, "no daemon is running at {} ({}): start one with 'godwit up'", socket.string(), refused.message());
  daemon = os::peer_process(stream->socket().native_handle());
  http::request<http::string_body> message(request.method, request.target, 11);
  message.set(http::field::host, "godwit");
  if (!request.ticket.empty()) message.set(kTicketHeader, request.ticket);
  message.keep_alive(false);
  message.body() = request.body;
  message.prepare_payload();
  auto [error, bytes] = co_await http::async_write(*stream, message, kAsTuple);
  // A daemon that refuses to read the whole request may still have answered why.
  if (error && error != asio::error::broken_pipe && error != asio::error::connection_reset) co_return broken(error, request.patience);
  co_return ok();
}

asio::awaitable<Result<std::string>> Client::Exchange::ask(const std::filesystem::path& socket, const Request& request) {
  Status sent = co_await send(socket, request);
  if (!sent) co_return sent.error();
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxAnswerBytes);
  auto [error, bytes] = co_await http::async_read(*stream, buffer, parser, kAsTuple);
  if (error) co_return broken(error, request.patience);
  auto response = parser.release();
  if (response.result_int() >= 300) co_return httpd::error_of(response.result_int(), response.body());
  co_return std::move(response.body());
}

asio::awaitable<Status> Client::Exchange::read_stream(const std::filesystem::path& socket, const Request& request, const TakeBytes& take) {
  Status sent = co_await send(socket, request);
  if (!sent) co_return sent.error();
  http::response_parser<http::buffer_body> parser;
  parser.body_limit(boost::none);
  auto [error, bytes] = co_await http::async_read_header(*stream, buffer, parser, kAsTuple);
  if (error) co_return broken(error, request.patience);
  const unsigned status = parser.get().result_int();
  stream->expires_never();  // a job may be quiet for long
  std::string piece(kPieceBytes, '\0'), refusal;
  while (!parser.is_done()) {
    parser.get().body() = {.data = piece.data(), .size = piece.size(), .more = true};
    auto [failed, count] = co_await http::async_read_some(*stream, buffer, parser, kAsTuple);
    if (failed && failed != http::error::need_buffer) co_return broken(failed, request.patience);
    const std::string_view got(piece.data(), piece.size() - parser.get().body().size);
    if (status >= 300) {
      refusal += got;
      if (refusal.size() > kMaxLineBytes) break;
    } else if (!got.empty() && take(got) == StreamControl::stop) {
      co_return ok();
    }
  }
  if (status >= 300) co_return httpd::error_of(status, refusal);
  co_return ok();
}

Client::Client(std::filesystem::path socket) : Client(std::move(socket), Config()) {}
Client::Client(std::filesystem::path socket, const Config& config)
    : socket_(std::move(socket)), config_(config), exchange_(std::make_unique<Exchange>()) {}
Client::~Client() = default;

void Client::interrupt() {
  asio::post(exchange_->io, [exchange = exchange_.get()] {
    exchange->interrupted = true;
    if (exchange->stream) exchange->stream->close();
  });
}

Result<std::string> Client::ask(Request request) {
  if (request.patience == std::chrono::milliseconds(0)) request.patience = request.method == http::verb::get ? config_.read : config_.act;
  request.ticket = ticket_;
  if (!ticket_.empty()) request.patience = std::max(request.patience, config_.act);
  return exchange_->run(exchange_->ask(socket_, request));
}

Status Client::stream(const std::string& target, const TakeBytes& take) {
  const Request request{.target = target, .ticket = ticket_, .patience = ticket_.empty() ? config_.read : config_.act};
  return exchange_->run(exchange_->read_stream(socket_, request, take));
}

Result<std::string> Client::ticket_of(const job::JobId& id) {
  GW_TRY(const std::string text, ask({http::verb::get, fmt::format("/v1/jobs/{}/ticket", id.hash.hex())}));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("ticket") || !json["ticket"].is_string())
    return fail(Kind::corrupt, "the daemon's answer cannot be understood: it has no ticket");
  return json["ticket"].get<std::string>();
}

Result<node::NodeView> Client::node() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/node"}));
  return node_view(text);
}

Result<std::vector<node::PeerView>> Client::peers() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/peers"}));
  return peer_views(text);
}

Result<node::PingView> Client::ping(const job::PeerId& peer) {
  GW_TRY(const std::string text, ask({http::verb::post, fmt::format("/v1/peers/{}/ping", peer.hash.hex())}));
  return ping_view(text);
}

Result<node::Share> Client::share(const node::ShareChange& change) {
  GW_TRY(const std::string text, ask({http::verb::put, "/v1/share", dump(to_json(change))}));
  return share_view(text);
}

Result<std::string> Client::metrics() { return ask({http::verb::get, "/v1/metrics"}); }

Result<std::vector<node::JobSummary>> Client::jobs() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/jobs"}));
  return job_summaries(text);
}

Result<node::JobView> Client::job(const job::JobId& id) {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/jobs/" + id.hash.hex()}));
  return job_view(text);
}

Result<std::vector<node::BalanceView>> Client::balance() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/balance"}));
  return balance_views(text);
}

Result<std::vector<node::HostedJobView>> Client::hosted() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/hosted"}));
  return hosted_views(text);
}

Result<job::TaskPage> Client::tasks(const job::JobId& id, const job::TaskQuery& query) {
  const std::string target =
      fmt::format("/v1/jobs/{}/tasks?filter={}&from={}&limit={}", id.hash.hex(), name(query.filter), query.from, query.limit);
  GW_TRY(const std::string text, ask({.method = http::verb::get, .target = target, .patience = config_.act}));
  return task_page(text);
}

Result<std::string> Client::manifest(const job::JobId& id) {
  return ask({.method = http::verb::get, .target = fmt::format("/v1/jobs/{}/manifest", id.hash.hex()), .patience = config_.act});
}

Status Client::store_blob(ByteView bytes) {
  GW_TRY_VOID(ask({http::verb::put, "/v1/blobs/" + sha256(bytes).hex(), std::string(as_text(bytes))}));
  return ok();
}

Result<node::UrlPieces> Client::fetch(const node::UrlRequest& request) {
  GW_TRY(const std::string text, ask({http::verb::post, "/v1/fetch", dump(to_json(request))}));
  return url_pieces(text);
}

Result<job::JobId> Client::submit(const wire::pb::JobSubmission& submission) {
  GW_TRY_VOID(ask({http::verb::post, "/v1/jobs", submission.SerializeAsString()}));
  return job::JobId{sha256(as_bytes(submission.charter()))};
}

Result<wire::pb::JobImage> Client::image(const job::JobId& id) {
  GW_TRY(const std::string bytes, ask({http::verb::get, fmt::format("/v1/jobs/{}/image", id.hash.hex())}));
  wire::pb::JobImage image;
  if (!image.ParseFromString(bytes) || image.root().size() != sizeof(Hash256))
    return fail(Kind::corrupt, "the daemon's answer cannot be understood: it is no JobImage");
  return image;
}

Result<std::string> Client::load_blob(const Hash256& hash) {
  GW_TRY(std::string bytes, ask({.method = http::verb::get, .target = "/v1/blobs/" + hash.hex(), .patience = config_.act}));
  if (sha256(as_bytes(bytes)) != hash) return fail(Kind::corrupt, "the daemon sent another blob than {}", hash.hex());
  return bytes;
}

Status Client::forget(const job::JobId& id) {
  GW_TRY_VOID(ask({http::verb::delete_, fmt::format("/v1/jobs/{}", id.hash.hex())}));
  return ok();
}

Status Client::cancel(const job::JobId& id) {
  GW_TRY_VOID(ask({http::verb::post, fmt::format("/v1/jobs/{}/cancel", id.hash.hex())}));
  return ok();
}

Status Client::suspend(const job::JobId& id) {
  GW_TRY_VOID(ask({http::verb::post, fmt::format("/v1/jobs/{}/suspend", id.hash.hex())}));
  return ok();
}

Status Client::resume(const job::JobId& id) {
  GW_TRY_VOID(ask({http::verb::post, fmt::format("/v1/jobs/{}/resume", id.hash.hex())}));
  return ok();
}

Status Client::supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes) {
  GW_TRY_VOID(ask({http::verb::post, fmt::format("/v1/jobs/{}/input?piece={}", id.hash.hex(), piece), std::move(bytes)}));
  return ok();
}

Result<std::vector<node::GridView>> Client::grids() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/grids"}));
  return grid_views(text);
}

Result<std::string> Client::change_grids(const node::GridOrder& order) {
  GridRequestText request = request_text(order);
  GW_TRY(const std::string text, ask({http::string_to_verb(request.method), std::move(request.target), std::move(request.body)}));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const char* const key = std::holds_alternative<node::InviteToGrid>(order) ? "invitation" : "id";
  if (!json.is_object() || !json.contains(key) || !json[key].is_string())
    return fail(Kind::corrupt, "the daemon's answer cannot be understood: it has no {}", key);
  return json[key].get<std::string>();
}

Result<WebView> Client::web() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/web"}));
  return web_view(text);
}

Result<std::vector<WebTokenView>> Client::web_tokens() {
  GW_TRY(const std::string text, ask({http::verb::get, "/v1/web/tokens"}));
  return web_token_views(text);
}

Result<WebLink> Client::add_web_token(Scope scope) {
  GW_TRY(const std::string text, ask({http::verb::post, fmt::format("/v1/web/tokens?scope={}", name(scope))}));
  return web_link(text);
}

Status Client::revoke_web_token(const Hash256& id) {
  GW_TRY_VOID(ask({http::verb::delete_, "/v1/web/tokens/" + id.hex()}));
  return ok();
}

Status Client::stop() {
  GW_TRY_VOID(ask({.method = http::verb::post, .target = "/v1/stop", .patience = config_.read}));
  return ok();
}

Status Client::read_output(const job::JobId& id, node::Stream which, std::uint64_t from, ReadUntil until, const TakeBytes& take) {
  return stream(
      fmt::format("/v1/jobs/{}/output?stream={}&from={}&follow={}", id.hash.hex(), name(which), from, until == ReadUntil::end ? 1 : 0),
      take);
}

Status Client::read_frames(const job::JobId& id, const node::FrameQuery& query, ReadUntil until, const TakeFrame& take) {
  std::string target =
      fmt::format("/v1/jobs/{}/frames?order={}&from={}&follow={}", id.hash.hex(),
                  query.order == node::FrameQuery::Order::task ? "task" : "arrival", query.from, until == ReadUntil::end ? 1 : 0);
  if (query.stream) target += fmt::format("&stream={}", name(*query.stream));
  if (query.tasks) target += fmt::format("&tasks={}", job::text_of(*query.tasks));
  FrameReader reader;
  Status understood = ok();
  StreamControl control = StreamControl::proceed;
  const auto take_one = [&](const wire::pb::OutputFrame& frame) {
    if (control == StreamControl::proceed) control = take(frame);
  };
  GW_TRY_VOID(stream(target, [&](std::string_view bytes) {
    understood = reader.add(bytes, take_one);
    return understood ? control : StreamControl::stop;
  }));
  if (understood && control == StreamControl::proceed && !reader.complete())
    return fail(Kind::disconnected, "the daemon broke off in the middle of a frame");
  return understood;
}

Status Client::watch(const job::JobId& id, std::uint64_t from, const std::function<StreamControl(const node::JobEvent&)>& take) {
  std::string line;
  Status understood = ok();
  const auto take_bytes = [&](std::string_view bytes) {
    line += bytes;
    for (std::size_t end; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1)) {
      const Result<node::JobEvent> event = job_event(std::string_view(line).substr(0, end));
      if (!event) understood = event.error();
      if (!event || take(*event) == StreamControl::stop) return StreamControl::stop;
    }
    if (line.size() <= kMaxLineBytes) return StreamControl::proceed;
    understood = fail(Kind::corrupt, "the daemon sent a line of more than {} bytes", kMaxLineBytes);
    return StreamControl::stop;
  };
  GW_TRY_VOID(stream(fmt::format("/v1/jobs/{}/events?from={}", id.hash.hex(), from), take_bytes));
  return understood;
}

}  // namespace gw::gateway

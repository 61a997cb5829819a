#include "tracker/tracker.h"

#include <charconv>

#include "base/log.h"
#include "httpd/error_answer.h"
#include "os/clock.h"
#include "os/files/file.h"
#include "tracker/session.h"
#include "tracker/tracker_json.h"
#include "transport/identity/identity.h"

namespace gw::tracker {
namespace {

constexpr std::string_view kArea = "tracker";
constexpr std::string_view kAnnounce = "/v1/announce";
constexpr std::string_view kPeers = "/v1/peers";
constexpr std::size_t kMaxFileBytes = 64u << 20;
constexpr std::size_t kUsualCount = 20;

WallSeconds wall() { return std::chrono::duration_cast<WallSeconds>(os::wall_now()); }

httpd::Answer refusal(const Error& error, unsigned status = 0) {
  return {.status = status != 0 ? status : httpd::status_of(error.kind), .body = httpd::error_body(error)};
}

struct ListQuery {
  GridId grid;
  std::size_t count = kUsualCount;
};

// "grid=HEX&n=20"
Result<ListQuery> parse_list_query(std::string_view query) {
  ListQuery parsed;
  bool named = false;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.starts_with("grid=")) {
      GW_TRY(parsed.grid.hash, parse_hash(part.substr(5)));
      named = true;
    } else if (part.starts_with("n=")) {
      const char* const end = part.data() + part.size();
      if (const auto [rest, error] = std::from_chars(part.data() + 2, end, parsed.count); error != std::errc() || rest != end)
        return fail(Kind::invalid, "'{}' is not a number of peers", part);
    } else {
      return fail(Kind::invalid, "unknown parameter '{}': use grid=ID&n=NUMBER", part);
    }
  }
  if (!named) return fail(Kind::invalid, "the parameter grid is missing: use grid=ID&n=NUMBER");
  parsed.count = std::min(parsed.count, kMaxListed);
  return parsed;
}

}  // namespace

// Verifies signatures; a tracker signs nothing.
class Tracker::SignatureChecker final : public overlay::Signer {
 public:
  PeerId id_of(const PublicKey& key) const override { return {transport::id_of(key)}; }
  Signature sign(ByteView) const override { GW_ASSERT(false); }
  bool is_signed(const PublicKey& key, ByteView text, const Signature& signature) const override {
    return verify(key, text, signature).has_value();
  }
};

Tracker::Tracker(asio::io_context& io, Config config)
    : config_(std::move(config)),
      signer_(std::make_unique<SignatureChecker>()),
      directory_(config_.directory, *signer_),
      rate_limit_(config_.rate_limit),
      rng_(static_cast<std::uint64_t>(os::wall_now().count())),
      save_at_(io),
      session_server_(io, {.area = kArea,
                           .connections = config_.connections,
                           .make = [this](httpd::Tcp::socket socket) -> Result<std::unique_ptr<Session>> {
                             httpd::error_code error;
                             const auto remote = socket.remote_endpoint(error);
                             if (error) return fail(Kind::disconnected, "the client closed the connection");
                             return std::make_unique<Session>(std::move(socket), *this, remote.address().to_string());
                           }}) {}

Tracker::~Tracker() = default;

Result<std::unique_ptr<Tracker>> Tracker::open(asio::io_context& io, Config config) {
  config.http.error_body = httpd::error_body;
  std::unique_ptr<Tracker> tracker(new Tracker(io, std::move(config)));
  GW_TRY_VOID(tracker->load());
  httpd::Tcp::acceptor acceptor(io);
  httpd::error_code error;
  const auto& where = tracker->config_.listen;
  acceptor.open(where.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) tracker->listening_ = acceptor.local_endpoint(error);
  if (error)
    return fail(Kind::invalid, "the tracker cannot listen at {}:{}: {}; choose another address", where.address().to_string(), where.port(),
                error.message());
  tracker->session_server_.open(std::move(acceptor));
  tracker->save_later();
  log::info(kArea, "tracker listening",
            kv("at", fmt::format("{}:{}", tracker->listening_.address().to_string(), tracker->listening_.port())),
            kv("peers", tracker->directory_.size()));
  return tracker;
}

asio::awaitable<void> Tracker::stop() {
  save_at_.cancel();
  co_await session_server_.stop();
  save();
}

// --- the file

Status Tracker::load() {
  const auto bytes = os::read_file(config_.file, kMaxFileBytes);
  if (!bytes && bytes.error().kind == Kind::not_found) return ok();
  if (!bytes) return bytes.error();
  wire::pb::TrackerState state;
  if (!state.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())))
    return fail(Kind::corrupt, "'{}' is damaged: remove it; peers will announce themselves again", config_.file.string());
  directory_.restore(wall(), state);
  return ok();
}

void Tracker::save() {
  if (!std::exchange(changed_, false)) return;
  const std::string bytes = directory_.state().SerializeAsString();
  if (const Status saved = os::write_file_atomic(config_.file, as_bytes(bytes), os::Durability::unflushed); !saved)
    log::warn(kArea, "the list of peers was not saved", kv("why", saved.error().detail));
}

void Tracker::save_later() {
  save_at_.expires_after(config_.save_every);
  save_at_.async_wait([this](const httpd::error_code& error) {
    if (error) return;
    save();
    save_later();
  });
}

// --- requests

httpd::Answer Tracker::announce(std::string_view body) {
  const auto announcement = parse_announcement(body);
  if (!announcement) return refusal(announcement.error(), 400);
  if (const Status taken = directory_.announce(wall(), *announcement); !taken) return refusal(taken.error());
  changed_ = true;
  return {.status = 200, .body = fmt::format("{{\"expires_s\":{}}}\n", config_.directory.lasts.count())};
}

httpd::Answer Tracker::list(std::string_view query) {
  const auto asked = parse_list_query(query);
  if (!asked) return refusal(asked.error());
  return {.status = 200, .body = list_text(directory_.some(wall(), asked->grid, asked->count, rng_))};
}

httpd::Answer Tracker::answer(const std::string& visitor, std::string_view method, std::string_view target, std::string_view body) {
  if (!rate_limit_.admit(os::monotonic_now(), visitor))
    return refusal(fail(Kind::overloaded, "too many requests from this address: the limit is one per second"));
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : "";
  if (path == kAnnounce && method == "POST") return announce(body);
  if (path == kPeers && method == "GET") return list(query);
  if (path != kAnnounce && path != kPeers) return refusal(fail(Kind::not_found, "there is nothing at {}: see docs/tracker.md", path));
  httpd::Answer wrong = refusal(fail(Kind::unsupported, "{} does not support {}", path, method));
  wrong.allow = path == kAnnounce ? "POST" : "GET";
  return wrong;
}

// --- a connection

Session::Session(httpd::Tcp::socket socket, Tracker& tracker, std::string visitor)
    : exchange_(std::move(socket), tracker.config_.http), tracker_(tracker), visitor_(std::move(visitor)) {}

asio::awaitable<void> Session::run() {
  for (auto after = httpd::After::next_request; after == httpd::After::next_request;) {
    const auto request = co_await exchange_.read([](const auto&) -> std::variant<std::size_t, httpd::Answer> { return kMaxAnnounceBytes; });
    if (!request) break;
    httpd::Answer answer = tracker_.answer(visitor_, request->method_string(), request->target(), request->body());
    after = co_await exchange_.send(std::move(answer), request->keep_alive() ? httpd::After::next_request : httpd::After::close);
  }
  exchange_.stream().close();
}

}  // namespace gw::tracker

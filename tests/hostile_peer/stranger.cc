#include "stranger.h"

namespace gw::hostile {
namespace {

using std::chrono::milliseconds;

constexpr int kAttempts = 20;
constexpr milliseconds kPause{100};
constexpr milliseconds kConnectPatience{15'000};
constexpr milliseconds kAnswerPatience{15'000};
constexpr std::size_t kLongMessage = 4096;

}  // namespace

Stranger::~Stranger() { leave(); }

void Stranger::leave() {
  if (!transport_) return;
  {
    transport::TaskGroup stopping(io_.get_executor());
    stopping.spawn("stop", transport_->stop());
    io_.restart();
    io_.run();
  }
  transport_.reset();
  peer_.reset();
}

Status Stranger::connect() {
  leave();
  GW_TRY(transport::Identity made, transport::Identity::make());
  identity_.emplace(std::move(made));
  ++identities_;
  GW_TRY(transport_, transport::Transport::make(io_, *identity_, *this, {}));
  std::optional<Result<transport::PeerId>> found;
  transport_->connect(target_, std::nullopt, [&found](Result<transport::PeerId> peer) { found = std::move(peer); });
  const auto deadline = Clock::now() + kConnectPatience;
  io_.restart();
  while (!found && Clock::now() < deadline) io_.run_one_for(kPause);
  if (!found) return fail(Kind::timeout, "the target does not answer");
  GW_TRY(peer_, *found);
  return ok();
}

Status Stranger::send(const std::string& message) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Status status = ensure_connected();
    if (status) status = deliver(message);
    if (!connected()) leave();
    if (status || status.error().kind == Kind::invalid) return status;
    listen(kPause);  // it does not keep up, or refuses us for a while
  }
  return fail(Kind::disconnected, "the target takes nothing any more");
}

// A request in the same lane is answered after the message was handled. A disconnection shows too that the message was handled.
Status Stranger::deliver(const std::string& message) {
  const auto lane = message.size() > kLongMessage ? transport::Lane::bulk : transport::Lane::control;
  GW_TRY_VOID(transport_->send(*peer_, lane, Bytes(message.begin(), message.end())));
  bool answered = false;
  const auto done = [&answered](const Result<Bytes>&) { answered = true; };
  GW_TRY_VOID(transport_->request(*peer_, lane, {}, kAnswerPatience, done));
  io_.restart();
  while (!answered) io_.run_one();
  return ok();
}

void Stranger::send_at_once(const std::string& message) {
  if (connected()) (void)transport_->send(*peer_, transport::Lane::bulk, Bytes(message.begin(), message.end()));
}

void Stranger::listen(milliseconds duration) {
  const auto deadline = Clock::now() + duration;
  io_.restart();
  while (Clock::now() < deadline && !io_.stopped()) io_.run_one_until(deadline);
}

}  // namespace gw::hostile

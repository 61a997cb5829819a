#include "cli/jobs/job_follower.h"

#include <future>

namespace gw::cli {
namespace {

using gateway::Client;

constexpr std::chrono::milliseconds kPause(300);
constexpr std::size_t kMostStreams = node::kStreams;

}  // namespace

JobFollower::JobFollower(std::filesystem::path socket, const job::JobId& id, IfGone if_gone, const std::string& ticket)
    : socket_(std::move(socket)), ticket_(ticket), id_(id), if_gone_(if_gone) {
  for (std::size_t i = 0; i <= kMostStreams + 1; ++i) clients_.push_back(make_client());
}

std::unique_ptr<Client> JobFollower::make_client() const {
  auto client = std::make_unique<Client>(socket_);
  client->use_ticket(ticket_);
  return client;
}

void JobFollower::detach() {
  const std::lock_guard lock(mutex_);
  detached_ = true;
  detached_changed_.notify_all();
  for (const auto& client : clients_) client->interrupt();
}

// Waits before the next attempt; false if there shall be none.
bool JobFollower::pause() {
  std::unique_lock lock(mutex_);
  return !detached_changed_.wait_for(lock, kPause, [this] { return detached_; });
}

Status JobFollower::persist(const std::function<Status()>& once, const std::function<bool()>& progressed) {
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    const Status through = once();
    if (through || suspended_ || through.error().kind != Kind::disconnected || if_gone_ == IfGone::fail) return through;
    if (progressed()) since = std::chrono::steady_clock::now();
    if (std::chrono::steady_clock::now() - since > kPatience || !pause()) return through;
  }
}

Status JobFollower::follow_output(Client& client, node::Stream stream, const Sinks& sinks) {
  std::uint64_t offset = 0, seen = 0;
  const auto take = [&](std::string_view bytes) {
    offset += bytes.size();
    sinks.output(stream, bytes);
    return Client::StreamControl::proceed;
  };
  const Status whole = persist([&] { return client.read_output(id_, stream, offset, Client::ReadUntil::end, take); },
                               [&] { return std::exchange(seen, offset) != offset; });
  return suspended_ ? read_rest(stream, offset, sinks) : whole;
}

// A stream that follows its job ends when the job does. Of a suspended one it was interrupted, and comes to the end of what there is here.
Status JobFollower::read_rest(node::Stream stream, std::uint64_t offset, const Sinks& sinks) const {
  const auto take = [&](std::string_view bytes) {
    sinks.output(stream, bytes);
    return Client::StreamControl::proceed;
  };
  return make_client()->read_output(id_, stream, offset, Client::ReadUntil::now, take);
}

Status JobFollower::follow_frames(Client& client, const Sinks& sinks) {
  node::FrameQuery query = sinks.frames;
  std::uint64_t seen = query.from;
  const auto take = [&](const wire::pb::OutputFrame& frame) {
    query.from = frame.next();
    sinks.frame(frame);
    return Client::StreamControl::proceed;
  };
  const Status whole = persist([&] { return client.read_frames(id_, query, Client::ReadUntil::end, take); },
                               [&] { return std::exchange(seen, query.from) != query.from; });
  return suspended_ ? make_client()->read_frames(id_, query, Client::ReadUntil::now, take) : whole;
}

Status JobFollower::follow_events(const Sinks& sinks) {
  std::uint64_t next = sinks.first_event, seen = next;
  const auto take = [&](const node::JobEvent& event) {
    next = event.number + 1;
    if (sinks.event) sinks.event(event);
    if (const auto* over = std::get_if<node::JobEvent::Over>(&event.kind)) over_ = *over;
    if (sinks.until_suspended && std::holds_alternative<node::JobEvent::Suspended>(event.kind)) suspended_ = true;
    return suspended_ ? Client::StreamControl::stop : Client::StreamControl::proceed;
  };
  return persist(
      [&]() -> Status {
        GW_TRY_VOID(clients_.front()->watch(id_, next, take));
        if (!over_ && !suspended_) return fail(Kind::disconnected, "the daemon ended the events of a job that is not over");
        return ok();
      },
      [&] { return std::exchange(seen, next) != next; });
}

Result<std::optional<node::JobEvent::Over>> JobFollower::follow(const Sinks& sinks) {
  GW_ASSERT(sinks.streams.size() <= kMostStreams);
  std::vector<std::future<Status>> streams;
  for (std::size_t i = 0; i < sinks.streams.size(); ++i)
    streams.push_back(
        std::async(std::launch::async, [this, i, &sinks] { return follow_output(*clients_[i + 1], sinks.streams[i], sinks); }));
  if (sinks.frame) streams.push_back(std::async(std::launch::async, [this, &sinks] { return follow_frames(*clients_.back(), sinks); }));
  Status whole = follow_events(sinks);
  if (!whole || suspended_)
    for (std::size_t i = 1; i < clients_.size(); ++i) clients_[i]->interrupt();
  for (auto& stream : streams) {
    const Status through = stream.get();
    if (whole && !through) whole = through;
  }
  const std::lock_guard lock(mutex_);
  if (detached_) return std::optional<node::JobEvent::Over>();
  if (!whole) return whole.error();
  return over_;
}

}  // namespace gw::cli

#include "gateway/view_json.h"

#include <fmt/core.h>

#include <array>

namespace gw::gateway {
namespace {

using node::JobState;
using node::PeerView;
using node::ThreadView;

constexpr std::array<std::string_view, node::kStreams> kStreamNames{"stdout", "stderr", "files"};
constexpr std::array<std::string_view, 5> kJobStates{"running", "done", "failed", "cancelled", "suspended"};
constexpr std::array<std::string_view, 4> kPeerStates{"self", "alive", "suspected", "silent"};
constexpr std::array<std::string_view, 4> kReaches{"unknown", "open", "outbound", "relay_only"};
constexpr std::array<std::string_view, 4> kThreadStates{"waiting", "running", "ended", "failed"};

double seconds(node::WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

Json seconds(const std::optional<node::WallTime>& time) { return time ? Json(seconds(*time)) : Json(); }

template <class View>
Json array_of(const std::vector<View>& views) {
  Json array = Json::array();
  for (const View& view : views) array.push_back(to_json(view));
  return array;
}

}  // namespace

std::string_view name(node::HostedJobView::State state) { return state == node::HostedJobView::State::claimed ? "claimed" : "reserved"; }
std::string_view name(JobState state) { return kJobStates[static_cast<std::size_t>(state)]; }
std::string_view name(node::Stream stream) { return kStreamNames[static_cast<std::size_t>(stream) - 1]; }
std::string_view name(PeerView::State state) { return kPeerStates[static_cast<std::size_t>(state)]; }
std::string_view name(Reach reach) { return kReaches[static_cast<std::size_t>(reach)]; }
std::string_view name(ThreadView::State state) { return kThreadStates[static_cast<std::size_t>(state)]; }

// Ids are text, because many readers of JSON lose the last digits of 64-bit numbers.
std::string thread_text(job::ThreadId thread) { return fmt::format("{:016x}", thread.value()); }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const node::NodeView& view) {
  return {{"id", view.id.hash.hex()},
          {"boot", view.boot},
          {"version", view.version},
          {"addresses", view.addresses},
          {"slots", view.slots},
          {"free_slots", view.free_slots},
          {"relayed_for_others", view.relayed_for_others},
          {"started_at", seconds(view.started_at)},
          {"state", view.state},
          {"share", to_json(view.share)},
          {"reach", name(view.reach)},
          {"dialled_back", view.dialled_back},
          {"not_dialled_back", view.not_dialled_back},
          {"anchors", view.anchors},
          {"load", view.load},
          {"cores", view.cores},
          {"workers", view.workers},
          {"storage", to_json(view.storage)}};
}

Json to_json(const node::StorageView& view) {
  return {{"finished_jobs", view.finished_jobs}, {"finished_bytes", view.finished_bytes}, {"keep_for_seconds", view.keep_for.count()},
          {"keep_bytes", view.keep_bytes},       {"free_bytes", view.free_bytes},         {"full", view.full},
          {"lent_threads", view.lent_threads},   {"lent_bytes", view.lent_bytes},         {"lent_limit", view.lent_limit}};
}

Json to_json(const node::Share& share) {
  return {{"cores", share.cores},
          {"memory_bytes", share.memory_bytes},
          {"cpu_percent", share.cpu_percent},
          {"slots_per_peer", share.slots_per_peer},
          {"jobs_per_peer", share.jobs_per_peer},
          {"disk_bytes", share.disk_bytes},
          {"disk_bytes_per_peer", share.disk_bytes_per_peer},
          {"disk_bytes_per_job", share.disk_bytes_per_job},
          {"disk_bytes_per_grid", share.disk_bytes_per_grid}};
}

Json to_json(const node::ShareChange& change) {
  Json json = Json::object();
  if (change.cores) json["cores"] = *change.cores;
  if (change.memory_bytes) json["memory_bytes"] = *change.memory_bytes;
  if (change.cpu_percent) json["cpu_percent"] = *change.cpu_percent;
  if (change.slots_per_peer) json["slots_per_peer"] = *change.slots_per_peer;
  if (change.jobs_per_peer) json["jobs_per_peer"] = *change.jobs_per_peer;
  if (change.disk_bytes) json["disk_bytes"] = *change.disk_bytes;
  if (change.disk_bytes_per_peer) json["disk_bytes_per_peer"] = *change.disk_bytes_per_peer;
  if (change.disk_bytes_per_job) json["disk_bytes_per_job"] = *change.disk_bytes_per_job;
  if (change.disk_bytes_per_grid) json["disk_bytes_per_grid"] = *change.disk_bytes_per_grid;
  return json;
}

Json to_json(const node::PingView& view) {
  return {{"round_trip_us", view.round_trip.count()},
          {"way", view.way},
          {"remote", view.remote},
          {"version", view.version},
          {"clock_ahead_ms", view.clock_ahead.count()}};
}

Json to_json(const PeerView& view) {
  return {{"id", view.id.hash.hex()},
          {"grid", view.grid},
          {"address", view.address},
          {"state", name(view.state)},
          {"class", name(view.reach)},
          {"slots", view.slots},
          {"free_slots", view.free_slots},
          {"distance_us", view.distance ? Json(view.distance->count()) : Json()},
          {"heard_ms", view.heard ? Json(view.heard->count()) : Json()},
          {"way", view.link ? Json(name(view.link->way)) : Json()},
          {"bytes_in", view.link ? view.link->bytes_in : 0},
          {"bytes_out", view.link ? view.link->bytes_out : 0}};
}

Json to_json(const node::JobSummary& view) {
  return {{"id", view.id.hash.hex()},
          {"name", view.name},
          {"state", name(view.state)},
          {"submitted_at", seconds(view.submitted_at)},
          {"ended_at", seconds(view.ended_at)},
          {"tasks", view.tasks},
          {"slots", view.slots},
          {"threads", view.threads},
          {"waiting", view.waiting},
          {"running", view.running},
          {"ended", view.ended},
          {"failed", view.failed},
          {"exit_code", view.exit_code},
          {"lost", view.counters.lost},
          {"resumed", view.counters.resumed},
          {"restarted", view.counters.restarted},
          {"peers_lost", view.counters.peers_lost},
          {"sentence", view.sentence},
          {"stored_bytes", view.stored_bytes}};
}

Json to_json(const ThreadView& thread) {
  return {{"id", thread_text(thread.id)},  {"task", thread.task ? Json(*thread.task) : Json()},
          {"state", name(thread.state)},   {"host", thread.host ? Json(thread.host->hash.hex()) : Json()},
          {"epoch", thread.epoch},         {"resumed", thread.resumed},
          {"restarted", thread.restarted}, {"exit_code", thread.exit_code},
          {"sentence", thread.sentence},   {"reason", entry_of(thread.reason).name}};
}

Json to_json(const node::JobPeerView& peer) {
  return {{"id", peer.id.hash.hex()},  {"state", name(peer.state)}, {"slots", peer.slots}, {"running", peer.running},
          {"finished", peer.finished}, {"lost", peer.lost},         {"taken", peer.taken}, {"failure", peer.failure}};
}

Json to_json(const node::JobView& view) {
  Json json = to_json(view.summary);
  json["peers"] = array_of(view.peers);
  json["thread_list"] = array_of(view.threads);
  return json;
}

Json to_json(const node::HostedJobView& view) {
  return {{"id", view.id.hash.hex()},
          {"home", view.home.hash.hex()},
          {"state", name(view.state)},
          {"slots", view.slots},
          {"memory_bytes", view.memory_bytes}};
}

Json to_json(const std::vector<node::HostedJobView>& views) { return {{"hosted", array_of(views)}}; }
Json to_json(const std::vector<PeerView>& views) { return {{"peers", array_of(views)}}; }
Json to_json(const std::vector<node::JobSummary>& views) { return {{"jobs", array_of(views)}}; }

namespace {

using Event = node::JobEvent;

// The members of an event besides number, time and name.
struct EventFields {
  Json operator()(const Event::Accepted&) const { return {{"event", "accepted"}}; }
  Json operator()(const Event::ThreadPlaced& e) const {
    return {{"event", "thread_placed"}, {"thread", thread_text(e.thread)}, {"host", e.host.hash.hex()}};
  }
  Json operator()(const Event::ThreadResumed& e) const {
    return {{"event", "thread_resumed"}, {"thread", thread_text(e.thread)}, {"epoch", e.epoch}, {"host", e.host.hash.hex()}};
  }
  Json operator()(const Event::ThreadRestarted& e) const {
    return {{"event", "thread_restarted"}, {"thread", thread_text(e.thread)}, {"epoch", e.epoch}, {"host", e.host.hash.hex()}};
  }
  Json operator()(const Event::PeerLost& e) const { return {{"event", "peer_lost"}, {"peer", e.peer.hash.hex()}, {"threads", e.threads}}; }
  Json operator()(const Event::OutputGrew& e) const { return {{"event", "output_grew"}, {"stream", name(e.stream)}, {"size", e.size}}; }
  Json operator()(const Event::InputWanted& e) const { return {{"event", "input_wanted"}, {"piece", e.piece}}; }
  Json operator()(const Event::ThreadEnded& e) const {
    return {{"event", "thread_ended"}, {"thread", thread_text(e.thread)}, {"exit_code", e.exit_code}, {"sentence", e.sentence}};
  }
  Json operator()(const Event::ThreadFailed& e) const {
    return {{"event", "thread_failed"}, {"thread", thread_text(e.thread)}, {"sentence", e.sentence}};
  }
  Json operator()(const Event::Report& e) const {
    return {{"event", "report"}, {"thread", thread_text(e.thread)}, {"hex", hex(as_bytes(e.bytes))}};
  }
  Json operator()(const Event::Suspended&) const { return {{"event", "suspended"}}; }
  Json operator()(const Event::Resumed&) const { return {{"event", "resumed"}}; }
  Json operator()(const Event::Over& e) const { return {{"event", "over"}, {"state", name(e.state)}, {"exit_code", e.exit_code}}; }
};

}  // namespace

Json to_json(const Event& event) {
  Json json = {{"number", event.number}, {"at", seconds(event.at)}};
  json.update(std::visit(EventFields{}, event.kind));
  return json;
}

}  // namespace gw::gateway

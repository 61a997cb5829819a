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
constexpr std::array<std::string_view, 6> kTaskFilters{"all", "waiting", "running", "done", "failed", "skipped"};
constexpr std::array<std::string_view, 5> kThreadStates{"waiting", "running", "ended", "failed", "skipped"};

double seconds(node::WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

Json seconds(const std::optional<node::WallTime>& time) { return time ? Json(seconds(*time)) : Json(); }

Json seconds_or_null(job::Time since_1970) {
  return since_1970 == job::Time(0) ? Json() : Json(std::chrono::duration<double>(since_1970).count());
}

template <class View>
Json array_of(const std::vector<View>& views) {
  Json array = Json::array();
  for (const View& view : views) array.push_back(to_json(view));
  return array;
}

}  // namespace

std::string_view name(node::HostedJobView::State state) {
  constexpr std::array<std::string_view, 3> kNames{"reserved", "claimed", "leaving"};
  return kNames[static_cast<std::size_t>(state)];
}
std::string_view name(JobState state) { return kJobStates[static_cast<std::size_t>(state)]; }
std::string_view name(node::Stream stream) { return kStreamNames[static_cast<std::size_t>(stream) - 1]; }
std::string_view name(PeerView::State state) { return kPeerStates[static_cast<std::size_t>(state)]; }
std::string_view name(Reach reach) { return kReaches[static_cast<std::size_t>(reach)]; }
std::string_view name(ThreadView::State state) { return kThreadStates[static_cast<std::size_t>(state)]; }

std::string_view name(job::TaskFilter filter) { return kTaskFilters[static_cast<std::size_t>(filter)]; }

std::optional<job::TaskFilter> task_filter(std::string_view name) {
  for (std::size_t i = 0; i < kTaskFilters.size(); ++i)
    if (kTaskFilters[i] == name) return static_cast<job::TaskFilter>(i);
  return std::nullopt;
}

// Ids are text, because many readers of JSON lose the last digits of 64-bit numbers.
std::string thread_text(job::ThreadId thread) { return fmt::format("{:016x}", thread.value()); }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const node::NodeView& view) {
  return {{"id", view.id.hash.hex()},
          {"name", view.name},
          {"boot", view.boot},
          {"version", view.version},
          {"addresses", view.addresses},
          {"slots", view.slots},
          {"free_slots", view.free_slots},
          {"relayed_for_others", view.relayed_for_others},
          {"started_at", seconds(view.started_at)},
          {"state", view.state},
          {"share", to_json(view.share)},
          {"not_lending", view.not_lending},
          {"workers_fail", view.workers_fail},
          {"capacity", to_json(view.capacity)},
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
  return {{"finished_jobs", view.finished_jobs},    {"finished_bytes", view.finished_bytes}, {"keep_for_seconds", view.keep_for.count()},
          {"keep_bytes", view.keep_bytes},          {"free_bytes", view.free_bytes},         {"full", view.full},
          {"lent_threads", view.lent_threads},      {"lent_bytes", view.lent_bytes},         {"lent_limit", view.lent_limit},
          {"cache_bytes", view.cache_bytes},        {"cache_limit", view.cache_limit},       {"cache_hits", view.cache_hits},
          {"cache_hit_bytes", view.cache_hit_bytes}};
}

namespace {

Json names(const auto& list) {
  Json json = Json::array();
  for (const job::ConsumerName& name : list) json.push_back(name.hex());
  return json;
}

Json weights(const std::map<job::ConsumerName, std::uint32_t>& list) {
  Json json = Json::object();
  for (const auto& [name, weight] : list) json[name.hex()] = weight;
  return json;
}

}  // namespace

Json to_json(const node::Share& share) {
  Json json = Json::object();
  node::for_each_number(share, [&](const char* name, const auto& number) { json[name] = number; });
  json.update(Json{{"for", share.rules.audience.text()}, {"when", share.rules.when.text()}, {"tags", share.tags}});
  json.update(
      Json{{"allow", names(share.rules.allowed)}, {"block", names(share.rules.blocked)}, {"weights", weights(share.rules.weights)}});
  return json;
}

Json to_json(const node::ShareChange& change) {
  Json json = Json::object();
  node::for_each_number(change, [&](const char* name, const auto& number) {
    if (number) json[name] = *number;
  });
  if (change.audience) json["for"] = *change.audience;
  if (change.when) json["when"] = *change.when;
  for (const auto& [key, list] :
       {std::pair("allow", &change.allow), std::pair("block", &change.block), std::pair("unlist", &change.unlist)})
    if (!list->empty()) json[key] = names(*list);
  if (!change.tag.empty()) json["tag"] = change.tag;
  if (!change.untag.empty()) json["untag"] = change.untag;
  if (!change.weights.empty()) json["weights"] = weights(change.weights);
  return json;
}

Json to_json(const job::Capacity& capacity) {
  Json tags = Json::array();
  for (const std::string& tag : capacity.tags()) tags.push_back(tag);
  return {{"speed", capacity.speed() / 1000.0},
          {"memory_bytes", capacity.memory_bytes()},
          {"disk_bytes", capacity.disk_bytes()},
          {"load", capacity.load() / 1000.0},
          {"uptime_s", capacity.uptime_s()},
          {"arch", capacity.arch()},
          {"tags", std::move(tags)}};
}

Json to_json(const node::UrlRequest& request) { return {{"url", request.url}, {"offset", request.offset}, {"version", request.version}}; }

Json to_json(const node::UrlPieces& pieces) {
  Json list = Json::array();
  for (const Hash256& piece : pieces.pieces) list.push_back(piece.hex());
  return {{"total", pieces.total}, {"version", pieces.version}, {"pieces", std::move(list)}};
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
          {"name", view.name},
          {"grid", view.grid},
          {"address", view.address},
          {"state", name(view.state)},
          {"class", name(view.reach)},
          {"slots", view.slots},
          {"free_slots", view.free_slots},
          {"capacity", view.capacity ? to_json(*view.capacity) : Json()},
          {"network_bytes_per_s", view.network_speed ? Json(*view.network_speed) : Json()},
          {"distance_us", view.distance ? Json(view.distance->count()) : Json()},
          {"heard_ms", view.heard ? Json(view.heard->count()) : Json()},
          {"way", view.link ? Json(name(view.link->way)) : Json()},
          {"bytes_in", view.link ? view.link->bytes_in : 0},
          {"bytes_out", view.link ? view.link->bytes_out : 0}};
}

Json to_json(const node::JobSummary& view) {
  return {{"id", view.id.hash.hex()},
          {"name", view.name},
          {"program", view.program},
          {"state", name(view.state)},
          {"submitted_at", seconds(view.submitted_at)},
          {"ended_at", seconds(view.ended_at)},
          {"tasks", view.tasks},
          {"array", view.array},
          {"slots", view.slots},
          {"needs", view.placing.needs},
          {"place", view.placing.place},
          {"min_slots", view.placing.min_slots},
          {"on_failure", view.placing.on_failure},
          {"job_time_ms", view.placing.job_time.count()},
          {"threads", view.threads},
          {"waiting", view.waiting},
          {"running", view.running},
          {"ended", view.ended},
          {"failed", view.failed},
          {"skipped", view.skipped},
          {"exit_code", view.exit_code},
          {"lost", view.counters.lost},
          {"resumed", view.counters.resumed},
          {"restarted", view.counters.restarted},
          {"peers_lost", view.counters.peers_lost},
          {"retried", view.retried},
          {"sentence", view.sentence},
          {"stored_bytes", view.stored_bytes},
          {"next_event", view.next_event}};
}

Json to_json(const ThreadView& thread) {
  return {{"id", thread_text(thread.id)},
          {"task", thread.task ? Json(*thread.task) : Json()},
          {"name", thread.name},
          {"state", name(thread.state)},
          {"host", thread.host ? Json(thread.host->hash.hex()) : Json()},
          {"epoch", thread.epoch},
          {"resumed", thread.resumed},
          {"restarted", thread.restarted},
          {"exit_code", thread.exit_code},
          {"sentence", thread.sentence},
          {"reason", entry_of(thread.why.reason).name},
          {"detail", thread.why.detail},
          {"attempts", thread.attempts},
          {"started_at", seconds_or_null(thread.started_at)},
          {"ended_at", seconds_or_null(thread.ended_at)}};
}

Json to_json(const node::JobPeerView& peer) {
  return {{"id", peer.id.hash.hex()}, {"name", peer.name},       {"state", name(peer.state)},
          {"slots", peer.slots},      {"running", peer.running}, {"finished", peer.finished},
          {"lost", peer.lost},        {"taken", peer.taken},     {"failure", peer.failure}};
}

Json to_json(const node::JobView& view) {
  Json json = to_json(view.summary);
  json["peers"] = array_of(view.peers);
  json["waits"] = Json::array();
  for (const job::WaitCount& one : view.waits) {
    const ReasonEntry& entry = entry_of(one.why.reason);
    json["waits"].push_back(
        {{"reason", entry.name}, {"sentence", entry.sentence}, {"fix", entry.fix}, {"detail", one.why.detail}, {"threads", one.count}});
  }
  json["absent"] = Json::array();
  for (const job::PeerReason& one : view.absent)
    json["absent"].push_back({{"peer", one.peer.hash.hex()}, {"reason", entry_of(one.why.reason).name}, {"detail", one.why.detail}});
  json["thread_list"] = array_of(view.threads);
  return json;
}

Json to_json(const job::TaskPage& page) {
  return {{"tasks", array_of(page.tasks)}, {"next", page.next ? Json(*page.next) : Json()}, {"count", page.count}};
}

Json to_json(const node::HostedJobView& view) {
  return {{"id", view.id.hash.hex()},     {"home", view.home.hash.hex()},      {"home_name", view.home_name}, {"state", name(view.state)},
          {"slots", view.slots},          {"memory_bytes", view.memory_bytes}, {"owner", view.owner.hex()},   {"program", view.program},
          {"since", seconds(view.since)}, {"cpu_ms", view.cpu_time.count()},   {"lanes", view.lanes},         {"priority", view.priority}};
}

Json to_json(const node::BalanceView& view) {
  return {{"peer", view.peer.hash.hex()},
          {"user", view.user == Hash256() ? Json() : Json(view.user.hex())},
          {"given_slot_seconds", view.given_slot_seconds},
          {"used_slot_seconds", view.used_slot_seconds},
          {"given_bytes", view.given_bytes},
          {"used_bytes", view.used_bytes},
          {"changed_at", seconds(view.changed_at)}};
}

Json to_json(const std::vector<node::BalanceView>& views) { return {{"peers", array_of(views)}}; }
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
  Json operator()(const Event::TasksEnded& e) const {
    Json tasks = Json::array(), failures = Json::array();
    for (const job::TaskSpan& span : e.tasks) tasks.push_back({span.first, span.count});
    for (const auto& failure : e.failures)
      failures.push_back({{"task", failure.task}, {"exit_code", failure.exit_code}, {"sentence", failure.sentence}});
    return {{"event", "tasks_ended"}, {"ended", e.ended}, {"failed", e.failed},  {"running", e.running},
            {"hosts", e.hosts},       {"tasks", tasks},   {"failures", failures}};
  }
  Json operator()(const Event::TaskRepeated& e) const {
    return {{"event", "task_repeated"},
            {"thread", thread_text(e.thread)},
            {"host", e.host.hash.hex()},
            {"exit_code", e.exit_code},
            {"sentence", e.sentence}};
  }
  Json operator()(const Event::TasksSkipped& e) const {
    Json tasks = Json::array();
    for (const job::TaskSpan& span : e.tasks) tasks.push_back({span.first, span.count});
    return {{"event", "tasks_skipped"}, {"skipped", e.skipped}, {"tasks", tasks}, {"sentence", e.sentence}};
  }
  Json operator()(const Event::Suspended&) const { return {{"event", "suspended"}}; }
  Json operator()(const Event::Resumed&) const { return {{"event", "resumed"}}; }
  Json operator()(const Event::Over& e) const {
    return {{"event", "over"}, {"state", name(e.state)}, {"exit_code", e.exit_code}, {"sentence", e.sentence}};
  }
};

}  // namespace

Json to_json(const Event& event) {
  Json json = {{"number", event.number}, {"at", seconds(event.at)}};
  json.update(std::visit(EventFields{}, event.kind));
  return json;
}

}  // namespace gw::gateway

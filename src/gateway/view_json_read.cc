#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "gateway/view_json.h"

namespace gw::gateway {
namespace {

using node::JobEvent;
using node::JobState;
using node::PeerView;
using node::ThreadView;

// The members of an object. The first member that is missing or malformed is recorded as the problem and an empty value returned; the
// reader of the whole value looks at the problem once, at the end. So every member is checked without a line for each.
class Members {
 public:
  Members(const Json& json, std::string& problem) : json_(json), problem_(problem) {}

  std::string text(const char* key) const {
    const Json* const value = find(key, Json::value_t::string);
    return value == nullptr ? "" : value->get<std::string>();
  }
  template <class Number>
  Number number(const char* key) const {
    const Json* const value = find(key, Json::value_t::number_unsigned);
    const std::uint64_t number = value == nullptr ? 0 : value->get<std::uint64_t>();
    if (number > std::numeric_limits<Number>::max()) note(fmt::format("{} is too large", key));
    return static_cast<Number>(number);
  }
  std::int64_t signed_number(const char* key) const {
    const bool there = json_.is_object() && json_.contains(key) && json_.at(key).is_number_integer();
    if (!there) note(fmt::format("{} is no whole number", key));
    return there ? json_.at(key).get<std::int64_t>() : 0;
  }
  double real(const char* key) const {
    const bool there = json_.is_object() && json_.contains(key) && json_.at(key).is_number();
    if (!there) note(fmt::format("{} is no number", key));
    return there ? json_.at(key).get<double>() : 0;
  }
  bool boolean(const char* key) const {
    const Json* const value = find(key, Json::value_t::boolean);
    return value != nullptr && value->get<bool>();
  }
  Reason reason(const char* key) const {
    const auto found = find_reason(text(key));
    if (!found) note(fmt::format("'{}' is no reason", text(key)));
    return found.value_or(Reason::ok);
  }
  // A reader of an object inside this one.
  Members object(const char* key) const {
    static const Json kEmpty = Json::object();
    const Json* const value = find(key, Json::value_t::object);
    return {value == nullptr ? kEmpty : *value, problem_};
  }
  node::WallTime time(const char* key) const {
    const bool there = json_.is_object() && json_.contains(key) && json_.at(key).is_number();
    if (!there) note(fmt::format("{} is no number", key));
    const std::chrono::duration<double> seconds(there ? json_.at(key).get<double>() : 0);
    if (!(seconds.count() >= 0 && seconds.count() < 4e9)) return note(fmt::format("{} is no time", key)), node::WallTime();
    return node::WallTime(std::chrono::duration_cast<node::WallTime::duration>(seconds));
  }
  Hash256 hash(const char* key) const {
    auto hash = parse_hash(text(key));
    if (hash) return *hash;
    note(hash.error().detail);
    return {};
  }
  job::ThreadId thread(const char* key) const { return job::ThreadId(hexadecimal<std::uint64_t>(text(key))); }
  std::string bytes(const char* key) const {
    const std::string digits = text(key);
    std::string bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) bytes.push_back(static_cast<char>(hexadecimal<std::uint8_t>(digits.substr(i, 2))));
    return bytes;
  }
  template <class State>
  State state(std::initializer_list<State> states, const char* key = "state") const {
    const std::string word = text(key);
    for (const State state : states)
      if (name(state) == word) return state;
    note(fmt::format("'{}' is no {}", word, key));
    return *states.begin();
  }
  // null: none.
  template <class Duration>
  std::optional<Duration> maybe_duration(const char* key) const {
    if (is_null(key)) return std::nullopt;
    return Duration(number<std::uint32_t>(key));
  }
  bool is_null(const char* key) const { return json_.is_object() && json_.contains(key) && json_.at(key).is_null(); }

  template <class View>
  std::vector<View> all(const char* key, View (*read_one)(const Members&)) const {
    std::vector<View> views;
    if (const Json* const list = find(key, Json::value_t::array))
      for (const Json& one : *list) views.push_back(read_one(Members(one, problem_)));
    return views;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> texts;
    if (const Json* const list = find(key, Json::value_t::array))
      for (const Json& one : *list)
        one.is_string() ? texts.push_back(one.get<std::string>()) : note(fmt::format("{} is no list of texts", key));
    return texts;
  }
  std::vector<Hash256> hashes(const char* key) const {
    std::vector<Hash256> hashes;
    for (const std::string& text : texts(key)) {
      auto hash = parse_hash(text);
      hash ? hashes.push_back(*hash) : note(hash.error().detail);
    }
    return hashes;
  }
  // Numbers by the hash that they belong to.
  std::map<Hash256, std::uint32_t> weights(const char* key) const {
    std::map<Hash256, std::uint32_t> weights;
    const Json* const list = find(key, Json::value_t::object);
    if (list == nullptr) return weights;
    const Members inner(*list, problem_);
    for (const auto& [name, value] : list->items()) {
      auto hash = parse_hash(name);
      hash ? void(weights[*hash] = inner.number<std::uint32_t>(name.c_str())) : note(hash.error().detail);
    }
    return weights;
  }
  // A list of pairs of numbers.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(const char* key) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    const Json* const list = find(key, Json::value_t::array);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Json& one = (*list)[i];
      const bool is_pair = one.is_array() && one.size() == 2 && one[0].is_number_unsigned() && one[1].is_number_unsigned() &&
                           one[0].get<std::uint64_t>() <= UINT32_MAX && one[1].get<std::uint64_t>() <= UINT32_MAX;
      is_pair ? (void)pairs.emplace_back(one[0].get<std::uint32_t>(), one[1].get<std::uint32_t>())
              : note(fmt::format("{} is no list of pairs", key));
    }
    return pairs;
  }
  void note(std::string problem) const {
    if (problem_.empty()) problem_ = std::move(problem);
  }

 private:
  const Json* find(const char* key, Json::value_t type) const {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    if (json_.is_object() && found != json_.end() && found->type() == type) return &*found;
    note(fmt::format("{} is missing, or not what it should be", key));
    return nullptr;
  }
  template <class Number>
  Number hexadecimal(const std::string& digits) const {
    Number value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, value, 16);
    if (failure != std::errc() || stop != end) note(fmt::format("'{}' is not hexadecimal", digits));
    return value;
  }

  const Json& json_;
  std::string& problem_;
};

JobState job_state(const Members& json) {
  return json.state({JobState::running, JobState::done, JobState::failed, JobState::cancelled, JobState::suspended});
}

PeerView::State peer_state(const Members& json) {
  return json.state({PeerView::State::self, PeerView::State::alive, PeerView::State::suspected, PeerView::State::silent});
}

std::optional<node::WallTime> maybe_time(const Members& json, const char* key) {
  if (json.is_null(key)) return std::nullopt;
  return json.time(key);
}

// Kind::invalid becomes the problem.
template <class Value>
void take(const Members& json, Result<Value> parsed, Value& value) {
  parsed ? void(value = *std::move(parsed)) : json.note(parsed.error().detail);
}

node::Share read_share(const Members& json) {
  node::Share share;
  node::for_each_number(share, [&]<class Number>(const char* name, Number& number) { number = json.number<Number>(name); });
  job::LendingRules& rules = share.rules;
  take(json, job::LendingAudience::parse(json.text("for")), rules.audience);
  take(json, job::LendingTimes::parse(json.text("when")), rules.when);
  for (const job::ConsumerName& name : json.hashes("allow")) rules.allowed.insert(name);
  for (const job::ConsumerName& name : json.hashes("block")) rules.blocked.insert(name);
  rules.weights = json.weights("weights");
  for (const std::string& tag : json.texts("tags")) share.tags.insert(tag);
  return share;
}

node::StorageView read_storage(const Members& json) {
  return {.finished_jobs = json.number<std::uint64_t>("finished_jobs"),
          .finished_bytes = json.number<std::uint64_t>("finished_bytes"),
          .keep_for = std::chrono::seconds(json.number<std::uint32_t>("keep_for_seconds")),
          .keep_bytes = json.number<std::uint64_t>("keep_bytes"),
          .free_bytes = json.number<std::uint64_t>("free_bytes"),
          .full = json.boolean("full"),
          .lent_threads = json.number<std::uint64_t>("lent_threads"),
          .lent_bytes = json.number<std::uint64_t>("lent_bytes"),
          .lent_limit = json.number<std::uint64_t>("lent_limit"),
          .cache_bytes = json.number<std::uint64_t>("cache_bytes"),
          .cache_limit = json.number<std::uint64_t>("cache_limit"),
          .cache_hits = json.number<std::uint64_t>("cache_hits"),
          .cache_hit_bytes = json.number<std::uint64_t>("cache_hit_bytes")};
}

node::HostedJobView read_hosted(const Members& json) {
  using State = node::HostedJobView::State;
  return {.id = {json.hash("id")},
          .home = {json.hash("home")},
          .home_name = json.text("home_name"),
          .state = json.state({State::reserved, State::claimed, State::leaving}),
          .slots = json.number<std::uint32_t>("slots"),
          .memory_bytes = json.number<std::uint64_t>("memory_bytes"),
          .owner = json.hash("owner"),
          .program = json.text("program"),
          .since = json.time("since"),
          .cpu_time = std::chrono::milliseconds(json.number<std::uint64_t>("cpu_ms")),
          .lanes = json.number<std::uint32_t>("lanes"),
          .priority = json.number<std::uint32_t>("priority")};
}

node::BalanceView read_balance(const Members& json) {
  return {.peer = {json.hash("peer")},
          .user = json.is_null("user") ? Hash256() : json.hash("user"),
          .given_slot_seconds = json.real("given_slot_seconds"),
          .used_slot_seconds = json.real("used_slot_seconds"),
          .given_bytes = json.number<std::uint64_t>("given_bytes"),
          .used_bytes = json.number<std::uint64_t>("used_bytes"),
          .changed_at = json.time("changed_at")};
}

node::PingView read_ping(const Members& json) {
  return {.round_trip = std::chrono::microseconds(json.number<std::uint32_t>("round_trip_us")),
          .way = json.text("way"),
          .remote = json.text("remote"),
          .version = json.text("version"),
          .clock_ahead = std::chrono::milliseconds(json.signed_number("clock_ahead_ms"))};
}

job::Capacity read_capacity(const Members& json) {
  const auto thousandths = [&](const char* key) {
    return static_cast<std::uint32_t>(std::lround(std::clamp(json.real(key), 0.0, 1e6) * 1000));
  };
  job::Capacity capacity;
  capacity.set_speed(thousandths("speed"));
  capacity.set_memory_bytes(json.number<std::uint64_t>("memory_bytes"));
  capacity.set_disk_bytes(json.number<std::uint64_t>("disk_bytes"));
  capacity.set_load(thousandths("load"));
  capacity.set_uptime_s(json.number<std::uint64_t>("uptime_s"));
  capacity.set_arch(json.text("arch"));
  for (std::string& tag : json.texts("tags")) capacity.add_tags(std::move(tag));
  return capacity;
}

constexpr std::initializer_list<Reach> kAllReaches{Reach::unknown, Reach::open, Reach::outbound, Reach::relay_only};

node::NodeView read_node(const Members& json) {
  return {.id = {json.hash("id")},
          .name = json.text("name"),
          .boot = json.number<std::uint64_t>("boot"),
          .version = json.text("version"),
          .addresses = json.texts("addresses"),
          .slots = json.number<std::uint32_t>("slots"),
          .free_slots = json.number<std::uint32_t>("free_slots"),
          .relayed_for_others = json.number<std::uint64_t>("relayed_for_others"),
          .started_at = json.time("started_at"),
          .state = json.text("state"),
          .share = read_share(json.object("share")),
          .not_lending = json.text("not_lending"),
          .workers_fail = json.text("workers_fail"),
          .capacity = read_capacity(json.object("capacity")),
          .reach = json.state(kAllReaches, "reach"),
          .dialled_back = json.number<std::uint32_t>("dialled_back"),
          .not_dialled_back = json.number<std::uint32_t>("not_dialled_back"),
          .anchors = json.texts("anchors"),
          .load = json.real("load"),
          .cores = json.number<std::uint32_t>("cores"),
          .workers = json.number<std::uint32_t>("workers"),
          .storage = read_storage(json.object("storage"))};
}

std::optional<PeerView::Link> read_link(const Members& json) {
  using transport::Way;
  if (json.is_null("way")) return std::nullopt;
  return PeerView::Link{.way = json.state({Way::direct, Way::reverse, Way::relayed}, "way"),
                        .bytes_in = json.number<std::uint64_t>("bytes_in"),
                        .bytes_out = json.number<std::uint64_t>("bytes_out")};
}

PeerView read_peer(const Members& json) {
  return {.id = {json.hash("id")},
          .name = json.text("name"),
          .grid = json.text("grid"),
          .address = json.text("address"),
          .state = peer_state(json),
          .reach = json.state(kAllReaches, "class"),
          .slots = json.number<std::uint32_t>("slots"),
          .free_slots = json.number<std::uint32_t>("free_slots"),
          .capacity = json.is_null("capacity") ? std::nullopt : std::optional(read_capacity(json.object("capacity"))),
          .network_speed = json.is_null("network_bytes_per_s") ? std::nullopt : std::optional(json.real("network_bytes_per_s")),
          .distance = json.maybe_duration<std::chrono::microseconds>("distance_us"),
          .heard = json.maybe_duration<std::chrono::milliseconds>("heard_ms"),
          .link = read_link(json)};
}

node::PlacingView read_placing(const Members& json) {
  return {.needs = json.text("needs"),
          .place = json.text("place"),
          .min_slots = json.number<std::uint32_t>("min_slots"),
          .on_failure = json.text("on_failure"),
          .job_time = std::chrono::milliseconds(json.number<std::uint64_t>("job_time_ms"))};
}

node::JobSummary read_summary(const Members& json) {
  return {.id = {json.hash("id")},
          .name = json.text("name"),
          .program = json.text("program"),
          .state = job_state(json),
          .submitted_at = maybe_time(json, "submitted_at"),
          .ended_at = maybe_time(json, "ended_at"),
          .tasks = json.number<std::uint32_t>("tasks"),
          .array = json.number<std::uint32_t>("array"),
          .slots = json.number<std::uint32_t>("slots"),
          .placing = read_placing(json),
          .threads = json.number<std::uint64_t>("threads"),
          .waiting = json.number<std::uint64_t>("waiting"),
          .running = json.number<std::uint64_t>("running"),
          .ended = json.number<std::uint64_t>("ended"),
          .failed = json.number<std::uint64_t>("failed"),
          .skipped = json.number<std::uint64_t>("skipped"),
          .exit_code = json.number<std::uint32_t>("exit_code"),
          .counters = {.lost = json.number<std::uint64_t>("lost"),
                       .resumed = json.number<std::uint64_t>("resumed"),
                       .restarted = json.number<std::uint64_t>("restarted"),
                       .peers_lost = json.number<std::uint64_t>("peers_lost")},
          .retried = json.number<std::uint64_t>("retried"),
          .sentence = json.text("sentence"),
          .stored_bytes = json.number<std::uint64_t>("stored_bytes"),
          .next_event = json.number<std::uint64_t>("next_event")};
}

job::Time since_1970(const Members& json, const char* member) {
  const auto time = maybe_time(json, member);
  return time ? std::chrono::duration_cast<job::Time>(time->time_since_epoch()) : job::Time(0);
}

ThreadView read_thread(const Members& json) {
  using State = ThreadView::State;
  ThreadView thread{.id = json.thread("id"),
                    .name = json.text("name"),
                    .state = json.state({State::waiting, State::running, State::ended, State::failed, State::skipped}),
                    .epoch = json.number<std::uint64_t>("epoch"),
                    .resumed = json.number<std::uint64_t>("resumed"),
                    .restarted = json.number<std::uint64_t>("restarted"),
                    .exit_code = json.number<std::uint32_t>("exit_code"),
                    .sentence = json.text("sentence"),
                    .why = {json.reason("reason"), json.text("detail")},
                    .attempts = json.number<std::uint32_t>("attempts"),
                    .started_at = since_1970(json, "started_at"),
                    .ended_at = since_1970(json, "ended_at")};
  if (!json.is_null("task")) thread.task = json.number<std::uint32_t>("task");
  if (!json.is_null("host")) thread.host = job::PeerId{json.hash("host")};
  return thread;
}

node::JobPeerView read_job_peer(const Members& json) {
  return {.id = {json.hash("id")},
          .name = json.text("name"),
          .state = peer_state(json),
          .slots = json.number<std::uint32_t>("slots"),
          .running = json.number<std::uint64_t>("running"),
          .finished = json.number<std::uint64_t>("finished"),
          .lost = json.number<std::uint64_t>("lost"),
          .taken = json.number<std::uint64_t>("taken"),
          .failure = json.text("failure")};
}

job::PeerReason read_peer_reason(const Members& json) { return {{json.hash("peer")}, {json.reason("reason"), json.text("detail")}}; }

job::WaitCount read_wait(const Members& json) {
  return {{json.reason("reason"), json.text("detail")}, json.number<std::uint64_t>("threads")};
}

node::JobView read_job(const Members& json) {
  return {.summary = read_summary(json),
          .threads = json.all("thread_list", read_thread),
          .peers = json.all("peers", read_job_peer),
          .waits = json.all("waits", read_wait),
          .absent = json.all("absent", read_peer_reason)};
}

node::Stream stream_in(const Members& json) { return json.text("stream") == "stdout" ? node::Stream::output : node::Stream::errors; }

job::TaskPage read_task_page(const Members& json) {
  job::TaskPage page{.tasks = json.all("tasks", read_thread), .count = json.number<std::uint64_t>("count")};
  if (!json.is_null("next")) page.next = json.number<std::uint32_t>("next");
  return page;
}

JobEvent::TasksEnded read_tasks_ended(const Members& json) {
  JobEvent::TasksEnded event{.ended = json.number<std::uint64_t>("ended"),
                             .failed = json.number<std::uint64_t>("failed"),
                             .running = json.number<std::uint64_t>("running"),
                             .hosts = json.number<std::uint64_t>("hosts")};
  for (const auto& [first, count] : json.pairs("tasks")) event.tasks.push_back({first, count});
  event.failures = json.all(
      "failures", +[](const Members& j) {
        return JobEvent::TasksEnded::Failure{j.number<std::uint32_t>("task"), j.number<std::uint32_t>("exit_code"), j.text("sentence")};
      });
  return event;
}

using Kinds = decltype(JobEvent::kind);
const std::map<std::string, std::function<Kinds(const Members&)>>& event_readers() {
  using E = JobEvent;
  static const std::map<std::string, std::function<Kinds(const Members&)>> table{
      {"accepted", [](const Members&) { return E::Accepted{}; }},
      {"thread_placed", [](const Members& j) { return E::ThreadPlaced{j.thread("thread"), {j.hash("host")}}; }},
      {"thread_resumed",
       [](const Members& j) { return E::ThreadResumed{j.thread("thread"), j.number<std::uint64_t>("epoch"), {j.hash("host")}}; }},
      {"thread_restarted",
       [](const Members& j) { return E::ThreadRestarted{j.thread("thread"), j.number<std::uint64_t>("epoch"), {j.hash("host")}}; }},
      {"peer_lost", [](const Members& j) { return E::PeerLost{{j.hash("peer")}, j.number<std::uint64_t>("threads")}; }},
      {"output_grew", [](const Members& j) { return E::OutputGrew{stream_in(j), j.number<std::uint64_t>("size")}; }},
      {"input_wanted", [](const Members& j) { return E::InputWanted{j.number<std::uint64_t>("piece")}; }},
      {"thread_ended",
       [](const Members& j) { return E::ThreadEnded{j.thread("thread"), j.number<std::uint32_t>("exit_code"), j.text("sentence")}; }},
      {"thread_failed", [](const Members& j) { return E::ThreadFailed{j.thread("thread"), j.text("sentence")}; }},
      {"report", [](const Members& j) { return E::Report{j.thread("thread"), j.bytes("hex")}; }},
      {"tasks_ended", [](const Members& j) { return read_tasks_ended(j); }},
      {"task_repeated",
       [](const Members& j) {
         return E::TaskRepeated{j.thread("thread"), {j.hash("host")}, j.number<std::uint32_t>("exit_code"), j.text("sentence")};
       }},
      {"tasks_skipped",
       [](const Members& j) {
         E::TasksSkipped event{.skipped = j.number<std::uint64_t>("skipped"), .tasks = {}, .sentence = j.text("sentence")};
         for (const auto& [first, count] : j.pairs("tasks")) event.tasks.push_back({first, count});
         return event;
       }},
      {"suspended", [](const Members&) { return E::Suspended{}; }},
      {"resumed", [](const Members&) { return E::Resumed{}; }},
      {"over", [](const Members& j) { return E::Over{job_state(j), j.number<std::uint32_t>("exit_code"), j.text("sentence")}; }},
  };
  return table;
}

JobEvent read_event(const Members& json) {
  JobEvent event{.number = json.number<std::uint64_t>("number"), .at = json.time("at"), .kind = {}};
  const auto reader = event_readers().find(json.text("event"));
  if (reader == event_readers().end()) {
    json.note(fmt::format("'{}' is no event", json.text("event")));
  } else {
    event.kind = reader->second(json);
  }
  return event;
}

template <class View>
Result<View> read(std::string_view text, View (*read_view)(const Members&)) {
  std::string problem;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  View view = read_view(Members(json, problem));
  if (problem.empty()) return view;
  return fail(Kind::corrupt, "the daemon's answer is malformed ({}): use the same version of godwit and the daemon", problem);
}

}  // namespace

Result<node::NodeView> node_view(std::string_view text) { return read(text, read_node); }
Result<node::Share> share_view(std::string_view text) { return read(text, read_share); }
Result<node::PingView> ping_view(std::string_view text) { return read(text, read_ping); }

Result<node::UrlPieces> url_pieces(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::string problem;
  const Members members(json, problem);
  node::UrlPieces pieces{.total = members.number<std::uint64_t>("total"), .version = members.text("version"), .pieces = {}};
  if (!json.is_object() || !json.contains("pieces") || !json["pieces"].is_array()) return fail(Kind::corrupt, "pieces is no array");
  for (const Json& piece : json["pieces"]) {
    GW_TRY(const Hash256 hash, parse_hash(piece.is_string() ? piece.get<std::string>() : ""));
    pieces.pieces.push_back(hash);
  }
  if (!problem.empty()) return fail(Kind::corrupt, "{}", problem);
  return pieces;
}

Result<node::UrlRequest> url_request(std::string_view text) {
  constexpr std::uint64_t kPieceBytes = 1u << 20;
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::string problem;
  const Members members(json, problem);
  node::UrlRequest request{
      .url = members.text("url"), .offset = members.number<std::uint64_t>("offset"), .version = members.text("version")};
  if (!problem.empty()) return fail(Kind::invalid, "send an object with url, offset and version: {}", problem);
  if (request.offset % kPieceBytes != 0 || request.offset >> 48 != 0) return fail(Kind::invalid, "offset is a multiple of 1 MiB");
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (request.version.size() > 256 || std::ranges::any_of(request.version, is_control)) return fail(Kind::invalid, "version is not one");
  return request;
}

Result<node::ShareChange> share_change(std::string_view text) {
  constexpr std::string_view kForm = "an object with members of the share, as GET /v1/node shows it";
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail(Kind::invalid, "the body is not a JSON object: send {}", kForm);
  std::string problem;
  const Members members(json, problem);
  node::ShareChange change;
  for (const auto& [key, value] : json.items()) {
    bool known = false;
    node::for_each_number(change, [&]<class Number>(const char* name, std::optional<Number>& number) {
      if (key != name) return;
      known = true;
      number = members.number<Number>(name);
    });
    if (known) continue;
    if (key == "for") {
      change.audience = members.text("for");
    } else if (key == "when") {
      change.when = members.text("when");
    } else if (key == "allow") {
      change.allow = members.hashes("allow");
    } else if (key == "block") {
      change.block = members.hashes("block");
    } else if (key == "unlist") {
      change.unlist = members.hashes("unlist");
    } else if (key == "tag") {
      change.tag = members.texts("tag");
    } else if (key == "untag") {
      change.untag = members.texts("untag");
    } else if (key == "weights") {
      change.weights = members.weights("weights");
    } else {
      members.note(fmt::format("'{}' cannot be shared", key));
    }
  }
  if (!problem.empty()) return fail(Kind::invalid, "{}: send {}", problem, kForm);
  return change;
}
Result<node::JobView> job_view(std::string_view text) { return read(text, read_job); }
Result<job::TaskPage> task_page(std::string_view text) { return read(text, read_task_page); }
Result<JobEvent> job_event(std::string_view line) { return read(line, read_event); }

Result<std::vector<PeerView>> peer_views(std::string_view text) {
  return read<std::vector<PeerView>>(text, [](const Members& json) { return json.all("peers", read_peer); });
}

Result<std::vector<node::BalanceView>> balance_views(std::string_view text) {
  return read<std::vector<node::BalanceView>>(text, [](const Members& json) { return json.all("peers", read_balance); });
}

Result<std::vector<node::HostedJobView>> hosted_views(std::string_view text) {
  return read<std::vector<node::HostedJobView>>(text, [](const Members& json) { return json.all("hosted", read_hosted); });
}

Result<std::vector<node::JobSummary>> job_summaries(std::string_view text) {
  return read<std::vector<node::JobSummary>>(text, [](const Members& json) { return json.all("jobs", read_summary); });
}

}  // namespace gw::gateway

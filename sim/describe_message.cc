#include "describe_message.h"

#include <fmt/format.h>

#include <map>

#include "base/bytes.h"
#include "wire/messages/streams.h"

namespace gw::sim {
namespace {

using wire::pb::JobMessage;

std::string brief(const std::string& bytes) {
  return bytes.empty() ? "none" : hex(as_bytes(bytes).first(std::min<std::size_t>(bytes.size(), 3)));
}

template <class List>
std::string brief_list(const List& list) {
  std::string text;
  for (const std::string& bytes : list) text += (text.empty() ? "" : "+") + brief(bytes);
  return text;
}

template <class Message>
std::string thread_of(const Message& message) {
  return fmt::format("thread {} epoch {}", message.thread() % 10000, message.epoch());
}

template <class Message>
std::string of_spawn(const Message& message) {
  return message.spawn() == 0 ? "" : fmt::format(" of the child of spawn {}", message.spawn());
}

template <class Message>
std::string of_round(const Message& message) {
  return message.round() == 0 ? "" : fmt::format(" round {}{}", message.round(), message.held() ? " held" : "");
}

template <class Message>
std::string kept_thread_of(const Message& message) {
  return fmt::format("{} generation {}", thread_of(message), message.keeper_generation() & 0xffff);
}

std::string describe_status(const JobMessage::Status& status) {
  std::string text = fmt::format("status {} '{}':", status.number(), status.failure());
  for (const JobMessage::Status::Held& held : status.held())
    text += fmt::format(" {}/{}/{}", held.thread() % 10000, held.epoch(), static_cast<int>(held.start_state()));
  return text;
}

// The stream may be none: a liar's message is described too.
std::string describe_stream(const wire::pb::Stream& stream) {
  const auto known = wire::read(stream);
  return known ? wire::describe(*known) : "none";
}

// The query may be anything: a liar's message is described too.
std::string describe_search(const JobMessage::Search& search) {
  JobMessage::Query query;
  if (!query.ParseFromString(search.query())) return "search without a query";
  return fmt::format("search round {} radius {} us for {}, {} hops", query.round() & 0xffff, query.radius_ns() / 1000, query.slots(),
                     search.hops());
}

std::string describe_effects(const JobMessage::Effects& effects) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> streams;
  for (const wire::pb::Effect& effect : effects.effects())
    streams.try_emplace(describe_stream(effect.stream()), effect.sequence(), 0).first->second.second = effect.sequence();
  std::string text = "effects " + thread_of(effects);
  for (const auto& [stream, numbers] : streams) text += fmt::format(" {} {}..{}", stream, numbers.first, numbers.second);
  return text + fmt::format(" determinants {}", effects.determinants());
}

std::string describe_batch(const JobMessage::TaskBatch& batch) {
  return fmt::format("batch {} of tasks {}+{}{}, reports stored {}", batch.number(), batch.tasks().first(), batch.tasks().count(),
                     batch.recall() ? " recall" : "", batch.reports());
}

std::string describe_report(const JobMessage::TaskReport& report) {
  std::string text = fmt::format("report {} batches {}:", report.number(), report.batches());
  for (const wire::pb::TaskResult& result : report.results()) text += fmt::format(" {}", result.task());
  for (const std::uint32_t task : report.promoted()) text += fmt::format(" promoted {}", task);
  for (const wire::pb::TaskRange& range : report.returned()) text += fmt::format(" returned {}+{}", range.first(), range.count());
  for (const std::uint32_t task : report.lost()) text += fmt::format(" lost {}", task);
  return text;
}

std::string describe_marks(const wire::MarkList& marks) {
  std::string text;
  for (const wire::pb::StreamMark& mark : marks) text += fmt::format(" {} {}", describe_stream(mark.stream()), mark.sequence());
  return text;
}

std::string describe_determinants(const auto& list) {
  return list.empty() ? "none" : fmt::format("{}..{}", list.begin()->index(), list.rbegin()->index());
}

std::string describe_claim(const JobMessage& job) {
  const auto text = [](std::string_view what, const auto& claim) { return fmt::format("{} {}", what, claim.claim() & 0xffff); };
  if (job.has_claim()) return text("claim", job.claim()) + of_round(job.claim());
  if (job.has_claim_state()) return text("claim state", job.claim_state()) + of_round(job.claim_state());
  if (job.has_wounded()) return text("wounded", job.wounded());
  if (job.has_release()) return text("release", job.release());
  if (job.has_no_claim()) return text("no claim", job.no_claim());
  if (job.has_decline()) return fmt::format("decline round {}: {}", job.decline().round() & 0xffff, job.decline().sentence());
  return fmt::format("offer {} of {} for round {}", job.offer().claim() & 0xffff, job.offer().slots(), job.offer().round() & 0xffff);
}

std::string describe_files_and_input(const JobMessage& job) {
  if (job.has_want_files()) return fmt::format("want files of {} tasks", job.want_files().tasks_size());
  if (job.has_files_are()) return fmt::format("files of {} tasks", job.files_are().files_size());
  if (job.has_want_mail())
    return fmt::format("want mail {} {}{}", thread_of(job.want_mail()), job.want_mail().next(), job.want_mail().waits() ? ", waits" : "");
  if (job.has_mails()) return fmt::format("mails {} {} of {}", thread_of(job.mails()), job.mails().mails_size(), job.mails().first());
  if (job.has_want_input()) return fmt::format("want input {} {}", thread_of(job.want_input()), job.want_input().piece());
  return fmt::format("input {} {}", thread_of(job.input()), job.input().piece());
}

std::string describe_chunks(const JobMessage& job) {
  if (job.has_have()) return fmt::format("have {} chunks{}", job.have().chunks_size(), job.have().greeting() ? ", greeting" : "");
  if (job.has_want_blob()) return "want blob " + brief(job.want_blob().hash());
  return fmt::format("blob {}{}", brief(job.blob().hash()), job.blob().missing() ? " is missing" : "");
}

}  // namespace

std::string describe(const wire::pb::PeerMessage& message) {
  const JobMessage& job = message.job();
  switch (job.kind_case()) {
    case JobMessage::kSearch:
      return describe_search(job.search());
    case JobMessage::kDecline:
    case JobMessage::kOffer:
    case JobMessage::kClaim:
    case JobMessage::kClaimState:
    case JobMessage::kWounded:
    case JobMessage::kRelease:
    case JobMessage::kNoClaim:
      return describe_claim(job);
    case JobMessage::kStatus:
      return describe_status(job.status());
    case JobMessage::kAssign:
      return fmt::format("assign {} keepers {} restore {} stored{}", kept_thread_of(job.assign()), brief_list(job.assign().keepers()),
                         job.assign().restore(), describe_marks(job.assign().stored()));
    case JobMessage::kDrop:
      return "drop " + thread_of(job.drop());
    case JobMessage::kThreadFailed:
      return fmt::format("failed {}: {}", thread_of(job.thread_failed()), job.thread_failed().failure());
    case JobMessage::kEffects:
      return describe_effects(job.effects());
    case JobMessage::kStored:
      return fmt::format("stored {}{}", thread_of(job.stored()), describe_marks(job.stored().streams()));
    case JobMessage::kTaskBatch:
      return describe_batch(job.task_batch());
    case JobMessage::kTaskReport:
      return describe_report(job.task_report());
    case JobMessage::kKeeperChange:
      return fmt::format("keeper change {} current {} target {}", kept_thread_of(job.keeper_change()),
                         brief_list(job.keeper_change().current()), brief(job.keeper_change().target()));
    case JobMessage::kKeeperFilled:
      return "keeper filled " + kept_thread_of(job.keeper_filled());
    case JobMessage::kKeepImage:
      return fmt::format("keep image {} {} determinants {}{}", kept_thread_of(job.keep_image()), brief(job.keep_image().image_root()),
                         job.keep_image().determinants(), of_spawn(job.keep_image()));
    case JobMessage::kKeepDeterminants:
      return fmt::format("keep determinants {} {}", kept_thread_of(job.keep_determinants()),
                         describe_determinants(job.keep_determinants().determinants()));
    case JobMessage::kKept:
      return fmt::format("kept {} {} determinants {}{}", kept_thread_of(job.kept()), brief(job.kept().image_root()),
                         job.kept().determinants(), of_spawn(job.kept()));
    case JobMessage::kWantImage:
      return "want image " + kept_thread_of(job.want_image());
    case JobMessage::kImageIs:
      return fmt::format("image is {} {} with {}, then {}", kept_thread_of(job.image_is()), brief(job.image_is().image_root()),
                         job.image_is().in_image(), describe_determinants(job.image_is().determinants()));
    case JobMessage::kAskKept:
      return fmt::format("ask kept {}", job.ask_kept().threads_size());
    case JobMessage::kForget:
      return fmt::format("forget {}", job.forget().threads_size());
    case JobMessage::kHave:
    case JobMessage::kWantBlob:
    case JobMessage::kBlob:
      return describe_chunks(job);
    case JobMessage::kRoster:
      return "roster";
    case JobMessage::kWantRoster:
      return "want roster";
    case JobMessage::kWantFiles:
    case JobMessage::kFilesAre:
    case JobMessage::kWantInput:
    case JobMessage::kInput:
      return describe_files_and_input(job);
    default:
      return job.has_want_mail() || job.has_mails() ? describe_files_and_input(job) : "";
  }
}

}  // namespace gw::sim

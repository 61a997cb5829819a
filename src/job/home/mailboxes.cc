#include "job/home/mailboxes.h"

#include <algorithm>

#include "base/planted_bug.h"
#include "base/reached.h"
#include "job/home/home_messages.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

constexpr std::uint32_t kRefusals = 8;
constexpr std::size_t kBytesPerMessage = 512u << 10;  // one item may have 1 MiB more

ThreadId receiver_of(const Effect& effect) { return ThreadId{effect.has_message() ? effect.message().to() : effect.thread()}; }
std::size_t bytes_of_message(const Effect& effect) { return effect.has_message() ? effect.message().bytes().size() : 0; }

}  // namespace

std::string Mailboxes::key(RecordKind kind, ThreadId thread, std::uint64_t number) const {
  return RecordKey{.kind = kind, .job = environment_.job, .thread = thread, .number = number}.encode();
}

Status Mailboxes::recover(const Items& items, const Watches& watches) {
  for (const auto& [thread, list] : items) {
    if (list.rbegin()->first - list.begin()->first + 1 != list.size())
      return fail(Kind::corrupt, "a message to thread {} of job {} is lost", thread.value(), environment_.job.brief());
    Box& box = boxes_[thread];
    box.first = list.begin()->first;
    for (const auto& [number, mail] : list) {
      box.items.push_back(mail);
      box.bytes += bytes_of(mail);
    }
    bytes_ += box.bytes;
  }
  watches_ = watches;
  return ok();
}

bool Mailboxes::runs(ThreadId thread) const {
  const HomeThread* found = environment_.threads.find(thread);
  return found != nullptr && found->placed() != nullptr && found->placed()->start_state >= JobMessage::BEGINNING;
}

// A receiver that waits for a slot cannot take anything, and its senders, which hold slots, must not wait for it.
bool Mailboxes::has_room(ThreadId to, const Box& box, std::size_t bytes) const {
  if (box.items.size() <= 1) return true;  // one that was taken may stay
  if (!runs(to)) return bytes_ + bytes <= config_.job_bytes;
  return box.items.size() < config_.items && box.bytes + bytes <= config_.bytes && bytes_ + bytes <= config_.job_bytes;
}

std::optional<std::uint32_t> Mailboxes::task_of(ThreadId thread) const {
  const TaskTable& tasks = environment_.tasks;
  return tasks.size() == 0 ? std::nullopt : task_of_thread(thread, tasks.size());
}

// A thread that is over, or is none, reads nothing. A task that waits for a message becomes a thread.
bool Mailboxes::is_reader(ThreadId thread) const {
  const HomeThread* found = environment_.threads.find(thread);
  if (found != nullptr) return !found->over();
  const auto task = task_of(thread);
  return task && environment_.tasks.state(*task) != TaskTable::State::over && !GW_BUG(173);
}

bool Mailboxes::admits(const Effect& effect, std::uint64_t spawns) {
  const std::uint64_t spawns_before = effect.has_message() ? effect.message().spawns() : effect.watch().spawns();
  if (spawns_before > spawns) {
    GW_REACHED("home: a message came before a spawn");
    return false;
  }
  const ThreadId to = receiver_of(effect);
  if (effect.has_watch() && watches_.size() >= config_.watches) return false;
  const auto box = boxes_.find(to);
  if (!is_reader(to) || box == boxes_.end() || has_room(to, box->second, bytes_of_message(effect))) return true;
  GW_REACHED("home: a mailbox was full");
  box->second.blocked.insert(ThreadId{effect.thread()});
  return false;
}

void Mailboxes::take(const Effect& effect, Actions& out) {
  const ThreadId from{effect.thread()};
  wire::pb::MailMarkRecord& mark = marks_[from];
  mark.set_sequence(effect.sequence());
  mark.set_epoch(effect.epoch());
  if (effect.has_message()) {
    const ThreadId to{effect.message().to()};
    if (!is_reader(to)) {
      GW_REACHED("home: a message to a thread that is over");
      return;
    }
    wire::pb::Mail mail;
    mail.set_from(from.value());
    mail.set_tag(effect.message().tag());
    mail.set_bytes(effect.message().bytes());
    return put(to, std::move(mail), out);
  }
  const ThreadId watched{effect.watch().thread()};
  if (!is_reader(watched)) return put(from, notice_of(watched), out);
  watches_.insert({watched, from});
  out.record(key(RecordKind::watch, watched, from.value()), "");
}

void Mailboxes::put(ThreadId to, wire::pb::Mail mail, Actions& out) {
  Box& box = boxes_[to];
  out.record(key(RecordKind::mail, to, box.next()), mail.SerializeAsString());
  box.bytes += bytes_of(mail);
  bytes_ += bytes_of(mail);
  box.items.push_back(std::move(mail));
  if (box.want) changed_.insert(to);
}

wire::pb::Mail Mailboxes::notice_of(ThreadId thread) const {
  Effect::End end;
  end.set_reason(Effect::End::TERMINATED);
  end.set_exit_code(1);
  end.set_sentence("there is no such thread in the job");
  if (const HomeThread* found = environment_.threads.find(thread)) {
    const auto* ended = std::get_if<HomeThread::Ended>(&found->state);
    const auto* failed = std::get_if<HomeThread::Failed>(&found->state);
    end.set_exit_code(ended != nullptr ? ended->exit_code : failed != nullptr ? failed->exit_code : 1);
    end.set_sentence(ended != nullptr ? ended->sentence : failed != nullptr ? failed->sentence : "it has not run");
    if (end.sentence().empty()) end.set_reason(Effect::End::EXITED);
  }
  if (const auto task = task_of(thread); task && environment_.threads.find(thread) == nullptr) {
    const TaskFailure* failure = environment_.tasks.failure(*task);
    end.set_exit_code(failure != nullptr ? failure->exit_code : 0);
    end.set_sentence(failure != nullptr ? failure->sentence : "");
    if (end.sentence().empty()) end.set_reason(Effect::End::EXITED);
  }
  wire::pb::Mail notice;
  notice.set_from(thread.value());
  notice.set_is_notice(true);
  notice.set_bytes(end.SerializeAsString());
  return notice;
}

Status Mailboxes::on_want(ThreadId thread, const Want& want, Actions& out) {
  Box& box = boxes_[thread];
  if (want.epoch < box.epoch || (want.epoch == box.epoch && want.next < box.asked)) {
    GW_REACHED("home: a request for messages came late");
    return ok();
  }
  const bool until_taken = config_.keep == StandardInput::Config::Keep::until_taken || GW_BUG(171);
  if (want.next > box.next())
    return fail(Kind::invalid, "its host asked for message {} of its mailbox, which has {}", want.next, box.next());
  drop_before(box, thread, until_taken ? want.next : std::min(want.in_image, want.next), out);
  // A request of an earlier boot of home may come late; one that is meant is repeated.
  if (want.next < box.first && ++box.refused < kRefusals) return ok();
  if (want.next < box.first) return fail(Kind::not_found, "its messages were dropped and its last image is lost, so it cannot continue");
  box.refused = 0;
  box.epoch = want.epoch;
  box.asked = want.next;
  box.want = want;
  changed_.insert(thread);
  if (want.waits) environment_.claims.park(want.host, thread);
  if (!want.waits) environment_.claims.unpark(want.host, thread);
  return ok();
}

void Mailboxes::on_left(ThreadId thread) {
  if (const auto found = boxes_.find(thread); found != boxes_.end()) found->second.want.reset();
}

void Mailboxes::on_report(const JobMessage::TaskReport& report, Actions& out) {
  const auto look = [&](std::uint32_t task) {
    if (task < environment_.tasks.size() && environment_.tasks.state(task) == TaskTable::State::over)
      on_over(environment_.manifest.thread_of(task), out);
  };
  for (const wire::pb::TaskResult& result : report.results()) look(result.task());
  for (const std::uint32_t task : report.lost()) look(task);
}

void Mailboxes::on_over(ThreadId thread, Actions& out) {
  for (auto watch = watches_.lower_bound({thread, ThreadId{0}}); watch != watches_.end() && watch->first == thread;) {
    out.record(key(RecordKind::watch, thread, watch->second.value()), std::nullopt);
    if (is_reader(watch->second)) put(watch->second, notice_of(thread), out);
    watch = watches_.erase(watch);
  }
  const auto found = boxes_.find(thread);
  if (found == boxes_.end()) return;
  Box& box = found->second;
  for (std::uint64_t number = box.first; number < box.next(); ++number) out.record(key(RecordKind::mail, thread, number), std::nullopt);
  bytes_ -= box.bytes;
  unblock(box);
  changed_.erase(thread);
  boxes_.erase(found);
}

bool Mailboxes::has_beginning(ThreadId thread) const {
  const auto found = boxes_.find(thread);
  return found == boxes_.end() || found->second.first == 0;
}

void Mailboxes::drop_before(Box& box, ThreadId thread, std::uint64_t number, Actions& out) {
  while (box.items.size() > 1 && box.first < number) {
    const std::size_t bytes = bytes_of(box.items.front());
    box.bytes -= bytes;
    bytes_ -= bytes;
    out.record(key(RecordKind::mail, thread, box.first), std::nullopt);
    box.items.pop_front();
    ++box.first;
  }
  if (box.items.size() <= config_.items / 2 && box.bytes <= config_.bytes / 2) unblock(box);
}

void Mailboxes::unblock(Box& box) { unblocked_.merge(box.blocked); }

// After the disk: a replay after a crash of home has to read the same items.
void Mailboxes::give(ThreadId thread, Box& box, Actions& out) {
  const Want want = *box.want;
  if (want.next >= box.next()) return;
  box.want.reset();
  environment_.claims.unpark(want.host, thread);
  JobMessage message;
  JobMessage::Mails& mails = *message.mutable_mails();
  mails.set_thread(thread.value());
  mails.set_epoch(want.epoch);
  mails.set_first(want.next);
  std::size_t bytes = 0;
  for (std::uint64_t number = want.next; number < box.next() && bytes < kBytesPerMessage && mails.mails_size() < wire::kMaxMails;
       ++number) {
    *mails.add_mails() = box.items[number - box.first];
    bytes += bytes_of(mails.mails().Get(mails.mails_size() - 1));
  }
  out.after_disk(to_peer(want.host, environment_.job, std::move(message)));
}

// Else its messages would be repeated after seconds.
void Mailboxes::repeat(ThreadId sender, Actions& out) const {
  const HomeThread* thread = environment_.threads.find(sender);
  if (thread == nullptr || thread->placed() == nullptr) return;
  JobMessage again = stored_message(sender, thread->epoch, environment_.ledger.stored(sender), environment_.threads.unfinished_children());
  again.mutable_stored()->set_again(true);
  out.after_disk(to_peer(thread->placed()->host, environment_.job, std::move(again)));
}

void Mailboxes::end_turn(Actions& out) {
  for (const ThreadId sender : std::exchange(unblocked_, {})) repeat(sender, out);
  for (const ThreadId thread : std::exchange(changed_, {}))
    if (const auto found = boxes_.find(thread); found != boxes_.end() && found->second.want) give(thread, found->second, out);
  for (const auto& [thread, mark] : std::exchange(marks_, {})) out.record(key(RecordKind::mail_mark, thread, 0), mark.SerializeAsString());
}

void Mailboxes::remove_records(Actions& out) const {
  for (const RecordKind kind : {RecordKind::mail, RecordKind::mail_mark, RecordKind::watch})
    out.add(DropRecords{RecordKey{.kind = kind, .job = environment_.job, .thread = {}}.prefix()});
}

}  // namespace gw::job

#include "job/home/task_files.h"

#include "base/hash.h"
#include "base/reached.h"
#include "job/records.h"
#include "job/tasks/file_list.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {
namespace {

using File = wire::pb::Effect::OutputFile;

constexpr std::uint64_t kMaxStoredBytes = std::uint64_t{64} << 30;  // of a job, in blobs
constexpr std::size_t kEntryBytes = 80;                             // of an entry in a list, beside its path; at most
constexpr std::size_t kChunkBytes = 36;

bool has_blob(const File& file) { return file.type() == File::FILE && !file.bytes().empty(); }

Hash256 hash_of_piece(const File& file) { return sha256(as_bytes(file.bytes())); }

}  // namespace

std::optional<std::uint32_t> TaskFiles::task_of(const Effect& effect) const {
  if (!environment_.manifest.graph() || !effect.has_file()) return std::nullopt;
  const std::optional<std::uint32_t> task = task_of_thread(ThreadId{effect.thread()}, environment_.manifest.tasks());
  return task && reads(*task) ? task : std::nullopt;
}

bool TaskFiles::reads(std::uint32_t task) const {
  const TaskGraph& graph = *environment_.manifest.graph();
  return graph.files_are_read(graph.stage_of(task));
}

void TaskFiles::Open::add(Piece piece) {
  bytes += piece.piece().offset() == 0 ? kEntryBytes + piece.piece().path().size() : kChunkBytes;
  pieces.push_back(std::move(piece));
}

std::string TaskFiles::key(std::uint32_t task, std::uint64_t number) const {
  return RecordKey{
      .kind = RecordKind::task_file, .job = environment_.job, .thread = environment_.manifest.thread_of(task), .number = number}
      .encode();
}

// --- messages that bring pieces

bool TaskFiles::store_pieces(const PeerId& from, const Effect& effect, std::set<Hash256>& missing, Actions& out) {
  if (!task_of(effect) || !has_blob(effect.file()) || !check(effect)) return true;
  const std::string& bytes = effect.file().bytes();
  const Hash256 hash = hash_of_piece(effect.file());
  if (!held_.contains(hash)) {
    std::size_t& untaken = untaken_bytes_[from];
    if (untaken + bytes.size() > kMaxUntakenBytes) {
      GW_REACHED("home: a host sends too many pieces of files that are not taken");
      return false;
    }
    untaken += bytes.size();
    untaken_.emplace(hash, from);
    hold(hash, bytes, out);
  }
  if (!environment_.blobs.has(hash)) missing.insert(hash);
  return true;
}

void TaskFiles::hold(const Hash256& hash, std::string bytes, Actions& out) {
  if (!held_.insert(hash).second) return;
  stored_bytes_ += bytes.size();
  environment_.blobs.put(environment_.job, hash, std::move(bytes), out);
}

bool TaskFiles::admit(const PeerId& from, const JobMessage::TaskReport& report, Actions& out) {
  if (!environment_.manifest.graph()) return true;
  const Claim* claim = environment_.claims.find(from);
  std::set<Hash256> missing;
  for (const wire::pb::TaskResult& result : report.results()) {
    // Only a host that has the task may fill the disk with its files.
    if (claim == nullptr || !claim->tasks.holds(result.task())) continue;
    const std::uint64_t id = environment_.manifest.thread_of(result.task()).value();
    for (const Effect& effect : result.effects())
      if (effect.thread() == id && !store_pieces(from, effect, missing, out)) return false;
  }
  if (missing.empty() && !kept_.contains(from)) return true;
  JobMessage message;
  *message.mutable_task_report() = report;
  keep(from, std::move(message), std::move(missing));
  return false;
}

bool TaskFiles::admit(const PeerId& from, const JobMessage::Effects& effects, Actions& out) {
  if (!environment_.manifest.graph()) return true;
  std::set<Hash256> missing;
  for (const Effect& effect : effects.effects())
    if (!store_pieces(from, effect, missing, out)) return false;
  if (missing.empty() && !kept_.contains(from)) return true;
  JobMessage message;
  *message.mutable_effects() = effects;
  keep(from, std::move(message), std::move(missing));
  return false;
}

void TaskFiles::keep(const PeerId& from, JobMessage message, std::set<Hash256> missing) {
  GW_REACHED("home: a message waits until its files are stored");
  std::deque<Kept>& queue = kept_[from];
  const std::size_t bytes = message.ByteSizeLong();
  if (!queue.empty() && (queue.size() >= kMaxKept || kept_bytes_ + bytes > kMaxKeptBytes)) return;  // the host repeats it
  kept_bytes_ += bytes;
  for (const Hash256& hash : missing) waiting_[hash].insert(from);
  queue.push_back({std::move(message), bytes, std::move(missing)});
  if (queue.front().missing.empty()) ready_.insert(from);
}

std::vector<std::uint32_t> TaskFiles::on_blob_stored(const Hash256& hash) {
  if (const auto waiting = waiting_.extract(hash); !waiting.empty())
    for (const PeerId& peer : waiting.mapped()) {
      const auto queue = kept_.find(peer);
      if (queue == kept_.end()) continue;
      for (Kept& kept : queue->second) kept.missing.erase(hash);
      if (queue->second.front().missing.empty()) ready_.insert(peer);
    }
  std::vector<std::uint32_t> tasks;
  if (auto list = lists_.extract(hash); !list.empty()) tasks = std::move(list.mapped());
  for (const std::uint32_t task : tasks) listed_.at(task).ready = true;
  return tasks;
}

std::optional<std::pair<PeerId, JobMessage>> TaskFiles::take_ready() {
  if (ready_.empty()) return std::nullopt;
  const PeerId peer = *ready_.begin();
  std::deque<Kept>& queue = kept_.at(peer);
  std::pair<PeerId, JobMessage> ready(peer, std::move(queue.front().message));
  kept_bytes_ -= queue.front().bytes;
  queue.pop_front();
  if (queue.empty() || !queue.front().missing.empty()) ready_.erase(peer);
  if (queue.empty()) kept_.erase(peer);
  return ready;
}

// --- effects that Home takes

Status TaskFiles::check(const Effect& effect) const {
  const std::optional<std::uint32_t> task = task_of(effect);
  if (!task) return ok();
  const File& file = effect.file();
  if (stored_bytes_ > kMaxStoredBytes || held_.size() > wire::kMaxRowInputs)
    return fail(Kind::overloaded, "the tasks of the job leave more files for others than {} GiB or {} pieces", kMaxStoredBytes >> 30,
                wire::kMaxRowInputs);
  const bool whole = file.offset() % wire::kInputChunkBytes == 0 && (file.last() || file.bytes().size() == wire::kInputChunkBytes);
  if (file.type() == File::FILE && !whole)
    return fail(Kind::invalid, "it sent a file for other tasks in pieces of another size than 1 MiB");
  const auto open = open_.find(*task);
  const std::size_t bytes = (open == open_.end() ? 0 : open->second.bytes) + kEntryBytes + file.path().size();
  if (bytes <= wire::kMaxFileListBytes) return ok();
  return fail(Kind::overloaded, "it leaves more files for the tasks behind it than can be described: pack them into one");
}

void TaskFiles::on_effect(const Effect& effect, Actions& out) {
  const std::optional<std::uint32_t> task = task_of(effect);
  if (!task) return;
  Piece piece;
  *piece.mutable_piece() = effect.file();
  piece.set_size(effect.file().bytes().size());
  if (has_blob(effect.file())) {
    const Hash256 hash = hash_of_piece(effect.file());
    piece.set_hash(wire::bytes_of(hash));
    if (const auto untaken = untaken_.extract(hash)) untaken_bytes_[untaken.mapped()] -= effect.file().bytes().size();
  }
  if (effect.file().type() == File::FILE) piece.mutable_piece()->clear_bytes();
  Open& open = open_[*task];
  out.record(key(*task, open.pieces.size()), piece.SerializeAsString());
  open.add(std::move(piece));
}

void TaskFiles::drop(std::uint32_t task, Actions& out) {
  const auto open = open_.find(task);
  if (open == open_.end()) return;
  for (std::size_t i = 0; i < open->second.pieces.size(); ++i) out.record(key(task, i), std::nullopt);
  open_.erase(open);
}

bool TaskFiles::on_end(std::uint32_t task, Actions& out) {
  const auto open = open_.extract(task);
  Listed& listed = listed_[task];
  listed.ready = true;
  if (open.empty()) return true;
  wire::pb::TaskFileList list;
  for (const Piece& piece : open.mapped().pieces)
    add_to_list(piece.piece(), piece.size(), piece.hash().empty() ? std::nullopt : std::optional(wire::hash_of(piece.hash())), list);
  std::string bytes = list.SerializeAsString();
  listed.list = sha256(as_bytes(bytes));
  listed.pieces = static_cast<std::uint32_t>(open.mapped().pieces.size());
  hold(*listed.list, std::move(bytes), out);
  listed.ready = environment_.blobs.has(*listed.list);
  if (!listed.ready) lists_[*listed.list].push_back(task);
  return listed.ready;
}

// --- a restart of home, and the end of the job

void TaskFiles::recover(const HomeRecords& records) {
  if (!environment_.manifest.graph()) return;
  for (const auto& [thread, pieces] : records.files) {
    const std::optional<std::uint32_t> task = task_of_thread(thread, environment_.manifest.tasks());
    if (!task || !reads(*task)) continue;
    Open& open = open_[*task];
    for (const auto& [number, piece] : pieces) {
      if (!piece.hash().empty() && held_.insert(wire::hash_of(piece.hash())).second)
        environment_.blobs.adopt(environment_.job, wire::hash_of(piece.hash()));
      open.add(piece);
    }
  }
}

void TaskFiles::remove_records(Actions& out) const {
  const auto remove = [&](std::uint32_t task, std::size_t pieces) {
    for (std::size_t i = 0; i < pieces; ++i) out.record(key(task, i), std::nullopt);
  };
  for (const auto& [task, open] : open_) remove(task, open.pieces.size());
  for (const auto& [task, listed] : listed_) remove(task, listed.pieces);
}

// --- hosts

JobMessage TaskFiles::answer(const JobMessage::WantFiles& want, const std::function<bool(std::uint32_t)>& is_over) const {
  JobMessage answer;
  for (const std::uint32_t task : want.tasks()) {
    const auto listed = listed_.find(task);
    const bool known = listed != listed_.end();
    const bool comes = known ? !listed->second.ready : is_over(task) && reads(task);
    if (comes) continue;  // its list is on the way to the disk: the host asks again
    JobMessage::FilesAre::Files& files = *answer.mutable_files_are()->add_files();
    files.set_task(task);
    files.set_not_over(!known);
    if (known && listed->second.list) files.set_list(wire::bytes_of(*listed->second.list));
  }
  return answer;
}

}  // namespace gw::job

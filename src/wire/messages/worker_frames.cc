#include "wire/messages/worker_frames.h"

#include <algorithm>
#include <ranges>

#include "wire/messages/rules.h"
#include "wire/messages/streams.h"

namespace gw::wire {
namespace {

constexpr std::size_t kSentenceBytes = 4096;
constexpr int kMaxArguments = 65536;
constexpr std::uint32_t kMaxPoolThreads = 1024;

Status thread(std::uint64_t id) { return require(id != 0, "thread 0 does not exist"); }
Status hash(const std::string& bytes) { return require(is_hash(bytes), "a hash has 32 bytes"); }
Status sentence(const std::string& text) { return require(text.size() <= kSentenceBytes, "a sentence has at most 4096 bytes"); }

// --- effects and determinants

Status check(const pb::Effect::OutputFile& file) {
  GW_TRY_VOID(require(is_tree_path(file.path()), "an output file has a path inside the guest's tree"));
  GW_TRY_VOID(require(pb::Effect::OutputFile::Type_IsValid(file.type()), "the type of an output file is not known"));
  GW_TRY_VOID(require(file.thread() == 0, "home alone says which thread has left a file"));
  GW_TRY_VOID(require(file.bytes().size() <= kMaxEffectBytes, "a piece of a file has at most 1 MiB"));
  GW_TRY_VOID(require(file.offset() <= UINT64_MAX - kMaxEffectBytes, "a file ends before 2^64"));
  if (file.type() == pb::Effect::OutputFile::FILE) return ok();
  GW_TRY_VOID(require(file.offset() == 0 && file.last(), "directories and links come in one piece"));
  const bool link = file.type() == pb::Effect::OutputFile::SYMLINK;
  return require(link ? file.bytes().size() <= kMaxPathBytes : file.bytes().empty(), "directories have no bytes, links a path");
}

Status check(const pb::Effect::Output& output) {
  GW_TRY_VOID(require(output.descriptor() == 1 || output.descriptor() == 2, "output goes to descriptor 1 or 2"));
  return require(output.bytes().size() <= kMaxEffectBytes, "an output has at most 1 MiB");
}

Status check(const pb::Effect::Message& message) {
  GW_TRY_VOID(thread(message.to()));
  GW_TRY_VOID(require(message.spawns() <= kMaxSequence, "a stream has at most 2^62 effects"));
  return require(message.bytes().size() <= kMaxEffectBytes, "a message has at most 1 MiB");
}

Status check(const pb::Effect::Watch& watch) {
  GW_TRY_VOID(thread(watch.thread()));
  return require(watch.spawns() <= kMaxSequence, "a stream has at most 2^62 effects");
}

Status check(const pb::Effect& effect) {
  GW_TRY_VOID(thread(effect.thread()));
  GW_TRY_VOID(require(effect.epoch() != 0 && effect.sequence() != 0, "epochs and sequences of effects begin with 1"));
  GW_TRY_VOID(require(effect.sequence() <= kMaxSequence, "a stream has at most 2^62 effects"));
  GW_TRY_VOID(require(effect.kind_case() != pb::Effect::KIND_NOT_SET, "an effect has a kind"));
  GW_TRY_VOID(require(is_in_its_stream(effect), "an effect is in the stream that its kind belongs to"));
  switch (effect.kind_case()) {
    case pb::Effect::kOutput:
      return check(effect.output());
    case pb::Effect::kReport:
      return require(effect.report().size() <= kMaxEffectBytes, "a report has at most 1 MiB");
    case pb::Effect::kFile:
      return check(effect.file());
    case pb::Effect::kSpawn:
      GW_TRY_VOID(thread(effect.spawn().child()));
      return effect.spawn().image().empty() ? ok() : hash(effect.spawn().image());
    case pb::Effect::kEnd:
      GW_TRY_VOID(require(pb::Effect::End::Reason_IsValid(effect.end().reason()), "the reason of an end is not known"));
      return sentence(effect.end().sentence());
    case pb::Effect::kMessage:
      return check(effect.message());
    case pb::Effect::kWatch:
      return check(effect.watch());
    case pb::Effect::KIND_NOT_SET:
      break;
  }
  return require(false, "an effect has a kind");
}

// --- to the worker

Status check(const pb::InputEntry& entry) {
  GW_TRY_VOID(require(is_tree_path(entry.path()), "an input has a path inside the guest's tree"));
  GW_TRY_VOID(require(pb::InputEntry::Type_IsValid(entry.type()), "the type of an input is not known"));
  for (const std::string& chunk : entry.chunks()) GW_TRY_VOID(hash(chunk));
  const std::uint64_t chunks = entry.size() / kInputChunkBytes + (entry.size() % kInputChunkBytes != 0 ? 1 : 0);
  GW_TRY_VOID(require(static_cast<std::uint64_t>(entry.chunks_size()) == chunks, "an input has one hash for each MiB"));
  return require(entry.target().size() <= kMaxPathBytes, "the target of a link has at most 4096 bytes");
}

Status check_standard_input(const pb::InputEntry& entry) {
  GW_TRY_VOID(require(entry.type() == pb::InputEntry::FILE, "standard input is a file"));
  return check(entry);
}

Status check(const pb::FromTask& from) {
  GW_TRY_VOID(require(from.task() < kMaxTasks, "a job has at most 2^20 tasks"));
  return require(is_tree_path(from.output()) && is_tree_path(from.path()), "a file of a task has a path inside the guest's tree");
}

Status check(const pb::TaskRow& row) {
  GW_TRY_VOID(require(static_cast<std::size_t>(row.values_size()) <= kMaxColumns, "a row has at most 256 values"));
  GW_TRY_VOID(require(row.args_size() <= kMaxArguments && row.env_size() <= kMaxArguments, "there are at most 65536 arguments"));
  for (const pb::InputEntry& entry : row.inputs()) GW_TRY_VOID(check(entry));
  GW_TRY_VOID(require(static_cast<std::size_t>(row.files_from_size()) <= kMaxFilesFrom, "a row names at most 4096 files of other tasks"));
  for (const pb::FromTask& from : row.files_from()) GW_TRY_VOID(check(from));
  if (row.has_standard_input_from()) GW_TRY_VOID(check(row.standard_input_from()));
  return row.has_standard_input() ? check_standard_input(row.standard_input()) : ok();
}

Status check(const pb::ThreadConfig& config) {
  GW_TRY_VOID(require(config.args_size() <= kMaxArguments && config.env_size() <= kMaxArguments, "there are at most 65536 arguments"));
  GW_TRY_VOID(require(config.random_seed().size() == 32, "a random seed has 32 bytes"));
  for (const pb::InputEntry& entry : config.inputs()) GW_TRY_VOID(check(entry));
  for (std::string_view path : config.outputs()) {
    if (path.ends_with('/')) path.remove_suffix(1);  // a directory, to be made at the start
    GW_TRY_VOID(require(is_tree_path(path), "an output has a path inside the guest's tree"));
  }
  return config.has_standard_input() ? check_standard_input(config.standard_input()) : ok();
}

Status check(const pb::ToWorker::Load& load, std::size_t descriptors) {
  GW_TRY_VOID(require(descriptors == (load.has_code() ? 2u : 1u), "a module comes as sealed memory, its native code likewise"));
  return require(load.pool_threads() >= 1 && load.pool_threads() <= kMaxPoolThreads, "there are 1 to 1024 pool threads");
}

Status check_marks(const MarkList& list) {
  GW_TRY_VOID(read(list));
  return ok();
}

Status check(const pb::ToWorker::Start& start, std::size_t descriptors) {
  GW_TRY_VOID(require(descriptors == 1, "what a thread starts with comes as sealed memory"));
  GW_TRY_VOID(check_determinants(start.determinants()));
  GW_TRY_VOID(check_marks(start.stored()));
  return thread(start.thread());
}

Status check(const pb::ToWorker::Stored& stored) {
  GW_TRY_VOID(check_marks(stored.streams()));
  return thread(stored.thread());
}

Status check(const pb::ToWorker::Restore& restore) {
  GW_TRY_VOID(thread(restore.thread()));
  GW_TRY_VOID(check_marks(restore.stored()));
  GW_TRY_VOID(require(restore.epoch() != 0, "epochs begin with 1"));
  return check_determinants(restore.determinants());
}

Status check(const pb::ToWorker::Input& input) {
  GW_TRY_VOID(thread(input.thread()));
  GW_TRY_VOID(require(input.bytes().size() <= kMaxInputPiece, "a piece of input has at most 64 KiB"));
  return require(input.bytes().empty() == input.end(), "the end of the input is a piece of its own, and empty");
}

Status check(const pb::ToWorker::Chunk& chunk) {
  GW_TRY_VOID(hash(chunk.hash()));
  GW_TRY_VOID(sentence(chunk.error()));
  return require(chunk.bytes().size() <= kInputChunkBytes, "a piece of an input file has at most 1 MiB");
}

Status check(const pb::ToWorker::TaskSetup& setup, std::size_t descriptors) {
  GW_TRY_VOID(require(descriptors == 1, "what all tasks start with comes as sealed memory"));
  GW_TRY_VOID(require(static_cast<std::size_t>(setup.values().columns_size()) <= kMaxColumns, "a row has at most 256 values"));
  return require(setup.tasks() > 0 && setup.tasks() <= kMaxTasks, "a job has 1 to 2^20 tasks");
}

Status check(const pb::ToWorker::Tasks& tasks) {
  std::uint64_t count = 0;
  for (const pb::TaskRange& range : tasks.ranges()) {
    GW_TRY_VOID(check_range(range));
    count += range.count();
  }
  GW_TRY_VOID(require(tasks.rows().empty() || static_cast<std::uint64_t>(tasks.rows_size()) == count, "each task has a row, or none has"));
  for (const pb::TaskRow& row : tasks.rows()) GW_TRY_VOID(check(row));
  return ok();
}

std::size_t max_descriptors(const pb::ToWorker& frame) {
  if (frame.has_restore()) return 4;
  return frame.has_load() ? 2 : frame.has_start() || frame.has_task_setup() ? 1 : 0;
}

Status check(const pb::ToWorker& frame, std::size_t descriptors) {
  GW_TRY_VOID(require(descriptors <= max_descriptors(frame), "this kind of frame has no descriptors, or fewer"));
  switch (frame.kind_case()) {
    case pb::ToWorker::kLoad:
      return check(frame.load(), descriptors);
    case pb::ToWorker::kStart:
      return check(frame.start(), descriptors);
    case pb::ToWorker::kRestore:
      return check(frame.restore());
    case pb::ToWorker::kInput:
      return check(frame.input());
    case pb::ToWorker::kMails:
      GW_TRY_VOID(thread(frame.mails().thread()));
      return check_mails(frame.mails().first(), frame.mails().mails());
    case pb::ToWorker::kChunk:
      return check(frame.chunk());
    case pb::ToWorker::kStored:
      return check(frame.stored());
    case pb::ToWorker::kDeterminantsStable:
      return thread(frame.determinants_stable().thread());
    case pb::ToWorker::kImageStable:
      GW_TRY_VOID(thread(frame.image_stable().thread()));
      return hash(frame.image_stable().image());
    case pb::ToWorker::kSuspend:
      return thread(frame.suspend().thread());
    case pb::ToWorker::kCheckpoint:
      return thread(frame.checkpoint().thread());
    case pb::ToWorker::kTerminate:
      return thread(frame.terminate().thread());
    case pb::ToWorker::kDrop:
      return thread(frame.drop().thread());
    case pb::ToWorker::kTaskSetup:
      return check(frame.task_setup(), descriptors);
    case pb::ToWorker::kRunTasks:
      return check(frame.run_tasks());
    case pb::ToWorker::kDropTasks:
      return check(frame.drop_tasks());
    case pb::ToWorker::kAdopt:
      return thread(frame.adopt().thread());
    case pb::ToWorker::kCallTask:
      return thread(frame.call_task().thread());
    case pb::ToWorker::kShutdown:
    case pb::ToWorker::kChildren:
      return ok();
    case pb::ToWorker::KIND_NOT_SET:
      break;
  }
  return require(false, "its kind is not known");
}

// --- from the worker

Status check(const pb::FromWorker::Hello& hello) {
  GW_TRY_VOID(require(hello.cage_size() <= 32, "a worker is held by at most 32 things"));
  for (const std::string& part : hello.cage()) GW_TRY_VOID(sentence(part));
  return ok();
}

Status check(const pb::FromWorker& frame, std::size_t descriptors) {
  GW_TRY_VOID(require(descriptors == (frame.has_image() ? 1u : 0u), "images come with one descriptor, everything else with none"));
  switch (frame.kind_case()) {
    case pb::FromWorker::kHello:
      return check(frame.hello());
    case pb::FromWorker::kLoaded:
      return ok();
    case pb::FromWorker::kEffects:
      for (const pb::Effect& effect : frame.effects().effects()) GW_TRY_VOID(check(effect));
      return ok();
    case pb::FromWorker::kDeterminants:
      GW_TRY_VOID(thread(frame.determinants().thread()));
      return check_determinants(frame.determinants().determinants());
    case pb::FromWorker::kWantChunk:
      return hash(frame.want_chunk().hash());
    case pb::FromWorker::kWantInput:
      return thread(frame.want_input().thread());
    case pb::FromWorker::kWantMail:
      GW_TRY_VOID(require(frame.want_mail().next() <= kMaxSequence, "a thread takes at most 2^62 messages"));
      return thread(frame.want_mail().thread());
    case pb::FromWorker::kImage:
      GW_TRY_VOID(thread(frame.image().thread()));
      GW_TRY_VOID(require(pb::FromWorker::Image::Why_IsValid(frame.image().why()), "the reason of an image is not known"));
      GW_TRY_VOID(require((frame.image().why() == pb::FromWorker::Image::SPAWNED) == (frame.image().spawn() != 0),
                          "the first image of a child, and no other, names a spawn"));
      return hash(frame.image().id());
    case pb::FromWorker::kStopped:
      return thread(frame.stopped().thread());
    case pb::FromWorker::kTaskDone:
      return sentence(frame.task_done().error());
    case pb::FromWorker::kFailed:
      return sentence(frame.failed().error());
    case pb::FromWorker::kTaskResults:
      for (const pb::TaskResult& result : frame.task_results().results()) GW_TRY_VOID(check_task_result(result));
      return ok();
    case pb::FromWorker::kPromoted:
      return require(frame.promoted().task() < kMaxTasks, "a job has at most 2^20 tasks");
    case pb::FromWorker::KIND_NOT_SET:
      break;
  }
  return require(false, "its kind is not known");
}

template <class Frame>
Result<Bytes> to_bytes(const Frame& frame) {
  const std::size_t size = frame.ByteSizeLong();
  if (size > kMaxFrameBytes) return fail(Kind::overloaded, "a frame would have {} bytes, at most {} are allowed", size, kMaxFrameBytes);
  Bytes bytes(size);
  GW_ASSERT(frame.SerializeToArray(bytes.data(), static_cast<int>(size)));
  return bytes;
}

template <class Frame>
Result<Frame> from_bytes(ByteView payload, std::size_t descriptors) {
  if (payload.size() > kMaxFrameBytes)
    return fail(Kind::invalid, "a frame has {} bytes, at most {} are allowed", payload.size(), kMaxFrameBytes);
  Frame frame;
  if (!frame.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return fail(Kind::invalid, "a frame of {} bytes cannot be read", payload.size());
  GW_TRY_VOID(check(frame, descriptors));
  return frame;
}

}  // namespace

Result<pb::ThreadConfig> decode_thread_config(ByteView bytes) {
  if (bytes.size() > kMaxThreadConfigBytes)
    return fail(Kind::invalid, "the configuration of a thread has {} bytes, at most {} are allowed", bytes.size(), kMaxThreadConfigBytes);
  pb::ThreadConfig config;
  if (!config.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Kind::invalid, "the configuration of a thread cannot be read");
  GW_TRY_VOID(check(config));
  return config;
}

Status check_effect(const pb::Effect& effect) { return check(effect); }

Status check_mails(std::uint64_t first, const google::protobuf::RepeatedPtrField<pb::Mail>& mails) {
  GW_TRY_VOID(require(first <= kMaxSequence, "a thread takes at most 2^62 messages"));
  GW_TRY_VOID(require(!mails.empty() && mails.size() <= kMaxMails, "messages come 1 to 4096 at a time"));
  for (const pb::Mail& mail : mails) {
    GW_TRY_VOID(thread(mail.from()));
    GW_TRY_VOID(require(mail.bytes().size() <= kMaxEffectBytes, "a message has at most 1 MiB"));
  }
  return ok();
}

Status check_task_result(const pb::TaskResult& result) {
  GW_TRY_VOID(require(result.task() < kMaxTasks, "a job has at most 2^20 tasks"));
  GW_TRY_VOID(require(!result.effects().empty() && result.effects().rbegin()->has_end(), "the result of a task ends with its end"));
  std::uint64_t sequence = 0;
  for (const pb::Effect& effect : result.effects()) {
    GW_TRY_VOID(check(effect));
    GW_TRY_VOID(require(effect.thread() == result.effects(0).thread() && effect.epoch() == 1, "a task is in its first epoch"));
    GW_TRY_VOID(require(effect.sequence() == ++sequence && !effect.has_spawn(), "the effects of a task come without gaps or forks"));
    GW_TRY_VOID(require(!effect.has_message() && !effect.has_watch(), "a task that sends messages is a thread"));
    GW_TRY_VOID(require(effect.has_end() == (sequence == static_cast<std::uint64_t>(result.effects_size())), "nothing comes after an end"));
  }
  return ok();
}

Status check_range(const pb::TaskRange& range) {
  GW_TRY_VOID(require(range.count() > 0, "a range has a task at least"));
  return require(range.first() < kMaxTasks && range.count() <= kMaxTasks - range.first(), "a job has at most 2^20 tasks");
}

Status check_config(const pb::ThreadConfig& config) { return check(config); }
Status check_row(const pb::TaskRow& row) { return check(row); }

Result<pb::TaskRows> decode_task_rows(ByteView bytes, std::uint32_t rows) {
  if (bytes.size() > kMaxRowSegmentBytes)
    return fail(Kind::invalid, "a segment of rows has {} bytes, at most {} are allowed", bytes.size(), kMaxRowSegmentBytes);
  pb::TaskRows decoded;
  if (!decoded.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return fail(Kind::invalid, "a segment of rows cannot be read");
  if (static_cast<std::uint32_t>(decoded.rows_size()) != rows)
    return fail(Kind::invalid, "a segment has {} rows, the manifest of the job says {}", decoded.rows_size(), rows);
  for (const pb::TaskRow& row : decoded.rows()) GW_TRY_VOID(check(row));
  return decoded;
}

Result<pb::TaskFileList> decode_task_files(ByteView bytes) {
  if (bytes.size() > kMaxFileListBytes)
    return fail(Kind::invalid, "a list of files has {} bytes, at most {} are allowed", bytes.size(), kMaxFileListBytes);
  pb::TaskFileList list;
  if (!list.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return fail(Kind::invalid, "a list of files cannot be read");
  for (const pb::InputEntry& entry : list.entries()) GW_TRY_VOID(check(entry));
  return list;
}

bool is_tree_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes || path.find('\0') != std::string_view::npos) return false;
  for (const auto part : std::views::split(path, '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == "." || name == "..") return false;
  }
  return true;
}

Result<Bytes> encode(const pb::ToWorker& frame) { return to_bytes(frame); }
Result<Bytes> encode(const pb::FromWorker& frame) { return to_bytes(frame); }

Result<pb::ToWorker> decode_to_worker(ByteView payload, std::size_t descriptors) { return from_bytes<pb::ToWorker>(payload, descriptors); }

Result<pb::FromWorker> decode_from_worker(ByteView payload, std::size_t descriptors) {
  return from_bytes<pb::FromWorker>(payload, descriptors);
}

}  // namespace gw::wire

#include "node/disk/journal.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"

namespace gw::node {
namespace {

using job::EffectLedger;
using job::ThreadId;

Result<Hash256> to_hash(const std::string& bytes) {
  Hash256 hash;
  if (bytes.size() != hash.bytes.size()) return fail(Kind::corrupt, "a hash of {} bytes", bytes.size());
  std::ranges::copy(as_bytes(bytes), hash.bytes.begin());
  return hash;
}

std::string to_string(const Hash256& hash) { return std::string(as_text(hash.bytes)); }
std::string to_string(ByteView bytes) { return std::string(as_text(bytes)); }

// The same image with every page elsewhere.
Result<wire::Image> without_pages(const wire::Image& image) {
  wire::ImageContent content = image.content();
  content.module_wasm = {};
  for (wire::ImagePage& page : content.pages) {
    page.storage = wire::Storage::elsewhere;
    page.stored = {};
  }
  return wire::Image::encode(content);
}

Result<wire::pb::GateState> gate_state(const wire::Image& image) {
  wire::pb::GateState state;
  const Bytes& bytes = image.content().job_state;
  if (!state.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(Kind::corrupt, "the image has no readable state of its effect gate");
  return state;
}

}  // namespace

Result<Journal> Journal::create(const std::filesystem::path& path, const wire::pb::JobSpec& spec, ByteView module) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return RecordFile::taken(path);
  GW_TRY(RecordFile file, RecordFile::create_beside(path));
  Journal journal(std::move(file));
  Record record;
  *record.mutable_job()->mutable_spec() = spec;
  record.mutable_job()->set_module(to_string(module));
  journal.write(record);
  journal.spec_ = spec;
  journal.module_.assign(module.begin(), module.end());
  GW_TRY_VOID(journal.ledger_.add(job::kMainThread));
  journal.threads_[job::kMainThread];
  GW_TRY_VOID(journal.file_.publish_as(path));
  return journal;
}

Result<Journal> Journal::open(const std::filesystem::path& path) {
  GW_TRY(RecordFile file, RecordFile::open(path));
  return load(std::move(file));
}

Result<Journal> Journal::load(RecordFile file) {
  Journal journal(std::move(file));
  GW_TRY_VOID(journal.file_.read_all([&](RecordPosition position, ByteView payload) -> Status {
    Record record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
      return fail(Kind::corrupt, "{} is damaged at byte {}: not a record", journal.path().string(), position.offset);
    return journal.apply(position, record);
  }));
  if (journal.threads_.empty()) return fail(Kind::corrupt, "{} has no job in it", journal.path().string());
  return journal;
}

Status Journal::apply(RecordPosition position, Record& record) {
  if (record.has_job() != threads_.empty()) return fail(Kind::corrupt, "a journal has one job, at its start");
  switch (record.kind_case()) {
    case Record::kJob: {
      spec_ = std::move(*record.mutable_job()->mutable_spec());
      const ByteView module = as_bytes(record.job().module());
      module_.assign(module.begin(), module.end());
      threads_[job::kMainThread];
      return ledger_.add(job::kMainThread);
    }
    case Record::kPage: {
      GW_TRY(const Hash256 hash, to_hash(record.page().hash()));
      pages_.insert_or_assign(hash, position);
      return ok();
    }
    case Record::kImage: {
      const ByteView metadata = as_bytes(record.image().metadata());
      GW_TRY(wire::Image image, wire::Image::decode(Bytes(metadata.begin(), metadata.end())));
      return apply_image(ThreadId{record.image().thread()}, std::move(image));
    }
    case Record::kInput:
      apply_input({record.input().piece(), std::move(*record.mutable_input()->mutable_bytes()), record.input().end()});
      return ok();
    case Record::kDeterminants:
      apply_determinants(ThreadId{record.determinants().thread()}, record.determinants().determinants());
      return ok();
    case Record::kEffect: {
      const ThreadId thread{record.effect().thread()};
      GW_TRY_VOID(ledger_.adopt(thread, record.effect().epoch(), 0));
      GW_TRY_VOID(apply_effect(record.effect()));
      effects_.push_back(position);
      effect_bytes_ += position.size;
      return ok();
    }
    case Record::kThread: {
      const ThreadId thread{record.thread().thread()};
      threads_[thread].epoch = record.thread().epoch();
      return ledger_.adopt(thread, record.thread().epoch(), record.thread().stored());
    }
    case Record::KIND_NOT_SET:
      break;
  }
  return fail(Kind::unsupported, "the journal has a record of a newer godwit");
}

RecordPosition Journal::write(const Record& record) {
  Bytes payload(record.ByteSizeLong());
  GW_ASSERT(record.SerializeToArray(payload.data(), static_cast<int>(payload.size())));
  return file_.append(payload);
}

void Journal::add_input(Input input) {
  Record record;
  record.mutable_input()->set_piece(input.piece);
  record.mutable_input()->set_bytes(input.bytes);
  record.mutable_input()->set_end(input.end);
  write(record);
  apply_input(std::move(input));
}

void Journal::apply_input(Input input) {
  input_bytes_ += input.bytes.size();
  inputs_.push_back(std::move(input));
  drop_taken_input();
}

// Only the main thread has input; what its image contains is not needed again.
void Journal::drop_taken_input() {
  const std::uint64_t taken = threads_[job::kMainThread].input_in_image;
  while (!inputs_.empty() && inputs_.front().piece < taken) {
    input_bytes_ -= inputs_.front().bytes.size();
    inputs_.pop_front();
  }
}

Status Journal::add_determinants(ThreadId thread, const std::vector<job::Determinant>& determinants) {
  if (!ledger_.knows(thread)) return fail(Kind::not_found, "determinants of thread {}, which does not exist", thread.value());
  Record record;
  record.mutable_determinants()->set_thread(thread.value());
  for (const job::Determinant& determinant : determinants) *record.mutable_determinants()->add_determinants() = determinant;
  write(record);
  apply_determinants(thread, record.determinants().determinants());
  return ok();
}

void Journal::apply_determinants(ThreadId id, const google::protobuf::RepeatedPtrField<job::Determinant>& determinants) {
  Thread& thread = threads_[id];
  for (const job::Determinant& determinant : determinants)
    if (determinant.index() >= thread.determinants_in_image) thread.determinants.push_back(determinant);
}

Result<EffectLedger::Verdict> Journal::add_effect(const job::Effect& effect) {
  GW_TRY(const auto verdict, apply_effect(effect));
  if (verdict == EffectLedger::Verdict::duplicate) return verdict;
  Record record;
  *record.mutable_effect() = effect;
  const RecordPosition position = write(record);
  effects_.push_back(position);
  effect_bytes_ += position.size;
  return verdict;
}

Result<EffectLedger::Verdict> Journal::apply_effect(const job::Effect& effect) {
  GW_TRY(const auto verdict, ledger_.accept(effect));
  if (verdict == EffectLedger::Verdict::duplicate) return verdict;
  if (effect.has_fork()) threads_[ThreadId{effect.fork().child()}];
  if (effect.has_end()) {
    Thread& thread = threads_[ThreadId{effect.thread()}];
    thread = {.epoch = thread.epoch, .ended = true};
  }
  return verdict;
}

Status Journal::add_image(ThreadId thread, const wire::Image& image) {
  if (auto found = threads_.find(thread); found != threads_.end() && found->second.ended) return ok();
  // A child's first image comes before the fork that makes the child known.
  if (!threads_.contains(thread) && threads_.size() >= kMaxThreads)
    return fail(Kind::overloaded, "the job has reached its limit of {} threads", kMaxThreads);
  std::unordered_set<Hash256> fresh;
  for (const wire::ImagePage& page : image.content().pages) {
    if (page.storage == wire::Storage::elsewhere) {
      if (!pages_.contains(page.hash)) return fail(Kind::corrupt, "an image of thread {} lacks page {}", thread.value(), page.index);
    } else if (!pages_.contains(page.hash)) {
      fresh.insert(page.hash);
    }
  }
  if (!fresh.empty()) GW_TRY_VOID(image.verify_pages());
  GW_TRY(wire::Image stripped, without_pages(image));
  GW_TRY_VOID(gate_state(stripped));
  for (const wire::ImagePage& page : image.content().pages) {
    if (page.storage == wire::Storage::elsewhere || !fresh.erase(page.hash)) continue;
    Record record;
    record.mutable_page()->set_hash(to_string(page.hash));
    record.mutable_page()->set_storage(static_cast<std::uint32_t>(page.storage));
    record.mutable_page()->set_stored(to_string(page.stored));
    pages_.emplace(page.hash, write(record));
  }
  Record record;
  record.mutable_image()->set_thread(thread.value());
  record.mutable_image()->set_metadata(to_string(stripped.encoded()));
  write(record);
  return apply_image(thread, std::move(stripped));
}

Status Journal::apply_image(ThreadId id, wire::Image image) {
  GW_TRY(const wire::pb::GateState state, gate_state(image));
  Thread& thread = threads_[id];
  thread.image = std::move(image);
  thread.determinants_in_image = state.next_determinant();
  thread.input_in_image = state.input_pieces();
  thread.input_bytes_in_image = state.input_bytes();
  while (!thread.determinants.empty() && thread.determinants.front().index() < thread.determinants_in_image)
    thread.determinants.pop_front();
  if (id == job::kMainThread) drop_taken_input();
  return ok();
}

Result<std::uint64_t> Journal::add_epoch(ThreadId thread) {
  GW_TRY(const std::uint64_t epoch, ledger_.next_epoch(thread));
  GW_TRY_VOID(add_thread(thread, epoch, 0));
  return epoch;
}

Status Journal::add_thread(ThreadId thread, std::uint64_t epoch, std::uint64_t stored) {
  GW_TRY_VOID(ledger_.adopt(thread, epoch, stored));
  Record record;
  record.mutable_thread()->set_thread(thread.value());
  record.mutable_thread()->set_epoch(epoch);
  record.mutable_thread()->set_stored(stored);
  write(record);
  threads_[thread].epoch = epoch;
  return ok();
}

Status Journal::commit() {
  GW_TRY_VOID(file_.commit());
  if (file_.size() < rewrite_check_at_) return ok();
  const std::uint64_t live = live_bytes();
  if (file_.size() > live * 2 + kSlack) GW_TRY_VOID(rewrite());
  rewrite_check_at_ = file_.size() + kSlack;
  return ok();
}

Result<wire::Image> Journal::whole_image(ThreadId thread) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end() || !found->second.image) return fail(Kind::not_found, "thread {} has no image", thread.value());
  wire::ImageContent content = found->second.image->content();
  std::vector<Record> records(content.pages.size());  // own what the pages point to
  for (std::size_t i = 0; i < content.pages.size(); ++i) {
    wire::ImagePage& page = content.pages[i];
    const auto position = pages_.find(page.hash);
    if (position == pages_.end()) return fail(Kind::corrupt, "{} lacks page {} of thread {}", path().string(), page.index, thread.value());
    GW_TRY(const Bytes payload, file_.read(position->second));
    if (!records[i].ParseFromArray(payload.data(), static_cast<int>(payload.size())) || !records[i].has_page())
      return fail(Kind::corrupt, "{} is damaged at byte {}", path().string(), position->second.offset);
    page.storage = static_cast<wire::Storage>(records[i].page().storage());
    page.stored = as_bytes(records[i].page().stored());
  }
  return wire::Image::encode(content);
}

Status Journal::visit_effects(const std::function<Status(const job::Effect&)>& visit) const {
  for (const RecordPosition position : effects_) {
    GW_TRY(const Bytes payload, file_.read(position));
    Record record;
    if (!record.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
      return fail(Kind::corrupt, "{} is damaged at byte {}", path().string(), position.offset);
    GW_TRY_VOID(visit(record.effect()));
  }
  return ok();
}

}  // namespace gw::node

#pragma once
// What a job's local parent remembers: everything needed to go on after any process was killed.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "job/effect_ledger.h"
#include "node/disk/record_file.h"
#include "wire/image.h"
#include "wire/journal.pb.h"

namespace gw::node {

// The journal of one job (docs/design/001-effects.md, "The journal"): a file of records and what they add up to.
//
// add_*() only notes; what was noted is stable after commit(). Pages are kept once, by hash, for all images of all threads. When more than
// half of the file is superseded, and more than kSlack, commit() rewrites it. One thread; one process at a time (the file is locked).
class Journal {
 public:
  static constexpr std::uint64_t kSlack = 64u << 20;
  static constexpr std::size_t kMaxThreads = 1u << 20;
  // More than this of input that no image contains yet: stop reading.
  static constexpr std::size_t kMaxInputBytes = 64u << 20;

  struct Input {
    std::uint64_t piece = 0;
    std::string bytes;
    bool end = false;
  };
  struct Thread {
    std::uint64_t epoch = 1;
    bool ended = false;
    std::optional<wire::Image> image;         // without page data
    std::uint64_t determinants_in_image = 0;  // and what of them and the input it contains
    std::uint64_t input_in_image = 0;
    std::uint64_t input_bytes_in_image = 0;
    std::deque<job::Determinant> determinants;  // recorded after the image
  };

  static Result<Journal> create(const std::filesystem::path& path, const wire::pb::JobSpec& spec, ByteView module);
  static Result<Journal> open(const std::filesystem::path& path);

  // --- noted now, stable after commit()
  void add_input(Input input);
  Status add_determinants(job::ThreadId thread, const std::vector<job::Determinant>& determinants);
  // Says whether the effect is fresh; refused effects leave no trace.
  Result<job::EffectLedger::Verdict> add_effect(const job::Effect& effect);
  // `image` holds, or refers to pages that earlier images hold. Kind::corrupt if a page is neither here nor known, or does not match its
  // hash.
  Status add_image(job::ThreadId thread, const wire::Image& image);
  // The thread is about to be restored; returns its new epoch.
  Result<std::uint64_t> add_epoch(job::ThreadId thread);
  // A thread that lived before this journal.
  Status add_thread(job::ThreadId thread, std::uint64_t epoch, std::uint64_t stored);
  Status commit();

  // --- what is there
  const wire::pb::JobSpec& spec() const { return spec_; }
  ByteView module() const { return module_; }
  const std::map<job::ThreadId, Thread>& threads() const { return threads_; }
  const job::EffectLedger& ledger() const { return ledger_; }
  const std::deque<Input>& inputs() const { return inputs_; }
  std::size_t input_bytes() const { return input_bytes_; }
  // Bytes of standard input that the program has got, or will get from here.
  std::uint64_t input_offset() const { return threads_.at(job::kMainThread).input_bytes_in_image + input_bytes_; }
  // The thread's last image with all its pages, without the module.
  Result<wire::Image> whole_image(job::ThreadId thread) const;
  // Every effect stored, in order.
  Status visit_effects(const std::function<Status(const job::Effect&)>& visit) const;
  std::uint64_t file_bytes() const { return file_.size(); }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  using Record = wire::pb::JournalRecord;

  explicit Journal(RecordFile file) : file_(std::move(file)) {}
  static Result<Journal> load(RecordFile file);
  RecordPosition write(const Record& record);
  Status apply(RecordPosition position, Record& record);
  void apply_determinants(job::ThreadId thread, const google::protobuf::RepeatedPtrField<job::Determinant>& determinants);
  Status apply_image(job::ThreadId thread, wire::Image image);
  void apply_input(Input input);
  Result<job::EffectLedger::Verdict> apply_effect(const job::Effect& effect);
  void drop_taken_input();
  std::uint64_t live_bytes() const;
  Status rewrite();
  Status copy_to(RecordFile& out) const;

  RecordFile file_;
  wire::pb::JobSpec spec_;
  Bytes module_;
  job::EffectLedger ledger_;
  std::map<job::ThreadId, Thread> threads_;
  std::deque<Input> inputs_;
  std::size_t input_bytes_ = 0;
  std::unordered_map<Hash256, RecordPosition> pages_;
  std::vector<RecordPosition> effects_;
  std::uint64_t effect_bytes_ = 0;
  std::uint64_t rewrite_check_at_ = kSlack;  // size of the file at which to look how much of it is needed
};

}  // namespace gw::node

// The file a suspended job goes on from.

#include <unistd.h>

#include "job/effect_gate.h"
#include "node/jobs/local_job.h"
#include "os/file.h"

namespace gw::node {
namespace {

using job::kMainThread;
using job::ThreadId;

// Without the effects that were delivered: they would be delivered again where it goes on.
Result<Bytes> trimmed(const wire::Image& image, std::uint64_t delivered) {
  const Bytes& state = image.content().job_state;
  wire::pb::GateState parsed;
  if (!parsed.ParseFromArray(state.data(), static_cast<int>(state.size())))
    return fail(Kind::corrupt, "the image has no state of its gate");
  GW_TRY(job::EffectGate gate, job::EffectGate::restore(state, parsed.epoch(), {}));
  if (delivered > 0) GW_TRY_VOID(gate.on_stored(delivered));
  return gate.save();
}

// Whether the program has got less input than was read for it. What comes from a file is put back there, for whoever goes on.
bool is_unread(const Journal::Input& last, const Bytes& job_state, int input) {
  wire::pb::GateState gate;
  gate.ParseFromArray(job_state.data(), static_cast<int>(job_state.size()));
  if (last.bytes.empty() || gate.input_pieces() > last.piece) return false;
  return ::lseek(input, -static_cast<off_t>(last.bytes.size()), SEEK_CUR) < 0;
}

}  // namespace

Result<JobSuspended> LocalJob::write_suspended() {
  if (journal_) return JobSuspended{journal_->path(), journal_->file_bytes()};
  std::map<ThreadId, wire::ImageContent> contents;
  std::vector<Bytes> compressed;  // what pages may point to
  for (auto& [id, thread] : threads_) {
    wire::ImageContent content = thread.suspended->content();
    GW_TRY(content.job_state, trimmed(*thread.suspended, delivered_[id]));
    if (config_.image_pages == wire::Storage::zstd) {
      for (wire::ImagePage& page : content.pages) {
        if (page.storage != wire::Storage::raw) continue;
        auto shorter = wire::compress_page(page.stored);
        if (!shorter) continue;
        compressed.push_back(*std::move(shorter));
        page.storage = wire::Storage::zstd;
        page.stored = compressed.back();
      }
    }
    contents.emplace(id, std::move(content));
  }
  const bool unread = contents.contains(kMainThread) && is_unread(last_input_, contents.at(kMainThread).job_state, input());
  if (contents.size() == 1 && contents.contains(kMainThread) && !unread) {
    wire::ImageContent& content = contents.at(kMainThread);
    content.module_wasm = module_;
    GW_TRY(const wire::Image image, wire::Image::encode(content));
    GW_TRY_VOID(os::write_file_atomic(config_.suspend_to, image.encoded()));
    return JobSuspended{config_.suspend_to, image.encoded().size()};
  }
  // Several threads, or input of a pipe that has not got there: a journal holds it all.
  GW_TRY(Journal journal, Journal::create(config_.suspend_to, spec_, module_));
  for (auto& [id, content] : contents) {
    GW_TRY(const wire::Image image, wire::Image::encode(content));
    wire::pb::GateState gate;
    gate.ParseFromArray(content.job_state.data(), static_cast<int>(content.job_state.size()));
    GW_TRY_VOID(journal.add_thread(id, gate.epoch(), delivered_[id]));
    GW_TRY_VOID(journal.add_image(id, image));
  }
  if (main_end_) {
    GW_TRY_VOID(journal.add_thread(kMainThread, main_end_->epoch(), main_end_->sequence() - 1));
    GW_TRY_VOID(journal.add_effect(*main_end_));
  }
  if (unread) journal.add_input(last_input_);
  GW_TRY_VOID(journal.commit());
  return JobSuspended{config_.suspend_to, journal.file_bytes()};
}

}  // namespace gw::node

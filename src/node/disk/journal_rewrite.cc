// Leaving out what a journal does not need any more.

#include <unordered_set>

#include "node/disk/journal.h"

namespace gw::node {
namespace {

std::size_t determinant_bytes(const std::deque<job::Determinant>& determinants) { return determinants.size() * 32; }

}  // namespace

std::uint64_t Journal::live_bytes() const {
  std::uint64_t bytes = module_.size() + input_bytes_ + effect_bytes_;
  std::unordered_set<Hash256> needed;
  for (const auto& [id, thread] : threads_) {
    bytes += determinant_bytes(thread.determinants);
    if (!thread.image) continue;
    bytes += thread.image->encoded().size();
    for (const wire::ImagePage& page : thread.image->content().pages)
      if (needed.insert(page.hash).second) bytes += pages_.at(page.hash).size;
  }
  return bytes;
}

Status Journal::copy_to(RecordFile& out) const {
  auto put = [&](const Record& record) {
    const std::string payload = record.SerializeAsString();
    return out.append(as_bytes(payload));
  };
  Record job;
  *job.mutable_job()->mutable_spec() = spec_;
  job.mutable_job()->set_module(std::string(as_text(module_)));
  put(job);
  for (const RecordPosition position : effects_) {
    GW_TRY(const Bytes payload, file_.read(position));
    out.append(payload);
  }
  GW_TRY_VOID(out.commit());
  std::unordered_set<Hash256> copied;
  for (const auto& [id, thread] : threads_) {
    if (ledger_.knows(id)) {  // else it is a child whose fork has yet to come
      Record known;
      known.mutable_thread()->set_thread(id.value());
      known.mutable_thread()->set_epoch(thread.epoch);
      known.mutable_thread()->set_stored(ledger_.stored(id));
      put(known);
    }
    if (thread.image) {
      for (const wire::ImagePage& page : thread.image->content().pages) {
        if (!copied.insert(page.hash).second) continue;
        GW_TRY(const Bytes payload, file_.read(pages_.at(page.hash)));
        out.append(payload);
        if (out.pending_bytes() > kSlack) GW_TRY_VOID(out.commit());
      }
      Record image;
      image.mutable_image()->set_thread(id.value());
      image.mutable_image()->set_metadata(std::string(as_text(thread.image->encoded())));
      put(image);
    }
    if (!thread.determinants.empty()) {
      Record determinants;
      determinants.mutable_determinants()->set_thread(id.value());
      for (const job::Determinant& determinant : thread.determinants)
        *determinants.mutable_determinants()->add_determinants() = determinant;
      put(determinants);
    }
  }
  for (const Input& input : inputs_) {
    Record record;
    record.mutable_input()->set_piece(input.piece);
    record.mutable_input()->set_bytes(input.bytes);
    record.mutable_input()->set_end(input.end);
    put(record);
  }
  return out.commit();
}

Status Journal::rewrite() {
  GW_TRY(RecordFile fresh, RecordFile::create_beside(path()));
  GW_TRY_VOID(copy_to(fresh));
  GW_TRY_VOID(file_.replace_by(std::move(fresh)));
  // Where everything lies has changed: read it again as a stranger would.
  GW_TRY(Journal again, load(std::move(file_)));
  *this = std::move(again);
  return ok();
}

}  // namespace gw::node

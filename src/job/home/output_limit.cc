#include "job/home/output_limit.h"

namespace gw::job {
namespace {

bool is_printed(EffectKind kind) { return kind == EffectKind::output || kind == EffectKind::errors; }

}  // namespace

Status OutputLimit::check(const Effect& effect) const {
  if (effect.kind_case() == Effect::KIND_NOT_SET || effect.has_end()) return ok();
  const EffectKind kind = kind_of(effect);
  const std::uint64_t bytes = entry_bytes(effect);
  if (stored_bytes_ + kEntryOverhead + bytes > config_.job_bytes)
    return fail(Kind::overloaded, "its job has stored {} bytes, and its home stores at most {} of one job", stored_bytes_,
                config_.job_bytes);
  const auto found = threads_.find(ThreadId{effect.thread()});
  const Thread before = found == threads_.end() ? Thread() : found->second;
  if (is_printed(kind) && before.printed + bytes > printed_)
    return fail(Kind::overloaded, "its host sent more output than its limit of {} bytes", printed_);
  if (kind == EffectKind::file && before.files + bytes > files_)
    return fail(Kind::overloaded, "its host sent more bytes of files than its limit allows");
  return ok();
}

void OutputLimit::add(const StoredEffect& effect) {
  stored_bytes_ += effect.stored_bytes();
  if (is_printed(effect.kind)) threads_[effect.thread].printed += effect.bytes;
  if (effect.kind == EffectKind::file) threads_[effect.thread].files += effect.bytes;
  if (effect.kind == EffectKind::end || effect.kind == EffectKind::attempt)
    threads_.erase(effect.thread);  // nothing comes after it, or the task begins anew
}

}  // namespace gw::job

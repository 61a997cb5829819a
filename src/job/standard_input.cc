#include "job/standard_input.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"
#include "wire/worker_frames.h"

namespace gw::job {

std::string StandardInput::key(std::uint64_t piece) const {
  return RecordKey{.kind = RecordKind::input, .job = job_, .thread = thread_, .number = piece}.encode();
}

Status StandardInput::recover(std::map<std::uint64_t, wire::pb::InputRecord> pieces) {
  pieces_ = std::move(pieces);
  if (!pieces_.empty() && next() - pieces_.begin()->first != pieces_.size())
    return fail(Kind::corrupt, "a piece of the standard input of job {} is lost", job_.brief());
  for (const auto& [number, piece] : pieces_) bytes_ += piece.bytes().size();
  return ok();
}

Result<std::optional<wire::pb::InputRecord>> StandardInput::on_want(const Want& want, Actions& out) {
  drop_before(want.in_image, out);
  want_.reset();
  if (const auto found = pieces_.find(want.piece); found != pieces_.end()) return std::optional(found->second);
  if (want.piece < next())
    return fail(Kind::not_found, "its standard input is not there any more: it would have to begin anew, without its last image");
  if (want.piece > next() || ended())
    return fail(Kind::invalid, "its host asked for piece {} of its standard input where {} is next", want.piece, next());
  want_ = want;
  if (bytes_ >= config_.bytes) {
    GW_REACHED("input: a thread has read more than may be kept");
    if (images_ == Images::some) return std::optional<wire::pb::InputRecord>();
    return fail(
        Kind::overloaded,
        "it read more than {} MiB of standard input, which are kept in case its host is lost: give it the data with --input, or let "
        "it be checkpointed",
        config_.bytes >> 20);
  }
  if (!std::exchange(told_, true)) out.notify(InputWanted{job_, next()});
  return std::optional<wire::pb::InputRecord>();
}

Status StandardInput::supply(std::uint64_t piece, std::string bytes, Actions& out) {
  if (piece < next()) return ok();
  if (piece > next() || ended()) return fail(Kind::invalid, "piece {} of the standard input was supplied where {} is next", piece, next());
  if (bytes.size() > wire::kMaxInputPiece)
    return fail(Kind::invalid, "a piece of standard input has at most {} KiB, this one {} bytes", wire::kMaxInputPiece >> 10, bytes.size());
  wire::pb::InputRecord record;
  record.set_bytes(std::move(bytes));
  out.record(key(piece), record.SerializeAsString());
  bytes_ += record.bytes().size();
  pieces_.emplace(piece, std::move(record));
  told_ = false;
  return ok();
}

std::optional<StandardInput::Want> StandardInput::take_answerable() {
  if (!want_ || !pieces_.contains(want_->piece)) return std::nullopt;
  return std::exchange(want_, std::nullopt);
}

void StandardInput::drop_before(std::uint64_t piece, Actions& out) {
  while (pieces_.size() > 1 && pieces_.begin()->first < piece) {
    bytes_ -= pieces_.begin()->second.bytes().size();
    out.record(key(pieces_.begin()->first), std::nullopt);
    pieces_.erase(pieces_.begin());
  }
}

void StandardInput::clear(Actions& out) {
  for (const auto& [number, piece] : pieces_) out.record(key(number), std::nullopt);
  pieces_.clear();
  bytes_ = 0;
  want_.reset();
}

}  // namespace gw::job

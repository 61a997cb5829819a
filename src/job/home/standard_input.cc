#include "job/home/standard_input.h"

#include <algorithm>

#include "base/reached.h"
#include "job/records.h"
#include "wire/messages/worker_frames.h"

namespace gw::job {

std::string StandardInput::key(std::uint64_t piece) const {
  return RecordKey{.kind = RecordKind::input, .job = job_, .thread = thread_, .number = piece}.encode();
}

Status StandardInput::recover(std::map<std::uint64_t, wire::pb::InputRecord> pieces) {
  pieces_ = std::move(pieces);
  if (!pieces_.empty() && next() - pieces_.begin()->first != pieces_.size())
    return fail(Kind::corrupt, "a piece of the standard input of job {} is lost", job_.brief());
  for (const auto& [number, piece] : pieces_) bytes_ += piece.bytes().size();
  dropped_ = !pieces_.empty() && pieces_.begin()->first > 0;
  return ok();
}

Status StandardInput::on_want(const Want& want, Actions& out) {
  drop_before(config_.keep == Config::Keep::until_taken ? want.piece : want.in_image, out);
  want_.reset();
  if (const auto found = pieces_.find(want.piece); found != pieces_.end()) {
    send(want, found->second.bytes(), out);
    return ok();
  }
  if (want.piece < next())
    return fail(Kind::not_found, "its standard input was dropped and its last image is lost, so it cannot continue or restart");
  if (want.piece > next() || ended())
    return fail(Kind::invalid, "its host asked for piece {} of its standard input where {} is next", want.piece, next());
  want_ = want;
  if (bytes_ >= config_.bytes) {
    GW_REACHED("input: a thread has read more than may be kept");
    if (images_ == Images::some) return ok();
    return fail(
        Kind::overloaded,
        "it read more than {} MiB of standard input, which are kept in case its host is lost: give it the data with --input, or let "
        "it be checkpointed",
        config_.bytes >> 20);
  }
  if (!std::exchange(told_, true)) out.notify(InputWanted{job_, next()});
  return ok();
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
  const auto& supplied = pieces_.emplace(piece, std::move(record)).first->second;
  told_ = false;
  if (want_ && want_->piece == piece) send(*std::exchange(want_, std::nullopt), supplied.bytes(), out);
  return ok();
}

// After the disk: a replay after a crash has to read the same bytes.
void StandardInput::send(const Want& want, const std::string& bytes, Actions& out) const {
  JobMessage message;
  JobMessage::Input& input = *message.mutable_input();
  input.set_thread(thread_.value());
  input.set_epoch(want.epoch);
  input.set_piece(want.piece);
  input.set_bytes(bytes);
  out.after_disk(to_peer(want.host, job_, std::move(message)));
}

void StandardInput::drop_before(std::uint64_t piece, Actions& out) {
  while (pieces_.size() > 1 && pieces_.begin()->first < piece) {
    bytes_ -= pieces_.begin()->second.bytes().size();
    out.record(key(pieces_.begin()->first), std::nullopt);
    pieces_.erase(pieces_.begin());
    dropped_ = true;
  }
}

void StandardInput::clear(Actions& out) {
  for (const auto& [number, piece] : pieces_) out.record(key(number), std::nullopt);
  pieces_.clear();
  bytes_ = 0;
  want_.reset();
}

}  // namespace gw::job

#include "node/jobs/output_index.h"

#include <algorithm>

#include "wire/output_file_frames.h"

namespace gw::node {

using job::ThreadId;

std::optional<Stream> stream_of(const job::Effect& effect) {
  if (effect.has_file()) return Stream::files;
  if (!effect.has_output()) return std::nullopt;
  return effect.output().stream() == 1 ? Stream::output : Stream::errors;
}

std::uint64_t stream_bytes(const job::Effect& effect) {
  return effect.has_file() ? wire::output_file_frame_bytes(effect.file()) : effect.output().bytes().size();
}

std::string stream_content(const job::Effect& effect) {
  return effect.has_file() ? wire::frame_output_file(effect.file()) : effect.output().bytes();
}

OutputIndex::OutputIndex(std::uint32_t tasks) {
  for (std::uint32_t task = 0; task < tasks; ++task) order_.push_back(job::thread_of_task(task, tasks));
}

std::uint64_t OutputIndex::Written::size(Stream stream) const {
  const std::vector<Piece>& all = pieces[slot(stream)];
  return all.empty() ? 0 : all.back().end;
}

const OutputIndex::Written* OutputIndex::find(ThreadId thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? nullptr : &found->second;
}

void OutputIndex::add(const job::Effect& effect) {
  const auto stream = stream_of(effect);
  const std::uint64_t bytes = stream_bytes(effect);
  if (!stream || bytes == 0) return;
  Written& written = threads_[ThreadId{effect.thread()}];
  const std::uint64_t before = written.size(*stream);
  written.pieces[slot(*stream)].push_back({effect.sequence(), before + bytes});
}

void OutputIndex::on_ended(ThreadId thread) {
  threads_[thread].ended = true;
  advance();
}

void OutputIndex::on_over() {
  if (std::exchange(over_, true)) return;
  const std::size_t tasks = order_.size();
  for (const auto& [thread, written] : threads_)
    if (std::find(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(tasks), thread) ==
        order_.begin() + static_cast<std::ptrdiff_t>(tasks))
      order_.push_back(thread);
  advance();
}

void OutputIndex::advance() {
  for (; open_ < order_.size(); ++open_) {
    const Written* written = find(order_[open_]);
    if (!over_ && (written == nullptr || !written->ended)) return;
    if (written == nullptr) continue;
    for (const Stream stream : {Stream::output, Stream::errors, Stream::files}) closed_[slot(stream)] += written->size(stream);
  }
}

std::uint64_t OutputIndex::final_size(Stream stream) const {
  const Written* open = open_ < order_.size() ? find(order_[open_]) : nullptr;
  return closed_[slot(stream)] + (open == nullptr ? 0 : open->size(stream));
}

OutputIndex::Plan OutputIndex::plan(Stream stream, std::uint64_t offset, std::uint64_t limit) const {
  Plan plan;
  const std::uint64_t size = final_size(stream);
  const std::uint64_t to = offset + std::min(limit, size - std::min(size, offset));
  plan.end = over_ && to >= size;
  std::uint64_t begin = 0;  // of the thread, in the job's output
  for (std::size_t i = 0; i < order_.size() && i <= open_ && begin < to; ++i) {
    const Written* written = find(order_[i]);
    if (written == nullptr) continue;
    const std::uint64_t end = begin + written->size(stream);
    if (end > offset) add_parts(order_[i], written->pieces[slot(stream)], std::max(offset, begin) - begin, std::min(end, to) - begin, plan);
    begin = end;
  }
  return plan;
}

// Bytes `from` to `to` of one thread.
void OutputIndex::add_parts(ThreadId id, const std::vector<Piece>& pieces, std::uint64_t from, std::uint64_t to, Plan& plan) {
  auto piece = std::ranges::upper_bound(pieces, from, {}, &Piece::end);
  std::uint64_t begin = piece == pieces.begin() ? 0 : std::prev(piece)->end;
  for (; piece != pieces.end() && begin < to; begin = piece->end, ++piece) {
    const std::uint64_t skip = std::max(from, begin) - begin;
    plan.parts.push_back({id, piece->sequence, skip, std::min(piece->end, to) - begin - skip});
  }
}

}  // namespace gw::node

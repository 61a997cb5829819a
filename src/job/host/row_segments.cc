#include "job/host/row_segments.h"

#include <algorithm>

namespace gw::job {

const RowSegments::Rows* RowSegments::find(std::uint32_t segment) {
  const auto found = std::ranges::find(entries_, segment, &Entry::segment);
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front().rows;
}

void RowSegments::add(std::uint32_t segment, Rows rows) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.segment == segment; });
  entries_.push_front({segment, std::move(rows)});
  if (entries_.size() > kMost) entries_.pop_back();
}

}  // namespace gw::job

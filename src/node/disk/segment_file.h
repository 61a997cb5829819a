#pragma once
// The format of a segment: a file of effect entries of one job; and its reader.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "job/effects/stored_effect.h"
#include "os/files/unique_fd.h"

namespace gw::node {

// A segment: 8 magic bytes, then entries. An entry: a header of fixed size with its own checksum, then the payload, whose checksum is in
// the header. Therefore headers can be read without payloads, and a changed byte is found in either. Numbers are little-endian.
namespace segment {

inline constexpr std::uint64_t kMaxBytes = 64u << 20;  // the entry that would pass this begins the next segment
inline constexpr std::string_view kMagic = "GWSEG\x03\r\n";
inline constexpr std::size_t kHeaderBytes = job::kEntryOverhead;
inline constexpr std::uint32_t kMaxEntryBytes = 16u << 20;
using Header = std::array<std::uint8_t, kHeaderBytes>;

// A place in the segments of a job.
struct Position {
  std::uint32_t number = 0;  // of the segment
  std::uint32_t offset = kMagic.size();

  auto operator<=>(const Position&) const = default;
};

struct Decoded {
  job::StoredEffect effect;
  std::uint64_t sum;  // of the bytes that follow
};

// The encoding of a position in a record.
std::string encode(Position position);
Result<Position> decode_position(std::string_view bytes);

Header encode(const job::StoredEffect& effect, std::string_view bytes);
// Kind::corrupt.
Result<Decoded> decode(const Header& header);
std::uint64_t sum_of(std::string_view bytes);

std::filesystem::path folder_of(const std::filesystem::path& root, const job::JobId& job);
std::filesystem::path file_of(const std::filesystem::path& folder, std::uint32_t number);

}  // namespace segment

// Iterates over the entries of a job between two positions. Reads headers only; payloads are read on request.
//
// Blocks on the disk. Belongs to one thread.
class SegmentCursor {
 public:
  struct Entry {
    segment::Position at;
    job::StoredEffect effect;
    std::uint64_t sum;
  };

  SegmentCursor(std::filesystem::path folder, segment::Position from, segment::Position end);

  // The next entry; none at the end. Kind::corrupt, Kind::not_found: the segment is damaged or missing, and where.
  Result<std::optional<Entry>> next();
  // The payload of the entry that next() gave last. Kind::corrupt.
  Result<std::string> bytes(const Entry& entry);
  // Goes on at this position, where an entry begins.
  void seek(segment::Position position) { at_ = position; }
  // Where the next entry begins.
  segment::Position position() const { return at_; }

 private:
  Status open();
  Result<std::size_t> read(std::uint64_t offset, void* to, std::size_t count);
  Error damaged(std::string_view what) const;

  const std::filesystem::path folder_;
  segment::Position at_;
  const segment::Position end_;
  os::UniqueFd fd_;
  std::optional<std::uint32_t> opened_;  // the segment of fd_
  std::string buffer_;                   // of the file from buffer_at_ on
  std::uint64_t buffer_at_ = 0;
};

}  // namespace gw::node

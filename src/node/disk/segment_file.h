#pragma once
// Effects of one job in a file, one after the other: the format, and reading it.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "job/stored_effect.h"
#include "os/unique_fd.h"

namespace gw::node {

// A segment: 8 bytes that say so, then entries. An entry: a header of fixed size with a sum of its own, then its bytes, whose sum is in the
// header. So what happened can be read without what was printed, and a changed byte is found in either. Numbers are little-endian.
namespace segment {

inline constexpr std::uint64_t kMaxBytes = 64u << 20;  // the entry that would pass this begins the next segment
inline constexpr std::string_view kMagic = "GWSEG\x01\r\n";
inline constexpr std::size_t kHeaderBytes = 56;
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

// As a record has it.
std::string encode(Position position);
Result<Position> decode_position(std::string_view bytes);

Header encode(const job::StoredEffect& effect, std::string_view bytes);
// Kind::corrupt.
Result<Decoded> decode(const Header& header);
std::uint64_t sum_of(std::string_view bytes);

std::filesystem::path folder_of(const std::filesystem::path& root, const job::JobId& job);
std::filesystem::path file_of(const std::filesystem::path& folder, std::uint32_t number);

}  // namespace segment

// Goes through the entries of a job from a position to another, headers only; bytes are read when they are asked for.
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

  // The next one; none: that was all. Kind::corrupt, Kind::not_found: damaged or missing, and where.
  Result<std::optional<Entry>> next();
  // Of the entry that next() gave last. Kind::corrupt.
  Result<std::string> bytes(const Entry& entry);
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

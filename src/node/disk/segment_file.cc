#include "node/disk/segment_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash.h"
#include "os/files/io.h"

namespace gw::node {
namespace segment {
namespace {

void put(Header& header, std::size_t at, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) header[at + i] = static_cast<std::uint8_t>(number >> (8 * i));
}

std::uint64_t get(const Header& header, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) number |= std::uint64_t{header[at + i]} << (8 * i);
  return number;
}

// The fields of a header: its checksum, thread, epoch, sequence, digest, checksum of the bytes, their number, kind, kind and id of the
// stream, host.
constexpr std::size_t kSum = 0, kThread = 8, kEpoch = 16, kSequence = 24, kDigest = 32, kBytesSum = 40, kBytes = 48, kKind = 52,
                      kStreamKind = 54, kStreamId = 56, kHost = 64;

std::uint64_t header_sum(const Header& header) { return sum_of(as_text(ByteView(header).subspan(kThread))); }

}  // namespace

std::uint64_t sum_of(std::string_view bytes) {
  const Hash256 hash = sha256(as_bytes(bytes));
  std::uint64_t sum = 0;
  std::memcpy(&sum, hash.bytes.data(), sizeof sum);
  return sum;
}

Header encode(const job::StoredEffect& effect, std::string_view bytes) {
  Header header{};
  put(header, kThread, effect.thread.value(), 8);
  put(header, kEpoch, effect.epoch, 8);
  put(header, kSequence, effect.sequence, 8);
  put(header, kDigest, effect.digest, 8);
  put(header, kBytesSum, sum_of(bytes), 8);
  put(header, kBytes, bytes.size(), 4);
  put(header, kKind, static_cast<std::uint8_t>(effect.kind), 2);
  put(header, kStreamKind, static_cast<std::uint8_t>(effect.stream.kind), 2);
  put(header, kStreamId, effect.stream.id, 8);
  put(header, kHost, effect.host, 8);
  put(header, kSum, header_sum(header), 8);
  return header;
}

Result<Decoded> decode(const Header& header) {
  const std::uint64_t kind = get(header, kKind, 2);
  const bool known =
      kind >= static_cast<std::uint64_t>(job::EffectKind::output) && kind <= static_cast<std::uint64_t>(job::EffectKind::attempt);
  if (get(header, kSum, 8) != header_sum(header) || !known || get(header, kBytes, 4) > kMaxEntryBytes)
    return fail(Kind::corrupt, "an entry is damaged");
  return Decoded{.effect = {.thread = job::ThreadId{get(header, kThread, 8)},
                            .epoch = get(header, kEpoch, 8),
                            .stream = {static_cast<wire::StreamKind>(get(header, kStreamKind, 2)), get(header, kStreamId, 8)},
                            .sequence = get(header, kSequence, 8),
                            .kind = static_cast<job::EffectKind>(kind),
                            .bytes = static_cast<std::uint32_t>(get(header, kBytes, 4)),
                            .digest = get(header, kDigest, 8),
                            .host = get(header, kHost, 8)},
                 .sum = get(header, kBytesSum, 8)};
}

std::string encode(Position position) {
  std::string bytes;
  for (const std::uint32_t number : {position.number, position.offset})
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

Result<Position> decode_position(std::string_view bytes) {
  if (bytes.size() != 8) return fail(Kind::corrupt, "the record of where a job's output ends has {} bytes", bytes.size());
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    return value;
  };
  return Position{.number = number(0), .offset = number(4)};
}

std::filesystem::path folder_of(const std::filesystem::path& root, const job::JobId& job) { return root / job.hash.hex(); }

std::filesystem::path file_of(const std::filesystem::path& folder, std::uint32_t number) {
  return folder / fmt::format("{:03}.seg", number);
}

}  // namespace segment

namespace {

constexpr std::size_t kBufferBytes = 256u << 10;

}  // namespace

SegmentCursor::SegmentCursor(std::filesystem::path folder, segment::Position from, segment::Position end)
    : folder_(std::move(folder)), at_(from), end_(end) {}

Error SegmentCursor::damaged(std::string_view what) const {
  return fail(Kind::corrupt, "{} at byte {} of {}, which is damaged", what, at_.offset, segment::file_of(folder_, at_.number).string());
}

Status SegmentCursor::open() {
  if (opened_ == at_.number) return ok();
  const std::filesystem::path file = segment::file_of(folder_, at_.number);
  fd_ = os::UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  opened_.reset();
  buffer_.clear();
  if (!fd_ && errno == ENOENT) return fail(Kind::not_found, "{} is missing", file.string());
  if (!fd_) return fail(Kind::internal, "cannot open {}: {}", file.string(), os::reason(errno));
  opened_ = at_.number;
  std::array<char, segment::kMagic.size()> magic{};
  GW_TRY(const std::size_t got, read(0, magic.data(), magic.size()));
  if (got != magic.size() || std::string_view(magic.data(), magic.size()) != segment::kMagic)
    return fail(Kind::corrupt, "{} is no segment of a job's output, or damaged", file.string());
  return ok();
}

// Reads as many bytes as there are, through the buffer.
Result<std::size_t> SegmentCursor::read(std::uint64_t offset, void* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const std::uint64_t at = offset + done;
    if (at < buffer_at_ || at >= buffer_at_ + buffer_.size()) {
      buffer_.resize(kBufferBytes);
      ssize_t got = 0;
      do got = ::pread(fd_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(at));
      while (got < 0 && errno == EINTR);
      if (got < 0) return fail(Kind::internal, "cannot read {}: {}", segment::file_of(folder_, at_.number).string(), os::reason(errno));
      buffer_.resize(static_cast<std::size_t>(got));
      buffer_at_ = at;
      if (got == 0) break;
    }
    const std::size_t skip = static_cast<std::size_t>(at - buffer_at_);
    const std::size_t some = std::min(count - done, buffer_.size() - skip);
    std::memcpy(static_cast<char*>(to) + done, buffer_.data() + skip, some);
    done += some;
  }
  return done;
}

Result<std::optional<SegmentCursor::Entry>> SegmentCursor::next() {
  while (at_ < end_) {
    GW_TRY_VOID(open());
    segment::Header header{};
    GW_TRY(const std::size_t got, read(at_.offset, header.data(), header.size()));
    if (got == 0 && at_.number < end_.number) {
      at_ = {.number = at_.number + 1};
      continue;
    }
    if (got != header.size()) return damaged("an entry is cut off");
    const auto decoded = segment::decode(header);
    if (!decoded) return damaged(decoded.error().detail);
    const Entry entry{at_, decoded->effect, decoded->sum};
    at_.offset += static_cast<std::uint32_t>(segment::kHeaderBytes) + decoded->effect.bytes;
    return std::optional(entry);
  }
  return std::optional<Entry>();
}

Result<std::string> SegmentCursor::bytes(const Entry& entry) {
  std::string bytes(entry.effect.bytes, '\0');
  GW_TRY(const std::size_t got, read(entry.at.offset + segment::kHeaderBytes, bytes.data(), bytes.size()));
  if (got != bytes.size() || segment::sum_of(bytes) != entry.sum) return damaged("what was written is damaged before the entry");
  return bytes;
}

}  // namespace gw::node

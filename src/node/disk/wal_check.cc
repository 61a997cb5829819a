#include "node/disk/wal_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"

namespace gw::node {
namespace {

constexpr std::size_t kWalHeaderBytes = 32, kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic = 0x377f0682;  // and 1 more if sums are over big-endian words

std::uint32_t big_endian(ByteView bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 | std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

// The running sum of a log: https://www.sqlite.org/fileformat2.html#checksum_algorithm
struct WalSum {
  bool big = false;
  std::uint32_t first = 0, second = 0;

  void add(ByteView bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word(bytes, at) + second;
      second += word(bytes, at + 4) + first;
    }
  }
  std::uint32_t word(ByteView bytes, std::size_t at) const {
    const std::uint32_t word = big_endian(bytes, at);
    return big ? word : __builtin_bswap32(word);
  }
  bool matches(ByteView bytes, std::size_t at) const { return big_endian(bytes, at) == first && big_endian(bytes, at + 4) == second; }
};

// The format according to the main file, which lags behind the log; none: the file is not a database.
std::optional<std::uint32_t> format_of(const std::filesystem::path& database) {
  constexpr std::size_t kHeaderBytes = 100, kUserVersion = 60;
  constexpr std::string_view kBegin("SQLite format 3\0", 16);
  const auto head = os::read_head(database, kHeaderBytes);
  if (!head || head->size() != kHeaderBytes || !as_text(*head).starts_with(kBegin)) return std::nullopt;
  return big_endian(*head, kUserVersion);
}

Status check_missing(const std::string& log, const std::filesystem::path& database, std::uint32_t format) {
  std::error_code failure;
  const bool closed = (format & kClosedMark) != 0;
  const bool deleted_by_sqlite = !std::filesystem::exists(database.string() + "-shm", failure);
  if (format < kFormatWithLog || closed || deleted_by_sqlite) return ok();
  return fail(Kind::corrupt, "{}, the log of the records, is missing", log);
}

// Reads a log piece by piece: a log grows beyond every limit while a reader holds its beginning.
class LogReader {
 public:
  LogReader(os::UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  // The next bytes, exactly so many; none: fewer are left.
  Result<std::optional<ByteView>> next(std::size_t bytes) {
    if (buffer_.size() - at_ < bytes) GW_TRY_VOID(fill());
    if (buffer_.size() - at_ < bytes) return std::optional<ByteView>();
    at_ += bytes;
    return std::optional(ByteView(buffer_).subspan(at_ - bytes, bytes));
  }

 private:
  static constexpr std::size_t kPieceBytes = 1u << 20;

  Status fill() {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    std::size_t filled = buffer_.size();
    buffer_.resize(filled + kPieceBytes);
    while (filled < buffer_.size()) {
      const ssize_t got = ::read(fd_.get(), buffer_.data() + filled, buffer_.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(Kind::internal, "cannot read {}: {}", name_, os::reason(errno));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    buffer_.resize(filled);
    return ok();
  }

  os::UniqueFd fd_;
  std::string name_;
  Bytes buffer_;
  std::size_t at_ = 0;  // what lies before was given out
};

}  // namespace

Status check_wal(const std::filesystem::path& database) {
  const std::string file = database.string() + "-wal";
  const std::optional<std::uint32_t> format = format_of(database);
  os::UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened && errno == ENOENT) return check_missing(file, database, format.value_or(0));
  if (!opened) return fail(os::kind_of(errno), "cannot open {}: {}", file, os::reason(errno));
  const off_t size = ::lseek(opened.get(), 0, SEEK_END);
  if (size < 0 || ::lseek(opened.get(), 0, SEEK_SET) != 0) return fail(Kind::internal, "cannot read {}: {}", file, os::reason(errno));
  if (static_cast<std::size_t>(size) <= kWalHeaderBytes) return ok();
  if (!format) return fail(Kind::corrupt, "{}, of which there is a log, is missing or damaged", database.string());
  const auto damaged = [&] { return fail(Kind::corrupt, "{}, the log of the records, is damaged", file); };
  LogReader log(std::move(opened), file);
  GW_TRY(const std::optional<ByteView> head, log.next(kWalHeaderBytes));
  if (!head) return damaged();
  WalSum sum{.big = (big_endian(*head, 0) & 1) != 0};
  sum.add(head->first(kWalHeaderBytes - 8));
  const std::size_t page = big_endian(*head, 8);
  const std::uint32_t salts[] = {big_endian(*head, 16), big_endian(*head, 20)};
  if ((big_endian(*head, 0) & ~1u) != kMagic || page < 512 || page > 65536 || !sum.matches(*head, kWalHeaderBytes - 8)) return damaged();
  bool wrong = false, transaction_over = false;
  for (;;) {
    GW_TRY(const std::optional<ByteView> frame, log.next(kFrameHeaderBytes + page));
    if (!frame) return ok();
    const bool ours = big_endian(*frame, 8) == salts[0] && big_endian(*frame, 12) == salts[1];
    if (!wrong) {
      sum.add(frame->first(8));
      sum.add(frame->subspan(kFrameHeaderBytes, page));
      wrong = !ours || !sum.matches(*frame, 16);
    }
    if (!wrong || !ours) continue;
    if (transaction_over) return damaged();
    transaction_over = big_endian(*frame, 4) != 0;
  }
}

}  // namespace gw::node

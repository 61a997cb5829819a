#include "node/disk/wal_check.h"

#include <optional>

#include "os/files/file.h"

namespace gw::node {
namespace {

constexpr std::size_t kMaxWalBytes = 256u << 20;
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

}  // namespace

Status check_wal(const std::filesystem::path& database) {
  const std::string file = database.string() + "-wal";
  const auto read = os::read_file(file, kMaxWalBytes);
  const std::optional<std::uint32_t> format = format_of(database);
  if (!read && read.error().kind != Kind::not_found) return read.error();
  if (!read && format.value_or(0) >= kFormatWithLog) return fail(Kind::corrupt, "{}, the log of the records, is missing", file);
  if (!read) return ok();
  const ByteView bytes(*read);
  if (bytes.size() <= kWalHeaderBytes) return ok();
  if (!format) return fail(Kind::corrupt, "{}, of which there is a log, is missing or damaged", database.string());
  const auto damaged = [&] { return fail(Kind::corrupt, "{}, the log of the records, is damaged", file); };
  WalSum sum{.big = (big_endian(bytes, 0) & 1) != 0};
  sum.add(bytes.first(kWalHeaderBytes - 8));
  const std::size_t page = big_endian(bytes, 8);
  if ((big_endian(bytes, 0) & ~1u) != kMagic || page < 512 || page > 65536 || !sum.matches(bytes, kWalHeaderBytes - 8)) return damaged();
  const std::size_t frame = kFrameHeaderBytes + page;
  bool wrong = false, transaction_over = false;
  for (std::size_t at = kWalHeaderBytes; at + frame <= bytes.size(); at += frame) {
    const bool ours = big_endian(bytes, at + 8) == big_endian(bytes, 16) && big_endian(bytes, at + 12) == big_endian(bytes, 20);
    if (!wrong) {
      sum.add(bytes.subspan(at, 8));
      sum.add(bytes.subspan(at + kFrameHeaderBytes, page));
      wrong = !ours || !sum.matches(bytes, at + 16);
    }
    if (!wrong || !ours) continue;
    if (transaction_over) return damaged();
    transaction_over = big_endian(bytes, at + 4) != 0;
  }
  return ok();
}

}  // namespace gw::node

#include "toolchain/build_memo.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/bytes.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxNoteBytes = 64u << 20;   // all of them together
constexpr std::chrono::milliseconds kClockGrain{20};  // file systems keep time by a clock that ticks
constexpr std::size_t kMaxWitnesses = 100000;

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// The metadata of a file or folder; all zero if it does not exist.
using Mark = std::array<std::uint64_t, 5>;  // device, inode, size, modified, changed

Mark mark_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

bool is_older(const Mark& mark, BuildMemo::WallTime time) {
  const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>((time - kClockGrain).time_since_epoch()).count();
  return limit > 0 && std::max(mark[3], mark[4]) < static_cast<std::uint64_t>(limit);
}

std::set<std::string> with_folders(const std::vector<fs::path>& files) {
  std::set<std::string> paths;
  for (const fs::path& file : files) {
    paths.insert(file.string());
    const fs::path folder = file.parent_path();
    paths.insert(folder.empty() ? "." : folder.string());
  }
  return paths;
}

struct Note {
  Hash256 product;
  std::vector<std::pair<std::string, Mark>> witnesses;
};

Bytes encode(const Note& note) {
  ByteWriter writer;
  writer.bytes(note.product.bytes);
  writer.u32(static_cast<std::uint32_t>(note.witnesses.size()));
  for (const auto& [path, mark] : note.witnesses) {
    writer.string(path);
    for (std::uint64_t value : mark) writer.u64(value);
  }
  return writer.take();
}

Result<Note> decode(ByteView bytes) {
  ByteReader reader(bytes);
  Note note;
  GW_TRY(ByteView product, reader.bytes(note.product.bytes.size()));
  std::ranges::copy(product, note.product.bytes.begin());
  GW_TRY(std::uint32_t count, reader.u32());
  if (count > kMaxWitnesses) return fail(Kind::corrupt, "the note names {} files", count);
  for (std::uint32_t i = 0; i < count; ++i) {
    GW_TRY(std::string path, reader.string());
    Mark mark;
    for (std::uint64_t& value : mark) {
      GW_TRY(value, reader.u64());
    }
    note.witnesses.emplace_back(std::move(path), mark);
  }
  return note;
}

}  // namespace

Result<BuildMemo> BuildMemo::open(fs::path folder) {
  GW_TRY(BuildCache notes, BuildCache::open(std::move(folder), kMaxNoteBytes));
  return BuildMemo(std::move(notes));
}

std::optional<Hash256> BuildMemo::recall(const Hash256& question) const {
  const auto stored = notes_.find(question);
  if (!stored) return std::nullopt;
  const auto note = decode(*stored);
  if (!note) return std::nullopt;
  const bool same = std::ranges::all_of(note->witnesses, [](const auto& witness) { return mark_of(witness.first) == witness.second; });
  return same ? std::optional(note->product) : std::nullopt;
}

void BuildMemo::remember(const Hash256& question, const Hash256& product, const std::vector<fs::path>& files, WallTime started) const {
  Note note{product, {}};
  for (const std::string& path : with_folders(files)) {
    const Mark mark = mark_of(path);
    if (mark == Mark{} || !is_older(mark, started)) return;
    note.witnesses.emplace_back(path, mark);
  }
  if (note.witnesses.size() <= kMaxWitnesses) (void)notes_.store(question, encode(note));
}

}  // namespace gw::toolchain

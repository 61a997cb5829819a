#pragma once
// An append-only file of checksummed records.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "os/unique_fd.h"

namespace gw::node {

// Where a record lies in its file, frame included.
struct RecordPosition {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
};

// File: 8 bytes of magic, u32 version, u32 zero; then records of u32 length, its complement, the first 8 bytes of the SHA-256 of the
// payload, payload. A record that was cut off by a crash, at the end, does not count; damage anywhere else makes the file corrupt.
//
// One process at a time: the file is locked. Appended records are in memory until commit(), which returns when they are on disk.
class RecordFile {
 public:
  static constexpr std::uint32_t kMaxRecord = (256u << 20) + (1u << 16);
  static constexpr std::uint64_t kHeaderBytes = 16;
  using Visit = std::function<Status(RecordPosition position, ByteView payload)>;

  // Whether a file that begins so is one.
  static constexpr std::size_t kMagicBytes = 8;
  static bool is_magic(ByteView head);

  // A new file under another name in the folder of `final`; publish_as() or replace_by() make it the file there, whole or not at all.
  static Result<RecordFile> create_beside(const std::filesystem::path& final);
  // Kind::invalid, taken(), if there is such a file already.
  static Error taken(const std::filesystem::path& path);
  Status publish_as(const std::filesystem::path& path);
  // Kind::overloaded if another process has it. Nothing is appended before read_all().
  static Result<RecordFile> open(const std::filesystem::path& path);

  // Visits every record in order, then removes what was cut off.
  Status read_all(const Visit& visit);
  RecordPosition append(ByteView payload);
  Status commit();
  std::uint64_t size() const { return committed_ + pending_.size(); }
  std::size_t pending_bytes() const { return pending_.size(); }

  // The payload of a record that was committed.
  Result<Bytes> read(RecordPosition position) const;

  // Puts the records of `other`, another file in the same folder, in the place of this one's, in one step.
  Status replace_by(RecordFile other);

  const std::filesystem::path& path() const { return path_; }

 private:
  RecordFile(std::filesystem::path path, os::UniqueFd fd, std::uint64_t committed)
      : path_(std::move(path)), fd_(std::move(fd)), committed_(committed) {}

  std::filesystem::path path_;
  os::UniqueFd fd_;
  std::uint64_t committed_;
  Bytes pending_;
};

}  // namespace gw::node

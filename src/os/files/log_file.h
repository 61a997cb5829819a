#pragma once
// A log of bounded size.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"
#include "os/files/unique_fd.h"

namespace gw::os {

// Appends lines to a file; one that has grown to Config::bytes is renamed to FILE.1, FILE.1 to FILE.2 and so on, and a new one begun, so
// all of them together never take more than (kept + 1) * bytes and a line. What this process writes to stderr by other ways, such as a
// failed check, goes to the file that is current. A disk that is full costs lines, nothing else. One thread at a time.
class LogFile {
 public:
  struct Config {
    std::uint64_t bytes = 8u << 20;
    unsigned kept = 3;  // old ones
  };
  enum class Errors : std::uint8_t { follow, stay };  // where stderr goes

  static Result<LogFile> open(const std::filesystem::path& path, const Config& config, Errors errors = Errors::follow);

  void write(std::string_view line);

 private:
  LogFile(std::filesystem::path path, const Config& config, Errors errors) : path_(std::move(path)), config_(config), errors_(errors) {}
  Status begin();
  void rotate();

  std::filesystem::path path_;
  Config config_;
  Errors errors_;
  UniqueFd file_;
  std::uint64_t size_ = 0;
};

}  // namespace gw::os

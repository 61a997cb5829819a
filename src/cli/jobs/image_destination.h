#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace gw::cli {

// Where the image or the job file of a program goes: the file that was named, or NAME.gwi in this folder, NAME-2.gwi, NAME-3.gwi, ... if
// that exists. An unnamed image never replaces a file, also if several commands choose at the same moment.
class ImageDestination {
 public:
  // `named` empty: none was. `program` is the source, module or image the name is taken from. Fails if the folder cannot be written.
  static Result<ImageDestination> make(const std::string& named, const std::filesystem::path& program);

  bool is_named() const { return named_; }
  // Where to write an image. rename_temporary() then puts it into its place and says which that is.
  std::filesystem::path temporary() const;
  Result<std::filesystem::path> rename_temporary() const;
  // A place for a job file, which is made at once and refuses a file that exists.
  Result<std::filesystem::path> for_job_file() const;

 private:
  ImageDestination(std::filesystem::path file, bool named) : file_(std::move(file)), named_(named) {}
  std::filesystem::path numbered(int number) const;

  std::filesystem::path file_;
  bool named_;
};

}  // namespace gw::cli

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "node/jobs/job_files.h"
#include "os/files/io.h"
#include "wire/messages/worker_frames.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
using wire::pb::Effect;

Error cannot_write(const fs::path& path, int error) {
  return fail(Kind::internal, "cannot write the output {}: {}", path.string(), os::reason(error));
}

// Refuses a link between the declared output and the file: it could lead anywhere.
Status make_folders(const fs::path& root, const fs::path& folder) {
  std::error_code error;
  fs::path at = root;
  for (const fs::path& part : "." / folder.lexically_relative(root)) {
    if (part != ".") at /= part;
    const fs::file_status status = fs::symlink_status(at, error);
    if (fs::is_directory(status)) continue;
    if (fs::exists(status)) return fail(Kind::invalid, "cannot write below the output {}: it is not a folder", at.string());
    if (!fs::create_directory(at, error)) return cannot_write(at, error.value());
  }
  return ok();
}

}  // namespace

OutputFiles::~OutputFiles() {
  for (const auto& [guest, file] : files_) ::unlink(file.temporary.c_str());
}

Result<fs::path> OutputFiles::place_of(const std::string& guest) const {
  if (!wire::is_tree_path(guest)) return fail(Kind::invalid, "the program named an output file with a path that is not allowed");
  for (const Mount& mount : mounts_) {
    if (guest == mount.guest) return mount.host;
    const std::string folder = mount.guest.empty() ? "" : mount.guest + "/";
    if (guest.starts_with(folder)) {
      const fs::path place = mount.host / guest.substr(folder.size());
      GW_TRY_VOID(make_folders(mount.host, place.parent_path()));
      return place;
    }
  }
  return fail(Kind::invalid, "the program named an output file that was not declared: {}", guest);
}

Status OutputFiles::start_file(const std::string& guest) {
  GW_TRY(const fs::path final, place_of(guest));
  std::string temporary = fmt::format("{}.{}", final.string(), tag_.empty() ? "XXXXXX" : tag_);
  os::UniqueFd fd(tag_.empty() ? ::mkostemp(temporary.data(), O_CLOEXEC)
                               : ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return cannot_write(final, errno);
  // Gives the file the permissions that the umask allows.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd.get(), 0666 & ~mask);
  files_.emplace(guest, Pending{temporary, final, std::move(fd)});
  return ok();
}

Status OutputFiles::take(const Effect::OutputFile& piece) {
  if (piece.type() == Effect::OutputFile::DIRECTORY) {
    GW_TRY(fs::path place, place_of(piece.path()));
    folders_.push_back(std::move(place));
    return ok();
  }
  if (piece.type() == Effect::OutputFile::SYMLINK) {
    if (!wire::is_tree_path(piece.bytes()))
      return fail(Kind::invalid, "the output {} is a link to {}: only links to files below it are written", piece.path(), piece.bytes());
    GW_TRY(fs::path place, place_of(piece.path()));
    links_.emplace_back(std::move(place), piece.bytes());
    return ok();
  }
  auto found = files_.find(piece.path());
  if (found == files_.end()) {
    GW_TRY_VOID(start_file(piece.path()));
    found = files_.find(piece.path());
  }
  Pending& file = found->second;
  if (piece.offset() != file.size || !file.fd) return fail(Kind::invalid, "the pieces of the output {} are out of order", piece.path());
  if (Status written = os::write_fully(file.fd.get(), as_bytes(piece.bytes())); !written) return cannot_write(file.final, errno);
  file.size += piece.bytes().size();
  if (piece.last()) {
    if (::fsync(file.fd.get()) != 0) return cannot_write(file.final, errno);
    file.fd.reset();
  }
  return ok();
}

Status OutputFiles::place() {
  std::error_code error;
  for (const fs::path& folder : folders_)
    if (!fs::create_directory(folder, error) && !fs::is_directory(folder, error)) return cannot_write(folder, error.value());
  for (auto& [guest, file] : files_) {
    if (file.fd) return fail(Kind::invalid, "the output {} was not finished", guest);
    if (::rename(file.temporary.c_str(), file.final.c_str()) != 0) return cannot_write(file.final, errno);
  }
  files_.clear();
  for (const auto& [place, target] : links_) {
    ::unlink(place.c_str());
    fs::create_symlink(target, place, error);
    if (error) return cannot_write(place, error.value());
  }
  return ok();
}

}  // namespace gw::node

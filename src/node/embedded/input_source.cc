#include "node/embedded/input_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/io.h"

namespace gw::node {

Status InputSource::open(const std::filesystem::path& file, std::uint64_t taken) {
  file_ = os::UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_)
    return fail(Kind::not_found, "the standard input {} cannot be read: {}: put it there, or name another file with --stdin", file.string(),
                os::reason(errno));
  (void)::lseek(file_.get(), static_cast<off_t>(taken), SEEK_SET);  // fails for a pipe, which goes on by itself
  return ok();
}

Result<std::string> InputSource::read(std::size_t limit) {
  std::string bytes(limit, '\0');
  const ssize_t got = ::read(descriptor(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return fail(Kind::timeout, "nothing has come yet");
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);  // a terminal that went away, or a closed descriptor, has no more input
  return bytes;
}

bool InputSource::put_back(std::size_t bytes) { return ::lseek(descriptor(), -static_cast<off_t>(bytes), SEEK_CUR) >= 0; }

}  // namespace gw::node

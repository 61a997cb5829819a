#include "os/files/new_file.h"

#include <unistd.h>

#include <cerrno>

#include "os/files/file.h"
#include "os/files/io.h"

namespace gw::os {

// link(2) does not replace a file that is there, rename(2) does.
Result<Linked> link_new_file(const std::filesystem::path& complete, const std::filesystem::path& path) {
  const int error = ::link(complete.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(complete.c_str());
  if (error != 0 && error != EEXIST) return fail(kind_of(error), "cannot create {}: {}", path.string(), reason(error));
  GW_TRY_VOID(flush_folder(path.has_parent_path() ? path.parent_path() : "."));
  return error == 0 ? Linked::created : Linked::was_there;
}

}  // namespace gw::os

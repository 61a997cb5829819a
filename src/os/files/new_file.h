#pragma once
// Gives a complete file its name.

#include <filesystem>

#include "base/result.h"

namespace gw::os {

enum class Linked { created, was_there };

// Names the file `complete` `path` as well, unless a file of that name is there, and removes the name `complete` in every case. Readers of
// `path` see no file or all of it, and of several processes that create one, the first wins. Durable on return, if the content is.
Result<Linked> link_new_file(const std::filesystem::path& complete, const std::filesystem::path& path);

}  // namespace gw::os

#pragma once
// What files and pipes have in common.

#include <string>

#include "base/bytes.h"

namespace gw::os {

// The system's words for an errno value.
std::string reason(int error);

// Writes all of `content`, however many calls that takes. The detail of an error is the reason alone; Kind::overloaded: no room.
Status write_fully(int fd, ByteView content);

}  // namespace gw::os

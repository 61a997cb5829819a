#pragma once
// Functions that files and pipes have in common.

#include <string>

#include "base/bytes.h"

namespace gw::os {

// The system's words for an errno value.
std::string reason(int error);

// The kind of an errno value of a file operation. Kind::overloaded is temporary: no room, no descriptor or no memory is left at the moment.
Kind kind_of(int error);

// Writes all of `content`, however many calls that takes. The detail of an error is the reason alone.
Status write_fully(int fd, ByteView content);

}  // namespace gw::os

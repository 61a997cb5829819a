#pragma once
// Landlock: a process forbids itself files, TCP and signals, without any privilege.

#include "base/result.h"

namespace gw::os {

// The kernel's Landlock version, 0 if it has none.
Result<int> landlock_version();

// Forbids the calling thread, and the threads it makes, everything the kernel's Landlock knows about. Descriptors already open stay usable.
// Returns the kernel's Landlock version, 0 if it has none. REQUIRES: no_new_privs.
Result<int> forbid_everything_by_landlock();

}  // namespace gw::os

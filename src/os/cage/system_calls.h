#pragma once
// The system calls a caged process may make.

#include "base/result.h"

namespace gw::os {

// Sanitizers need more than the cage of a release gives: their own memory, and files to name what they found.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GW_SANITIZED_BUILD 1
#endif
#endif
#ifdef GW_SANITIZED_BUILD
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Any other call ends the whole process at once (SIGSYS). For all threads of the process. REQUIRES: no_new_privs.
Status allow_only_needed_system_calls();

}  // namespace gw::os

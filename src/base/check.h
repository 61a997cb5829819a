#pragma once
// Assertions for bugs of ours. Never assert on anything a peer, guest, file or user controls: that is an Error (base/result.h).

namespace gw {

// Prints "file:line: assertion failed: text" to stderr and aborts.
[[noreturn]] void assertion_failed(const char* file, int line, const char* text);

}  // namespace gw

// Always on.
#define GW_ASSERT(condition) ((condition) ? (void)0 : ::gw::assertion_failed(__FILE__, __LINE__, #condition))

// For checks too costly in a release; the condition is still compiled there.
#ifdef NDEBUG
#define GW_DCHECK(condition) ((void)sizeof(!(condition)))
#else
#define GW_DCHECK(condition) GW_ASSERT(condition)
#endif

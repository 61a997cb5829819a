#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gw {

void assertion_failed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, text);
  std::abort();
}

}  // namespace gw

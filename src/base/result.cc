#include "base/result.h"

namespace gw {

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::invalid:
      return "invalid";
    case Kind::not_found:
      return "not found";
    case Kind::overloaded:
      return "overloaded";
    case Kind::disconnected:
      return "disconnected";
    case Kind::timeout:
      return "timeout";
    case Kind::corrupt:
      return "corrupt";
    case Kind::guest_fault:
      return "guest fault";
    case Kind::unsupported:
      return "unsupported";
    case Kind::internal:
      return "internal";
  }
  GW_ASSERT(false);
  return {};
}

}  // namespace gw

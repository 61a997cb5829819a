#pragma once
// The answer to a request.

#include <cstdint>
#include <string>

namespace gw::httpd {

struct Answer {
  unsigned status = 200;
  std::string body = {};
  std::string allow = {};  // allowed methods, with status 405
  std::string type = "application/json";
};
enum class After : std::uint8_t { next_request, close };

// Head and body as they are sent. Written here, because each message type that Beast serialises costs seconds of compilation.
std::string text_of(const Answer& answer, After after);

}  // namespace gw::httpd

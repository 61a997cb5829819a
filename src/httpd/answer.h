#pragma once
// The answer to a request.

#include <cstdint>
#include <string>
#include <string_view>

namespace gw::httpd {

struct Answer {
  unsigned status = 200;
  std::string body = {};
  std::string allow = {};  // allowed methods, with status 405
  std::string type = "application/json";
  std::string headers = {};  // further lines of the head, each with its line end
};
enum class After : std::uint8_t { next_request, close };

// Head and body as they are sent. Written here, because each message type that Beast serialises costs seconds of compilation.
// `headers` are those that every answer of the server has.
std::string text_of(const Answer& answer, After after, std::string_view headers = {});

// The head of an answer whose body comes in chunks; its connection is closed after it.
std::string head_of_stream(std::string_view type, std::string_view headers);

}  // namespace gw::httpd

#include "httpd/answer.h"

#include <fmt/core.h>

#include <boost/beast/http/status.hpp>

namespace gw::httpd {

std::string text_of(const Answer& answer, After after, std::string_view headers) {
  const auto reason = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(answer.status));
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nServer: godwit\r\nContent-Type: {}\r\nContent-Length: {}\r\n", answer.status,
                                 std::string_view(reason.data(), reason.size()), answer.type, answer.body.size());
  if (!answer.allow.empty()) text += fmt::format("Allow: {}\r\n", answer.allow);
  if (after == After::close) text += "Connection: close\r\n";
  text += headers;
  text += answer.headers;
  return text + "\r\n" + answer.body;
}

std::string head_of_stream(std::string_view type, std::string_view headers) {
  return fmt::format("HTTP/1.1 200 OK\r\nServer: godwit\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n{}\r\n",
                     type, headers);
}

}  // namespace gw::httpd

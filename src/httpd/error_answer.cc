#include "httpd/error_answer.h"

#include <array>
#include <nlohmann/json.hpp>

namespace gw::httpd {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  Kind kind;
  std::string_view word;
  unsigned status;
  std::string_view next;
};

// In the order of Kind.
constexpr std::array<Row, 9> kRows{{
    {Kind::invalid, "invalid", 400, "correct the request"},
    {Kind::not_found, "not_found", 404, "check the name"},
    {Kind::overloaded, "overloaded", 429, "try again later"},
    {Kind::disconnected, "disconnected", 503, "the daemon is stopping: try again when it runs"},
    {Kind::timeout, "timeout", 504, "try again"},
    {Kind::corrupt, "corrupt", 422, "send it again"},
    {Kind::guest_fault, "guest_fault", 422, "correct the program"},
    {Kind::unsupported, "unsupported", 405, "see docs/api/openapi.yaml"},
    {Kind::internal, "internal", 500, "see the log of the daemon"},
}};

const Row& row_of(Kind kind) {
  const Row& row = kRows[static_cast<std::size_t>(kind)];
  GW_ASSERT(row.kind == kind);
  return row;
}

}  // namespace

unsigned status_of(Kind kind) { return row_of(kind).status; }

std::string error_body(const Error& error) { return error_body(error, row_of(error.kind).next); }

std::string error_body(const Error& error, std::string_view next) {
  const Json json{{"error", {{"kind", row_of(error.kind).word}, {"message", error.detail}, {"next", next}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error error_of(unsigned status, std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const Json* const error = json.is_object() && json.contains("error") && json["error"].is_object() ? &json["error"] : nullptr;
  const auto text = [error](const char* key) {
    return error != nullptr && error->contains(key) && (*error)[key].is_string() ? (*error)[key].get<std::string>() : std::string();
  };
  for (const Row& row : kRows)
    if (row.word == text("kind")) return {row.kind, text("message")};
  return fail(Kind::internal, "the daemon answered with HTTP status {} and no reason", status);
}

}  // namespace gw::httpd

#include "gateway/web/web_view.h"

#include <nlohmann/json.hpp>

namespace gw::gateway {
namespace {

using ViewJson = nlohmann::json;

Error not_understood(std::string_view what) { return fail(Kind::corrupt, "the daemon's answer cannot be understood: {}", what); }

Result<std::string> text_in(const ViewJson& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return not_understood(key);
  return json[key].get<std::string>();
}

Result<std::uint64_t> second_in(const ViewJson& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number_unsigned()) return not_understood(key);
  return json[key].get<std::uint64_t>();
}

ViewJson parsed(std::string_view text) { return ViewJson::parse(text, nullptr, /*allow_exceptions=*/false); }

Result<WebTokenView> token_in(const ViewJson& json) {
  WebTokenView token;
  GW_TRY(const std::string id, text_in(json, "id"));
  GW_TRY(token.id, parse_hash(id));
  GW_TRY(const std::string scope, text_in(json, "scope"));
  const auto known = scope_named(scope);
  if (!known) return not_understood("scope");
  token.scope = *known;
  GW_TRY(token.created_at, second_in(json, "created_at"));
  GW_TRY(token.used_at, second_in(json, "used_at"));
  return token;
}

}  // namespace

Result<WebView> web_view(std::string_view text) {
  WebView view;
  GW_TRY(view.address, text_in(parsed(text), "address"));
  return view;
}

Result<WebLink> web_link(std::string_view text) {
  const ViewJson json = parsed(text);
  WebLink link;
  GW_TRY(const std::string id, text_in(json, "id"));
  GW_TRY(link.id, parse_hash(id));
  GW_TRY(link.link, text_in(json, "link"));
  return link;
}

Result<std::vector<WebTokenView>> web_token_views(std::string_view text) {
  const ViewJson json = parsed(text);
  if (!json.is_object() || !json.contains("tokens") || !json["tokens"].is_array()) return not_understood("tokens");
  std::vector<WebTokenView> tokens;
  for (const ViewJson& one : json["tokens"]) {
    GW_TRY(const WebTokenView token, token_in(one));
    tokens.push_back(token);
  }
  return tokens;
}

}  // namespace gw::gateway

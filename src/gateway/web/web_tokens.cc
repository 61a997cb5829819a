#include "gateway/web/web_tokens.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "os/files/file.h"
#include "os/files/io.h"

namespace gw::gateway {
namespace {

using TokensJson = nlohmann::json;

constexpr std::size_t kMaxTokenFileBytes = 64u << 10;
constexpr std::chrono::hours kUseIsStored{1};
constexpr std::int64_t kLastSecond = std::int64_t{1} << 40;  // of a time that a file may name

bool expired(const WebTokens::Token& token, WebTokens::Time now) { return now - token.used_at > WebTokens::kLasts; }

bool equal_in_constant_time(const Hash256& one, const Hash256& other) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < one.bytes.size(); ++i) difference |= one.bytes[i] ^ other.bytes[i];
  return difference == 0;
}

std::optional<WebTokens::Time> time_of(const TokensJson& json, const char* key) {
  if (!json.contains(key) || !json[key].is_number_unsigned()) return std::nullopt;
  const auto seconds = std::min<std::uint64_t>(json[key].get<std::uint64_t>(), kLastSecond);
  return WebTokens::Time(std::chrono::seconds(seconds));
}

std::optional<WebTokens::Token> token_of(const TokensJson& json) {
  if (!json.is_object() || !json.contains("id") || !json["id"].is_string() || !json.contains("scope") || !json["scope"].is_string())
    return std::nullopt;
  const auto id = parse_hash(json["id"].get<std::string>());
  const auto scope = scope_named(json["scope"].get<std::string>());
  const auto created = time_of(json, "created_at"), used = time_of(json, "used_at");
  if (!id || !scope || !created || !used) return std::nullopt;
  return WebTokens::Token{*id, *scope, *created, *used};
}

}  // namespace

Hash256 WebTokens::id_of(std::string_view token) {
  Sha256 hash;
  hash.update(as_bytes(std::string_view("godwit web token\n")));  // the hash of this token for this use, and of nothing else
  hash.update(as_bytes(token));
  return hash.finish();
}

WebTokens WebTokens::open(std::filesystem::path file) {
  WebTokens tokens(std::move(file));
  if (const auto bytes = os::read_file(tokens.file_, kMaxTokenFileBytes)) {
    tokens.load(as_text(*bytes));
  } else if (bytes.error().kind != Kind::not_found) {
    log::warn("gateway", "the tokens of the dashboard are forgotten", kv("why", bytes.error().detail));
  }
  return tokens;
}

void WebTokens::load(std::string_view text) {
  const TokensJson json = TokensJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("tokens") && json["tokens"].is_array() && json["tokens"].size() <= kMaxTokens) {
    for (const TokensJson& one : json["tokens"]) {
      const auto token = token_of(one);
      if (!token) return tokens_.clear(), log::warn("gateway", "the tokens of the dashboard are forgotten", kv("damaged", file_.string()));
      tokens_.push_back(*token);
    }
    return;
  }
  log::warn("gateway", "the tokens of the dashboard are forgotten", kv("damaged", file_.string()));
}

Status WebTokens::save() const {
  TokensJson list = TokensJson::array();
  for (const Token& token : tokens_)
    list.push_back({{"id", token.id.hex()},
                    {"scope", name(token.scope)},
                    {"created_at", static_cast<std::uint64_t>(token.created_at.time_since_epoch().count())},
                    {"used_at", static_cast<std::uint64_t>(token.used_at.time_since_epoch().count())}});
  const std::string text = TokensJson{{"tokens", std::move(list)}}.dump() + "\n";
  return os::write_file_atomic(file_, as_bytes(text));
}

Result<std::string> WebTokens::issue(Scope scope, Time now) {
  std::array<std::uint8_t, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return fail(Kind::internal, "the system provides no random numbers: {}", os::reason(errno));
  const std::string token = hex(secret);
  std::erase_if(tokens_, [now](const Token& old) { return expired(old, now); });
  if (tokens_.size() >= kMaxTokens) tokens_.erase(std::ranges::min_element(tokens_, {}, &Token::used_at));
  tokens_.push_back({id_of(token), scope, now, now});
  if (const Status saved = save(); !saved) {
    tokens_.pop_back();
    return saved.error();
  }
  return token;
}

std::optional<Scope> WebTokens::use(std::string_view token, Time now) {
  const Hash256 id = id_of(token);
  Token* found = nullptr;
  for (Token& one : tokens_)
    if (equal_in_constant_time(one.id, id) && !expired(one, now)) found = &one;
  if (found == nullptr) return std::nullopt;
  const Time last = std::exchange(found->used_at, std::max(found->used_at, now));
  if (now - last < kUseIsStored) {
    found->used_at = last;
  } else if (const Status saved = save(); !saved) {
    log::warn("gateway", "the last use of a token was not stored", kv("why", saved.error().detail));
  }
  return found->scope;
}

Status WebTokens::revoke(const Hash256& id) {
  const std::vector<Token> before = tokens_;
  if (std::erase_if(tokens_, [&](const Token& token) { return token.id == id; }) == 0)
    return fail(Kind::not_found, "there is no token {}: list them with 'godwit web tokens'", id.hex());
  Status saved = save();
  if (!saved) tokens_ = before;
  return saved;
}

std::vector<WebTokens::Token> WebTokens::list(Time now) const {
  std::vector<Token> living;
  for (auto token = tokens_.rbegin(); token != tokens_.rend(); ++token)
    if (!expired(*token, now)) living.push_back(*token);
  return living;
}

}  // namespace gw::gateway

#pragma once
// The tokens with which browsers use the API.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "gateway/web/scope.h"

namespace gw::gateway {

// A token is 32 random bytes in hexadecimal. Only its hash is stored, so a copy of the file lets nobody in; the hash is also its id. A
// token that was unused for kLasts expires. The file is written when a token is issued or revoked, and once an hour for its last use.
//
// Limit: kMaxTokens; a new one replaces the one that was unused for longest. Belongs to the node thread.
class WebTokens {
 public:
  using Time = std::chrono::sys_seconds;
  struct Token {
    Hash256 id;
    Scope scope = Scope::watch;
    Time created_at;
    Time used_at;
  };
  static constexpr std::size_t kMaxTokens = 64;
  static constexpr std::chrono::hours kLasts{24 * 30};

  // A file that is missing or damaged holds no token; of a damaged one the log says so.
  static WebTokens open(std::filesystem::path file);

  // The token, which is shown once and stored nowhere.
  Result<std::string> issue(Scope scope, Time now);
  // What the holder of the token may do. Takes the same time for every text of the length of a token.
  std::optional<Scope> use(std::string_view token, Time now);
  // Kind::not_found.
  Status revoke(const Hash256& id);
  // Those that have not expired, the newest first.
  std::vector<Token> list(Time now) const;

  static Hash256 id_of(std::string_view token);

 private:
  explicit WebTokens(std::filesystem::path file) : file_(std::move(file)) {}
  void load(std::string_view text);
  Status save() const;

  const std::filesystem::path file_;
  std::vector<Token> tokens_;  // in the order of their making
};

}  // namespace gw::gateway

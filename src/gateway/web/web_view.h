#pragma once
// What clients learn of the dashboard.

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "gateway/web/scope.h"

namespace gw::gateway {

struct WebView {
  std::string address;  // empty: it is not served
};

struct WebTokenView {
  Hash256 id;
  Scope scope = Scope::watch;
  std::uint64_t created_at = 0, used_at = 0;  // seconds since 1970
};

struct WebLink {
  Hash256 id;  // of its token
  std::string link;
};

// Kind::corrupt: not what the API answers.
Result<WebView> web_view(std::string_view text);
Result<WebLink> web_link(std::string_view text);
Result<std::vector<WebTokenView>> web_token_views(std::string_view text);

}  // namespace gw::gateway

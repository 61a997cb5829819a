#pragma once
// Who may send requests over TCP, and what they may do.

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "gateway/web/web_page.h"
#include "gateway/web/web_tokens.h"
#include "httpd/answer.h"

namespace gw::gateway {

// The head of a request, as far as its admission depends on it. A header that is missing, or there more than once, is empty.
struct RequestHead {
  std::string_view method, target;
  std::string_view host, origin, fetch_site, authorization;
  std::string_view accept_encoding, if_none_match;
};

// Guards the API at a TCP port of this machine, which every program of every user, and every page in a browser, can reach.
//
// 1. The name that the browser believes to talk to must be ours, and so must be the page that asks. Otherwise any page of the internet
//    could have its own name resolve to 127.0.0.1 and read the answers (DNS rebinding).
// 2. The API wants a token in a header. Browsers add no header by themselves, so no other page can use the token of ours, as it could use
//    a cookie.
// 3. The files of the dashboard hold no secret: everybody may read them.
//
// Belongs to the node thread.
class WebAccess {
 public:
  // `authority`: "127.0.0.1:7500", the address it listens at.
  WebAccess(const std::string& authority, WebTokens tokens, std::span<const WebPage> pages);

  // "http://127.0.0.1:7500"
  const std::string& address() const { return address_; }
  // With the token in the fragment, which browsers keep to themselves.
  std::string link(std::string_view token) const { return address_ + "/#token=" + std::string(token); }
  WebTokens& tokens() { return tokens_; }

  static bool is_api(std::string_view target) { return target.starts_with("/v1/"); }

  // The answer to a request that is not meant for this daemon, or does not come from a page of it.
  std::optional<httpd::Answer> refuse_sender(const RequestHead& head) const;
  // A file of the dashboard; not found is an answer, too. REQUIRES: !is_api(head.target).
  httpd::Answer page(const RequestHead& head) const;
  // What the sender may do, or the answer if that does not include `needed`.
  std::variant<Scope, httpd::Answer> admit(const RequestHead& head, Scope needed, WebTokens::Time now);

  // That all answers over TCP have: nothing is loaded from elsewhere, no page frames this one, no type is guessed.
  static std::string_view security_headers();

 private:
  std::string address_;
  std::vector<std::string> hosts_;  // names under which browsers of this machine reach it
  WebTokens tokens_;
  std::span<const WebPage> pages_;
};

}  // namespace gw::gateway

#include "gateway/web/web_access.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/metrics.h"
#include "httpd/error_answer.h"

namespace gw::gateway {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kNewLink = "open the dashboard with 'godwit web open', or print a link with 'godwit web link'";

httpd::Answer refused(unsigned status, const Error& why, std::string_view next) {
  metrics::count(metrics::Metric::requests_refused);
  return {.status = status, .body = httpd::error_body(why, next)};
}

// Whether the list of an Accept-Encoding header has gzip, and not as "gzip;q=0".
bool takes_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    std::string_view part = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), part.size() + 1));
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (part == "gzip" || (part.starts_with("gzip;") && !part.ends_with("q=0") && !part.ends_with("q=0.0"))) return true;
  }
  return false;
}

}  // namespace

WebAccess::WebAccess(const std::string& authority, WebTokens tokens, std::span<const WebPage> pages)
    : address_("http://" + authority), tokens_(std::move(tokens)), pages_(pages) {
  const std::string port = authority.substr(authority.rfind(':') + 1);
  hosts_ = {authority, "localhost:" + port};
  if (port == "80") hosts_.insert(hosts_.end(), {authority.substr(0, authority.rfind(':')), "localhost"});  // browsers leave it out
}

std::string_view WebAccess::security_headers() {
  return "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
         "Cross-Origin-Opener-Policy: same-origin\r\n"
         "Cross-Origin-Embedder-Policy: require-corp\r\n"
         "Cross-Origin-Resource-Policy: same-origin\r\n"
         "X-Content-Type-Options: nosniff\r\n"
         "Referrer-Policy: no-referrer\r\n";
}

std::optional<httpd::Answer> WebAccess::refuse_sender(const RequestHead& head) const {
  if (std::ranges::find(hosts_, head.host) == hosts_.end())
    return refused(421, fail(Kind::invalid, "this request is for '{}', and this is {}", head.host, address_),
                   fmt::format("use the address {}", address_));
  if (!head.origin.empty() && head.origin != fmt::format("http://{}", head.host))
    return refused(403, fail(Kind::invalid, "a page of '{}' may not use this daemon", head.origin), kNewLink);
  // A link to the dashboard may be anywhere; only its own pages may ask the API.
  const bool from_elsewhere = !head.fetch_site.empty() && head.fetch_site != "same-origin" && head.fetch_site != "none";
  if (from_elsewhere && is_api(head.target))
    return refused(403, fail(Kind::invalid, "a page of another site may not use this daemon"), kNewLink);
  return std::nullopt;
}

httpd::Answer WebAccess::page(const RequestHead& head) const {
  if (head.method != "GET") {
    httpd::Answer wrong =
        refused(405, fail(Kind::unsupported, "the pages of the dashboard do not support {}: use GET", head.method), "use GET");
    wrong.allow = "GET";
    return wrong;
  }
  const std::string_view asked = head.target.substr(0, head.target.find('?'));
  const std::string_view path = asked == "/" ? "/index.html" : asked;
  const auto found = std::ranges::find(pages_, path, &WebPage::path);
  if (found == pages_.end())
    return refused(404, fail(Kind::not_found, "there is nothing at {}", asked), fmt::format("go to {}/", address_));
  httpd::Answer answer{.type = std::string(found->type)};
  answer.headers = fmt::format("ETag: {}\r\nVary: Accept-Encoding\r\nCache-Control: {}\r\n", found->etag,
                               found->life == WebPage::Life::lasting ? "max-age=31536000, immutable" : "no-cache");
  if (head.if_none_match.find(found->etag) != std::string_view::npos) {
    answer.status = 304;
    return answer;
  }
  const bool packed = takes_gzip(head.accept_encoding);
  if (packed) answer.headers += "Content-Encoding: gzip\r\n";
  answer.body = packed ? found->gzip : found->plain;
  return answer;
}

std::variant<Scope, httpd::Answer> WebAccess::admit(const RequestHead& head, Scope needed, WebTokens::Time now) {
  const bool has_token = head.authorization.starts_with(kBearer);
  const auto granted = has_token ? tokens_.use(head.authorization.substr(kBearer.size()), now) : std::nullopt;
  if (!granted) {
    httpd::Answer answer =
        refused(401,
                has_token ? fail(Kind::invalid, "this token is not valid: it was revoked, has expired, or is of another daemon")
                          : fail(Kind::invalid, "a token is needed: it stands in the link that 'godwit web link' prints"),
                kNewLink);
    answer.headers = "WWW-Authenticate: Bearer\r\n";
    return answer;
  }
  if (needed == Scope::manage && *granted != Scope::manage)
    return refused(403, fail(Kind::invalid, "this token may only watch"), "use a link that may manage: 'godwit web link'");
  return *granted;
}

}  // namespace gw::gateway

#pragma once
// Input files that are named by an https URL.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace gw::node {

struct Url {
  std::string host;  // a name or an address, without brackets
  std::uint16_t port = 443;
  std::string target;  // path and query
};
// "https://HOST[:PORT]/PATH[?QUERY]"; a fragment is dropped. Kind::invalid: it is not of this form, names a user, or is too long.
Result<Url> parse_url(const std::string& text);

// A part of a file.
struct UrlRange {
  std::string bytes;
  std::uint64_t total = 0;  // bytes of the whole file
  std::string version;      // as the server names this version of it (ETag); empty: it does not
};

// Fetches ranges of files, one connection for each. Blocks: for a thread of its own.
//
// A connection is made only to a public address (is_public), unless the owner allows others: the name is resolved once, each address is
// checked, and the connection goes to the checked address; so for each redirect. Certificates are verified with the system's authorities.
// Limits: Config.
class UrlFetcher {
 public:
  struct Config {
    bool private_addresses = false;  // allowed
    std::size_t redirects = 5;
    std::chrono::seconds patience{20};  // for one range, redirects included
    std::uint64_t max_file = std::uint64_t{64} << 30;
    std::size_t max_header = 16u << 10;
  };
  explicit UrlFetcher(const Config& config) : config_(config) {}

  // Bytes [offset, offset + length) of the file, fewer at its end. `version`: of an earlier range of the same file; Kind::corrupt if the
  // file has changed. Kind::invalid: the address is not allowed, or the server has no such range; Kind::not_found, disconnected, timeout,
  // unsupported: the server does not send ranges, and the file is longer than one.
  Result<UrlRange> fetch(const std::string& url, std::uint64_t offset, std::size_t length, const std::string& version) const;

 private:
  const Config config_;
};

}  // namespace gw::node

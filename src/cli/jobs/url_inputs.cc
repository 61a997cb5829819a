#include "cli/jobs/url_inputs.h"

#include <algorithm>

#include "cli/settings/mount.h"
#include "wire/messages/peer_messages.h"

namespace gw::cli {
namespace {

constexpr std::string_view kHttps = "https://";

Result<UrlInput> parse_url_input(const std::string& text) {
  const std::size_t colon = text.rfind(":/");
  const bool named = colon != std::string::npos && colon >= kHttps.size();
  UrlInput input{.url = text.substr(0, named ? colon : text.size()), .guest = {}};
  std::string guest = named ? text.substr(colon + 1) : "";
  if (!named) {
    std::string_view path = std::string_view(text).substr(kHttps.size());
    path = path.substr(0, path.find_first_of("?#"));
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) guest = std::string(path.substr(slash + 1));
  }
  if (guest.empty())
    return fail(Kind::invalid, "--input {}: the URL ends without a name: give the program's path with {}:/GUEST", text, text);
  GW_TRY(const Mount mount, parse_mount("url:" + guest));
  input.guest = mount.guest;
  return input;
}

}  // namespace

Result<std::vector<UrlInput>> take_urls(std::vector<std::string>& inputs) {
  std::vector<UrlInput> urls;
  for (const std::string& text : inputs) {
    if (!text.starts_with(kHttps)) continue;
    GW_TRY(UrlInput input, parse_url_input(text));
    if (std::ranges::find(urls, input.guest, &UrlInput::guest) != urls.end())
      return fail(Kind::invalid, "two inputs are {} for the program: give one of them another :/GUEST", input.guest);
    urls.push_back(std::move(input));
  }
  std::erase_if(inputs, [](const std::string& text) { return text.starts_with(kHttps); });
  return urls;
}

Result<std::vector<wire::pb::InputEntry>> fetch_urls(gateway::Client& client, const std::vector<UrlInput>& urls,
                                                     const std::function<void(std::uint64_t)>& stored) {
  std::vector<wire::pb::InputEntry> entries;
  std::uint64_t sum = 0;
  for (const UrlInput& input : urls) {
    wire::pb::InputEntry& entry = entries.emplace_back();
    entry.set_path(input.guest.substr(1));
    node::UrlRequest request{.url = input.url};
    for (;;) {
      GW_TRY(const node::UrlPieces got, client.fetch(request));
      entry.set_size(got.total);
      for (const Hash256& piece : got.pieces) entry.add_chunks(wire::bytes_of(piece));
      const std::uint64_t before = request.offset;
      request.offset = std::min<std::uint64_t>(got.total, request.offset + got.pieces.size() * wire::kInputChunkBytes);
      request.version = got.version;
      stored(sum += request.offset - before);
      if (request.offset >= got.total) break;
      if (got.pieces.empty()) return fail(Kind::corrupt, "{}: the server sends less than the file has", input.url);
    }
  }
  return entries;
}

}  // namespace gw::cli

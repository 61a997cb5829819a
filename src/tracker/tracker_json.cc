#include "tracker/tracker_json.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "wire/messages/overlay_messages.h"

namespace gw::tracker {
namespace {

using Json = nlohmann::ordered_json;

std::string hex_of(const std::string& bytes) { return hex(as_bytes(bytes)); }

Result<std::string> bytes_of_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return fail(Kind::invalid, "there is half a byte");
  std::string bytes(digits.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t byte = 0;
    const char* const end = digits.data() + 2 * i + 2;
    if (const auto [rest, error] = std::from_chars(end - 2, end, byte, 16); error != std::errc() || rest != end)
      return fail(Kind::invalid, "there is something that is no hexadecimal digit");
    bytes[i] = static_cast<char>(byte);
  }
  return bytes;
}

std::string text_in(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

Result<wire::pb::Descriptor> descriptor_in(const Json& json) {
  GW_TRY(const std::string bytes, bytes_of_hex(text_in(json, "descriptor")));
  wire::pb::Descriptor descriptor;
  if (bytes.empty() || !descriptor.ParseFromString(bytes)) return fail(Kind::invalid, "there is no descriptor in it");
  GW_TRY_VOID(wire::check(descriptor));
  return descriptor;
}

}  // namespace

std::string announcement_text(const wire::pb::Announcement& announcement) {
  return Json{{"grid", hex_of(announcement.grid())}, {"descriptor", hex_of(announcement.descriptor().SerializeAsString())}}.dump();
}

Result<wire::pb::Announcement> parse_announcement(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  wire::pb::Announcement announcement;
  GW_TRY(const Hash256 grid, parse_hash(text_in(json, "grid")));
  announcement.set_grid(std::string(as_text(grid.bytes)));
  GW_TRY(*announcement.mutable_descriptor(), descriptor_in(json));
  return announcement;
}

// The address is for display only.
std::string list_text(const std::vector<wire::pb::Descriptor>& peers) {
  Json list = Json::array();
  for (const wire::pb::Descriptor& peer : peers)
    list.push_back({{"address", peer.address()}, {"descriptor", hex_of(peer.SerializeAsString())}});
  return Json{{"peers", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<wire::pb::Descriptor>> parse_list(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("peers") || !json["peers"].is_array())
    return fail(Kind::corrupt, "the tracker's answer is not a list of peers");
  std::vector<wire::pb::Descriptor> peers;
  for (const Json& one : json["peers"]) {
    if (peers.size() >= kMaxListed) break;
    if (auto descriptor = descriptor_in(one)) peers.push_back(*std::move(descriptor));
  }
  return peers;
}

}  // namespace gw::tracker

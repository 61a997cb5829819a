#include "gateway/grid_json.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

namespace gw::gateway {
namespace {

using node::GridView;
using Issued = GridView::Issued;

constexpr std::array<std::string_view, 2> kAccesses{"open", "private"};
constexpr std::array<std::string_view, 3> kRoles{"member", "holder", "revoked"};
constexpr std::array<std::string_view, 3> kIssuedStates{"good", "expired", "revoked"};
constexpr std::size_t kSerialDigits = 16;

Json to_json(const Issued& issued) {
  Json json{{"serial", serial_text(issued.serial)}, {"until", issued.until}, {"state", name(issued.state)}};
  if (issued.uses > 0) json["uses"] = issued.uses;
  if (issued.peer) json["peer"] = issued.peer->hash.hex();
  if (!issued.name.empty()) json["name"] = issued.name;
  return json;
}

Json to_json(const std::vector<Issued>& list) {
  Json array = Json::array();
  for (const Issued& issued : list) array.push_back(to_json(issued));
  return array;
}

// The members of an object that may only have some: what is of another type, or has another name, is noted.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {
    if (!json.is_object()) note("it is no object");
  }

  std::string text(const char* key) { return take(key, &Json::is_string) ? json_.at(key).get<std::string>() : ""; }
  bool flag(const char* key) { return take(key, &Json::is_boolean) && json_.at(key).get<bool>(); }
  std::uint64_t number(const char* key, std::uint64_t otherwise = 0) {
    return take(key, &Json::is_number_unsigned) ? json_.at(key).get<std::uint64_t>() : otherwise;
  }
  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> list;
    if (!take(key, &Json::is_array)) return list;
    for (const Json& one : json_.at(key)) {
      if (!one.is_string()) {
        note(fmt::format("{} has something that is no text", key));
      } else {
        list.push_back(one.get<std::string>());
      }
    }
    return list;
  }
  const Json* list(const char* key) { return take(key, &Json::is_array) ? &json_.at(key) : nullptr; }
  template <class Enum, std::size_t kCount>
  Enum word(const char* key, const std::array<std::string_view, kCount>& words) {
    const std::string found = text(key);
    for (std::size_t i = 0; i < kCount; ++i)
      if (words[i] == found) return static_cast<Enum>(i);
    note(fmt::format("'{}' is no {}", found, key));
    return {};
  }
  template <class T>
  T take_result(Result<T> result) {
    if (result) return *std::move(result);
    note(result.error().detail);
    return {};
  }
  void note(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  // Everything that is there was asked for, and was of its type.
  Status done(Kind kind) {
    if (problem_.empty() && json_.size() != taken_) note("something in it means nothing here");
    if (!problem_.empty()) return fail(kind, "the request is malformed: {}", problem_);
    return ok();
  }

 private:
  bool take(const char* key, bool (Json::*is)() const noexcept) {
    if (!json_.is_object() || !json_.contains(key)) return false;
    ++taken_;
    if ((json_.at(key).*is)()) return true;
    note(fmt::format("{} is of another type", key));
    return false;
  }

  const Json& json_;
  std::size_t taken_ = 0;
  std::string problem_;
};

Json parsed(std::string_view text) { return Json::parse(text, nullptr, /*allow_exceptions=*/false); }

std::vector<Issued> issued_list(Fields& fields, const char* key) {
  std::vector<Issued> list;
  const Json* const array = fields.list(key);
  if (array == nullptr) return list;
  for (const Json& one : *array) {
    Fields each(one);
    Issued issued{.until = each.number("until"), .uses = static_cast<std::uint32_t>(each.number("uses")), .name = each.text("name")};
    issued.serial = each.take_result(parse_serial(each.text("serial")));
    issued.state = each.word<Issued::State>("state", kIssuedStates);
    if (const std::string peer = each.text("peer"); !peer.empty()) issued.peer = job::PeerId{each.take_result(parse_hash(peer))};
    if (const Status good = each.done(Kind::corrupt); !good) fields.note(good.error().detail);
    list.push_back(std::move(issued));
  }
  return list;
}

GridView grid_view(Fields& fields) {
  GridView view{.id = {fields.take_result(parse_hash(fields.text("id")))}, .name = fields.text("name")};
  view.access = fields.word<GridView::Access>("access", kAccesses);
  view.role = fields.word<GridView::Role>("role", kRoles);
  view.serial = fields.take_result(parse_serial(fields.text("serial")));
  view.until = fields.number("until");
  view.peers = fields.number("peers");
  view.revoked = fields.number("revoked");
  view.invitations = issued_list(fields, "invitations");
  view.members = issued_list(fields, "members");
  return view;
}

}  // namespace

std::string_view name(GridView::Access access) { return kAccesses[static_cast<std::size_t>(access)]; }
std::string_view name(GridView::Role role) { return kRoles[static_cast<std::size_t>(role)]; }
std::string_view name(Issued::State state) { return kIssuedStates[static_cast<std::size_t>(state)]; }
std::string serial_text(std::uint64_t serial) { return fmt::format("{:016x}", serial); }

Result<std::uint64_t> parse_serial(std::string_view text) {
  std::uint64_t serial = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), serial, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != kSerialDigits)
    return fail(Kind::invalid, "'{}' is not a serial: a serial has 16 hexadecimal digits", text);
  return serial;
}

Json to_json(const GridView& view) {
  return {{"id", view.id.hash.hex()},
          {"name", view.name},
          {"access", name(view.access)},
          {"role", name(view.role)},
          {"serial", serial_text(view.serial)},
          {"until", view.until},
          {"peers", view.peers},
          {"revoked", view.revoked},
          {"invitations", to_json(view.invitations)},
          {"members", to_json(view.members)}};
}

Json to_json(const std::vector<GridView>& views) {
  Json array = Json::array();
  for (const GridView& view : views) array.push_back(to_json(view));
  return {{"grids", std::move(array)}};
}

Result<std::vector<GridView>> grid_views(std::string_view text) {
  const Json json = parsed(text);
  if (!json.is_object() || !json.contains("grids") || !json["grids"].is_array())
    return fail(Kind::corrupt, "the daemon's list of grids is malformed");
  std::vector<GridView> views;
  for (const Json& one : json["grids"]) {
    Fields fields(one);
    views.push_back(grid_view(fields));
    GW_TRY_VOID(fields.done(Kind::corrupt));
  }
  return views;
}

Result<node::GridOrder> add_order(std::string_view body) {
  const Json json = parsed(body);
  Fields fields(json);
  const std::string create = fields.text("create"), join = fields.text("join"), as = fields.text("as");
  GW_TRY_VOID(fields.done(Kind::invalid));
  if (create.empty() == join.empty())
    return fail(Kind::invalid, "a grid is either created or joined: {{\"create\": NAME}} or {{\"join\": WHAT}}");
  if (!create.empty()) return node::GridOrder(node::CreateGrid{create});
  return node::GridOrder(node::JoinGrid{join, as});
}

Result<node::GridOrder> invite_order(const wire::GridId& grid, std::string_view body) {
  const Json json = parsed(body);
  Fields fields(json);
  node::InviteToGrid order{.grid = grid};
  const std::uint64_t uses = fields.number("uses", order.uses);
  const std::uint64_t lasts = fields.number("expires_s", static_cast<std::uint64_t>(order.lasts.count()));
  if (fields.flag("admin")) order.makes = node::InviteToGrid::Makes::holder;
  order.addresses = fields.texts("addresses");
  GW_TRY_VOID(fields.done(Kind::invalid));
  constexpr std::uint64_t kMost = 1u << 30;
  if (uses > kMost || lasts > kMost) return fail(Kind::invalid, "a number is too large");
  order.uses = static_cast<std::uint32_t>(uses);
  order.lasts = std::chrono::seconds(lasts);
  return node::GridOrder(std::move(order));
}

Result<node::GridOrder> revoke_order(const wire::GridId& grid, std::string_view body) {
  const Json json = parsed(body);
  Fields fields(json);
  node::RevokeInGrid order{.grid = grid};
  for (const std::string& serial : fields.texts("serials")) order.serials.push_back(fields.take_result(parse_serial(serial)));
  for (const std::string& peer : fields.texts("peers")) order.peers.push_back({fields.take_result(parse_hash(peer))});
  GW_TRY_VOID(fields.done(Kind::invalid));
  return node::GridOrder(std::move(order));
}

namespace {

GridRequestText text_of_order(const node::CreateGrid& order) { return {"POST", "/v1/grids", dump({{"create", order.name}})}; }
GridRequestText text_of_order(const node::JoinGrid& order) {
  Json json{{"join", order.what}};
  if (!order.as.empty()) json["as"] = order.as;
  return {"POST", "/v1/grids", dump(json)};
}
GridRequestText text_of_order(const node::LeaveGrid& order) { return {"DELETE", "/v1/grids/" + order.grid.hash.hex()}; }
GridRequestText text_of_order(const node::InviteToGrid& order) {
  const Json json{{"uses", order.uses},
                  {"expires_s", order.lasts.count()},
                  {"admin", order.makes == node::InviteToGrid::Makes::holder},
                  {"addresses", order.addresses}};
  return {"POST", fmt::format("/v1/grids/{}/invitations", order.grid.hash.hex()), dump(json)};
}
GridRequestText text_of_order(const node::RevokeInGrid& order) {
  Json serials = Json::array(), peers = Json::array();
  for (const std::uint64_t serial : order.serials) serials.push_back(serial_text(serial));
  for (const job::PeerId& peer : order.peers) peers.push_back(peer.hash.hex());
  return {"POST", fmt::format("/v1/grids/{}/revocations", order.grid.hash.hex()), dump({{"serials", serials}, {"peers", peers}})};
}

}  // namespace

GridRequestText request_text(const node::GridOrder& order) {
  return std::visit([](const auto& one) { return text_of_order(one); }, order);
}

}  // namespace gw::gateway

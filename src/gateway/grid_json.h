#pragma once
// Grids and changes of grids as JSON, for gateway and client. The names are those of docs/api/openapi.yaml.

#include <string>
#include <string_view>
#include <vector>

#include "gateway/view_json.h"
#include "node/grid_control.h"

namespace gw::gateway {

Json to_json(const node::GridView& view);
Json to_json(const std::vector<node::GridView>& views);
// Kind::corrupt: the text is not what this version writes.
Result<std::vector<node::GridView>> grid_views(std::string_view text);

// The order in the body of a request. Kind::invalid: what is wrong with it.
Result<node::GridOrder> add_order(std::string_view body);
Result<node::GridOrder> invite_order(const wire::GridId& grid, std::string_view body);
Result<node::GridOrder> revoke_order(const wire::GridId& grid, std::string_view body);

// The inverse: the request for an order.
struct GridRequestText {
  std::string_view method;
  std::string target;
  std::string body = {};
};
GridRequestText request_text(const node::GridOrder& order);

std::string_view name(node::GridView::Access access);
std::string_view name(node::GridView::Role role);
std::string_view name(node::GridView::Issued::State state);
std::string serial_text(std::uint64_t serial);
// 16 hexadecimal digits. Kind::invalid.
Result<std::uint64_t> parse_serial(std::string_view text);

}  // namespace gw::gateway

// Calls about grids.

#include "gateway/grid_json.h"
#include "gateway/session.h"

namespace gw::gateway {

asio::awaitable<Session::Answer> Session::perform(const ListGrids&, std::string) {
  co_return Answer{200, dump(to_json(control_.grids())) + "\n"};
}

// `key`: how the answer calls what comes back.
asio::awaitable<Session::Answer> Session::change_grids(Result<node::GridOrder> order, unsigned status, const char* key) {
  if (!order) co_return refusal(order.error());
  const auto done = co_await answer_of<std::string>(wake_, config_.answer,
                                                    [&](auto answered) { control_.change_grids(*std::move(order), std::move(answered)); });
  co_return done ? Answer{status, dump({{key, *done}}) + "\n"} : refusal(done.error());
}

asio::awaitable<Session::Answer> Session::perform(const AddGrid&, std::string body) { return change_grids(add_order(body), 201, "id"); }

asio::awaitable<Session::Answer> Session::perform(const LeaveGrid& call, std::string) {
  return change_grids(node::GridOrder(node::LeaveGrid{call.grid}), 200, "id");
}

asio::awaitable<Session::Answer> Session::perform(const InviteToGrid& call, std::string body) {
  return change_grids(invite_order(call.grid, body), 201, "invitation");
}

asio::awaitable<Session::Answer> Session::perform(const RevokeInGrid& call, std::string body) {
  return change_grids(revoke_order(call.grid, body), 200, "id");
}

}  // namespace gw::gateway

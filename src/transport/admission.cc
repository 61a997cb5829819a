#include "transport/admission.h"

#include "base/check.h"

namespace gw::transport {

Status Admission::admit(const std::string& address) {
  if (full()) return fail(Kind::overloaded, "there are {} connections from others already", connections_);
  if (full_of_handshakes()) return fail(Kind::overloaded, "{} others are in the middle of a handshake already", handshakes_);
  const auto found = by_address_.find(address);
  const Count count = found == by_address_.end() ? Count{} : found->second;
  if (count.connections >= config_.per_address)
    return fail(Kind::overloaded, "there are {} connections from {} already", count.connections, address);
  if (count.handshakes >= config_.handshakes_per_address)
    return fail(Kind::overloaded, "{} others at {} are in the middle of a handshake already", count.handshakes, address);
  by_address_[address] = {count.connections + 1, count.handshakes + 1};
  ++connections_;
  ++handshakes_;
  return ok();
}

void Admission::on_authenticated(const std::string& address) {
  --by_address_.at(address).handshakes;
  --handshakes_;
}

void Admission::release(const std::string& address, Stage stage) {
  if (stage == Stage::handshake) on_authenticated(address);
  auto found = by_address_.find(address);
  GW_ASSERT(found != by_address_.end());
  if (--found->second.connections == 0) by_address_.erase(found);
  --connections_;
}

}  // namespace gw::transport

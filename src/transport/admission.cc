#include "transport/admission.h"

#include "base/check.h"

namespace gw::transport {

Status Admission::admit(const std::string& address) {
  if (connections_ >= config_.connections) return fail(Kind::overloaded, "there are {} connections from others already", connections_);
  if (handshakes_ >= config_.handshakes) return fail(Kind::overloaded, "{} others are in the middle of a handshake already", handshakes_);
  auto found = by_address_.find(address);
  if (found != by_address_.end() && found->second >= config_.per_address)
    return fail(Kind::overloaded, "there are {} connections from {} already", found->second, address);
  ++by_address_[address];
  ++connections_;
  ++handshakes_;
  return ok();
}

void Admission::release(const std::string& address, Stage stage) {
  auto found = by_address_.find(address);
  GW_ASSERT(found != by_address_.end());
  if (--found->second == 0) by_address_.erase(found);
  --connections_;
  if (stage == Stage::handshake) --handshakes_;
}

}  // namespace gw::transport

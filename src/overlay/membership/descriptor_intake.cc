#include "overlay/membership/descriptor_intake.h"

#include "base/planted_bug.h"
#include "base/reached.h"

namespace gw::overlay {

bool DescriptorIntake::is_admitted(Time now, const PeerId& peer) const {
  return !environment_.membership_filter || environment_.membership_filter->admits(now, peer);
}

bool DescriptorIntake::is_genuine(Time now, const Descriptor& descriptor) const {
  return is_admitted(now, descriptor.id) && overlay::is_genuine(environment_.grid, environment_.signer, descriptor);
}

void DescriptorIntake::learn(Time now, const wire::pb::Descriptor& message, Output& out) {
  learn(now, read(message, environment_.signer), out);
}

void DescriptorIntake::learn(Time now, const Descriptor& descriptor, Output& out) {
  if (descriptor.id == environment_.self || !environment_.tables.wants(descriptor)) return;
  if (!is_genuine(now, descriptor) && !GW_BUG(11)) {
    GW_REACHED("overlay: a forged descriptor");
    return;
  }
  store(now, descriptor, out);
}

std::optional<Descriptor> DescriptorIntake::learn_sender(Time now, const PeerId& from, const wire::pb::Descriptor& message, Output& out) {
  Descriptor descriptor = read(message, environment_.signer);
  descriptor.age = 0;
  if (descriptor.id != from || !is_genuine(now, descriptor)) {
    out.events.push_back(Refused{from, "it sent a descriptor of itself that it did not sign for this grid"});
    return std::nullopt;
  }
  store(now, descriptor, out);
  return descriptor;
}

void DescriptorIntake::store(Time now, const Descriptor& descriptor, Output& out) {
  environment_.rejoin.on_found(descriptor.address);
  environment_.tables.store(now, descriptor, out);
}

}  // namespace gw::overlay

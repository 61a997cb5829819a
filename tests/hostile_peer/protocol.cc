#include "protocol.h"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <fstream>

#include "base/check.h"

namespace gw::hostile {

std::string MessageKind::name() const {
  std::string name;
  for (const pb::FieldDescriptor* field : path) name += (name.empty() ? "" : ".") + field->name();
  return name;
}

pb::Message& descend(pb::Message& message, const MessageKind& kind) {
  pb::Message* at = &message;
  for (const pb::FieldDescriptor* field : kind.path) at = at->GetReflection()->MutableMessage(at, field);
  return *at;
}

Result<Protocol> Protocol::load(const char* descriptor_file) {
  std::ifstream file(descriptor_file, std::ios::binary);
  pb::FileDescriptorSet files;
  if (!files.ParseFromIstream(&file)) return fail(Kind::corrupt, "{} holds no descriptors of messages", descriptor_file);
  Protocol protocol;
  protocol.pool_ = std::make_unique<pb::DescriptorPool>();
  for (const pb::FileDescriptorProto& one : files.file())
    if (protocol.pool_->BuildFile(one) == nullptr) return fail(Kind::corrupt, "{} cannot be understood: {}", descriptor_file, one.name());
  protocol.root_ = protocol.pool_->FindMessageTypeByName("gw.wire.pb.PeerMessage");
  if (protocol.root_ == nullptr) return fail(Kind::corrupt, "{} knows no PeerMessage", descriptor_file);
  protocol.factory_ = std::make_unique<pb::DynamicMessageFactory>(protocol.pool_.get());
  MessageKind none;
  protocol.collect(*protocol.root_, none);
  return protocol;
}

// A message that has a oneof `kind` is an envelope around others.
void Protocol::collect(const pb::Descriptor& type, MessageKind& prefix) {
  const pb::OneofDescriptor* kind = type.FindOneofByName("kind");
  if (kind == nullptr) {
    kinds_.push_back(prefix);
    return;
  }
  for (int i = 0; i < kind->field_count(); ++i) {
    if (kind->field(i)->message_type() == nullptr) continue;
    prefix.path.push_back(kind->field(i));
    collect(*kind->field(i)->message_type(), prefix);
    prefix.path.pop_back();
  }
}

std::unique_ptr<pb::Message> Protocol::make(const std::string& type) const {
  const pb::Descriptor* found = pool_->FindMessageTypeByName("gw.wire.pb." + type);
  GW_ASSERT(found != nullptr);
  return std::unique_ptr<pb::Message>(factory_->GetPrototype(found)->New());
}

const MessageKind& Protocol::kind(const std::string& last_name) const {
  const auto found = std::ranges::find_if(kinds_, [&](const MessageKind& kind) { return kind.path.back()->name() == last_name; });
  GW_ASSERT(found != kinds_.end());
  return *found;
}

std::string Protocol::kind_of(const std::string& encoded) const {
  const auto message = make();
  if (!message->ParseFromString(encoded)) return "?";
  const pb::Message* at = message.get();
  std::string name;
  while (const pb::OneofDescriptor* kind = at->GetDescriptor()->FindOneofByName("kind")) {
    if (!at->GetReflection()->HasOneof(*at, kind)) break;
    const pb::FieldDescriptor* field = at->GetReflection()->GetOneofFieldDescriptor(*at, kind);
    name += (name.empty() ? "" : ".") + field->name();
    if (field->message_type() == nullptr) break;
    at = &at->GetReflection()->GetMessage(*at, field);
  }
  return name.empty() ? "?" : name;
}

}  // namespace gw::hostile

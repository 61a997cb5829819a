#pragma once
// The messages between peers, known by reflection.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace gw::hostile {

namespace pb = google::protobuf;

// A kind of message: the fields to set on the path from PeerMessage down to it.
struct MessageKind {
  std::vector<const pb::FieldDescriptor*> path;

  std::string name() const;
};

// The message of the kind, made if it is not there.
pb::Message& descend(pb::Message& message, const MessageKind& kind);

// PeerMessage as the .proto files have it today. A field that is added, or a kind, is attacked without a change here.
class Protocol {
 public:
  static Result<Protocol> load(const char* descriptor_file);

  const std::vector<MessageKind>& kinds() const { return kinds_; }
  std::unique_ptr<pb::Message> make() const { return std::unique_ptr<pb::Message>(factory_->GetPrototype(root_)->New()); }
  // REQUIRES: there is such a type, such a kind.
  std::unique_ptr<pb::Message> make(const std::string& type) const;
  const MessageKind& kind(const std::string& last_name) const;
  // The name of the kind that is set in a message that came; "?" if it cannot be read.
  std::string kind_of(const std::string& encoded) const;

 private:
  Protocol() = default;
  void collect(const pb::Descriptor& type, MessageKind& prefix);

  std::unique_ptr<pb::DescriptorPool> pool_;
  std::unique_ptr<pb::DynamicMessageFactory> factory_;
  const pb::Descriptor* root_ = nullptr;
  std::vector<MessageKind> kinds_;
};

}  // namespace gw::hostile

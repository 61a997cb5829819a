#pragma once
// A job that the stranger leads itself.

#include <map>
#include <optional>
#include <string>

#include "protocol.h"
#include "transport/identity/identity.h"

namespace gw::hostile {

// Charter, roster and grants are signed as they should be, with the stranger's own key: everything that a stranger may do by right, and so
// can overdo. The target is host and keeper in it, and so is the stranger. The program is none: bytes that no engine takes.
class OwnJob {
 public:
  OwnJob(const Protocol& protocol, const transport::Identity& self, const transport::PeerId& target, std::uint64_t nonce);

  const std::string& id() const { return id_; }
  std::unique_ptr<pb::Message> charter() const;
  std::unique_ptr<pb::Message> roster() const;
  // For the stranger to write at the target.
  std::unique_ptr<pb::Message> grant(std::uint64_t thread, std::uint64_t epoch, std::uint64_t keeper_generation) const;
  // For slots of the target, in the grid with that id: query and home's descriptor are signed as they should be.
  std::unique_ptr<pb::Message> search(const std::string& grid, std::uint64_t slots, std::uint32_t protocol_version) const;
  // A PeerMessage of this kind, with the envelope filled in.
  std::unique_ptr<pb::Message> message(const std::string& kind, std::uint32_t protocol_version) const;

  // Bytes that the job names; the target asks for them.
  std::string add_blob(std::string bytes);  // its hash
  std::optional<std::string> blob(const std::string& hash) const;

 private:
  std::string manifest();
  std::string sign(std::string_view title, const std::string& content) const;
  std::unique_ptr<pb::Message> envelope(const char* type, const char* content_field, const std::string& content,
                                        std::string_view title) const;

  const Protocol& protocol_;
  const transport::Identity& self_;
  const std::string self_id_, target_id_;
  std::string charter_, id_;
  std::map<std::string, std::string> blobs_;
};

// Fields by their names; a name that the message does not have ends the program, since an attack that misses its field is none.
void set(pb::Message& message, const char* field, std::string value);
void set(pb::Message& message, const char* field, std::uint64_t value);
void add(pb::Message& message, const char* field, std::string value);
std::string get_text(const pb::Message& message, const char* field);
std::uint64_t get_number(const pb::Message& message, const char* field);
pb::Message& sub(pb::Message& message, const char* field);
pb::Message& add_sub(pb::Message& message, const char* field);

}  // namespace gw::hostile

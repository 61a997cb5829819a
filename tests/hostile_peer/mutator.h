#pragma once
// Messages that look right, and the same with one field out of range.

#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "own_job.h"
#include "protocol.h"

namespace gw::hostile {

// Values that the stranger has received: ids and numbers of real peers and jobs.
struct Knowledge {
  std::uint32_t protocol = 0;
  std::vector<std::string> jobs;  // 32 bytes each, as are the next two
  std::vector<std::string> peers;
  std::vector<std::string> grids;
  std::vector<std::uint64_t> threads;
};

// A place in a message where a value can be wrong: a field, or one element of a repeated one.
struct Site {
  pb::Message* message;
  const pb::FieldDescriptor* field;
  int index;  // -1: the field itself
};

class Mutator {
 public:
  Mutator(const Protocol& protocol, Knowledge knowledge, std::uint64_t seed);

  // From now on messages are about this job, whose leader sends them. It outlives them.
  void speak_of(const OwnJob* job) { own_ = job; }
  void set_claim(std::uint64_t claim) { claim_ = claim; }
  // A message of this kind with every field set to something that is, or could be, real.
  std::unique_ptr<pb::Message> plausible(const MessageKind& kind);
  // All sites of it, in the same order for each message of the kind.
  static std::vector<Site> sites(pb::Message& message);
  static int variants(const Site& site);
  // The variants of a field are its edges: too small, too large, too long, too many, absent.
  void mutate(const Site& site, int variant);

 private:
  void fill(pb::Message& message, int depth);
  bool fill_proof(pb::Message& message);
  void fill_field(pb::Message& message, const pb::FieldDescriptor& field, int depth);
  std::string some_bytes(const pb::FieldDescriptor& field);
  std::uint64_t some_number(const pb::FieldDescriptor& field, int depth);
  std::string random_bytes(std::size_t size);

  const Protocol& protocol_;
  Knowledge knowledge_;
  Rng rng_;
  const OwnJob* own_ = nullptr;
  std::uint64_t claim_ = 1;
  std::uint64_t thread_ = 1;  // that the message being made is about
};

}  // namespace gw::hostile

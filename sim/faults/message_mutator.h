#pragma once
// Changes one field of a message to a wrong value.

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "base/rng.h"
#include "encoded_message.h"

namespace gw::sim {

// Changes one field of a message: to an edge of its range, to a value seen in another message, to nothing, or to two copies of it. The
// mutator uses no schema, so that it changes new fields and kinds too. A value; its choices follow from the seed.
class MessageMutator {
 public:
  explicit MessageMutator(Rng rng) : rng_(rng) {}

  // Remembers the values of this message for later mutations.
  void learn(const EncodedMessage& message);
  // Changes one field inside `message`, at any depth. A message without fields stays unchanged.
  void mutate(EncodedMessage& message);

 private:
  // A field, and the message that has it.
  struct Site {
    EncodedMessage* owner;
    std::size_t index;
  };

  static void collect(EncodedMessage& message, std::vector<Site>& sites);
  void mutate(const Site& site);
  void mutate_number(EncodedField& field);
  void mutate_bytes(EncodedField& field);
  bool swap_number(EncodedField& field);
  bool swap_bytes(EncodedField& field);
  Bytes random_bytes(std::size_t size);

  Rng rng_;
  std::deque<std::uint64_t> numbers_;                 // seen
  std::map<std::size_t, std::deque<Bytes>> strings_;  // seen, by their size
};

}  // namespace gw::sim

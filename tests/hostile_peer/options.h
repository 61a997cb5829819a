#pragma once
// The command-line options of the stranger.

#include <cstdint>
#include <string>

#include "mutator.h"
#include "transport/transport.h"

namespace gw::hostile {

struct Options {
  transport::Endpoint target;
  std::string attack = "flood";
  std::uint64_t seed = 1;
  std::uint64_t messages = ~std::uint64_t{0};  // at most so many
  std::uint64_t mebibytes = 512;               // of fill-disk: so many are offered
  std::uint64_t jobs = 64;                     // of hold-slots
  std::uint64_t seconds = 5;                   // of hold-slots: so long they are held
  std::string kind;                            // of flood: this one only
  Knowledge knowledge;
};

// Kind::invalid.
Result<Options> parse_options(int count, char** words);

}  // namespace gw::hostile

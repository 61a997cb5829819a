// godwit-hostile-peer HOST:PORT [--option VALUE]...
//
// A stranger with a key of its own, and what it has found out (--job, --peer, --grid, --thread, --protocol), against one daemon.
// --attack flood: every kind of message with every field out of range, or --messages of them, drawn by --seed, as a stranger without
// rights.
// --attack lead: the same as the leader of a job of its own. --attack baseline, lead-baseline: each kind once with nothing wrong in it.
// --attack fill-disk, hold-slots: as the leader of jobs of its own, without end.
// Prints one line for each kind of message that came back, then a summary. Exit code 1: the target is gone.

#include <fmt/core.h>
#include <google/protobuf/stubs/logging.h>

#include "flood.h"
#include "overuse.h"

namespace gw::hostile {
namespace {

Result<int> run(int count, char** words) {
  pb::SetLogHandler(nullptr);  // text that is no text is what we want to send
  GW_TRY(const Options options, parse_options(count, words));
  GW_TRY(const Protocol protocol, Protocol::load(GODWIT_DESCRIPTORS));
  if (options.attack == "flood") return Flood(protocol, options, Flood::As::stranger).run();
  if (options.attack == "lead") return Flood(protocol, options, Flood::As::leader).run();
  if (options.attack == "baseline") return Flood(protocol, options, Flood::As::stranger).print_baseline();
  if (options.attack == "lead-baseline") return Flood(protocol, options, Flood::As::leader).print_baseline();
  if (options.attack == "fill-disk") return Overuse(protocol, options).fill_disk();
  if (options.attack == "hold-slots") return Overuse(protocol, options).hold_slots();
  return fail(Kind::invalid, "'{}' is no attack", options.attack);
}

}  // namespace
}  // namespace gw::hostile

int main(int count, char** words) {
  const auto done = gw::hostile::run(count, words);
  if (done) return *done;
  fmt::print(stderr, "godwit-hostile-peer: {}\n", done.error().detail);
  return 2;
}

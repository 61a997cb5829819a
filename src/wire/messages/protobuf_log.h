#pragma once
// The library of the messages prints to stderr when it refuses one, once for every bad message of a stranger. Refusals are ours to report:
// where a message is refused the sender, the kind and the reason are known.

namespace gw::wire {

// Sends the library's own lines to the log, as debug lines. Called once, first in main.
void log_protobuf_quietly();

}  // namespace gw::wire

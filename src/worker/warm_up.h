#pragma once
// Initialization that has to happen once before the cage is shut.

namespace gw::worker {

// Makes libraries that open files on first use open them now.
void warm_up();

}  // namespace gw::worker

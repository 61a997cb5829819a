#pragma once
// Which engine compiled code belongs to.

#include <string>

namespace gw::isolate {

// Flags every engine of ours is started with.
extern const char kEngineFlags[];

// Changes whenever compiled code of one process could not be used in another: version and flags of the engine, features of the processor.
// Known without loading the engine, so that processes can look into the code cache which never run a guest. The version is that of the
// headers this program was built with; should the library be another one, it refuses the code itself.
std::string engine_fingerprint();

}  // namespace gw::isolate

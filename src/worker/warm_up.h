#pragma once
// Makes the engine do once what it may not do for the first time inside the cage.

#include "isolate/engine.h"

namespace gw::worker {

Status warm_up(isolate::Engine& engine);

}  // namespace gw::worker

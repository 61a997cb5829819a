#pragma once
// What has to happen once before the cage is shut.

namespace gw::worker {

// Libraries that open files when they are first used do so now.
void warm_up();

}  // namespace gw::worker

#pragma once

namespace gw::os {

// Raises the number of descriptors this process may have to what the system allows it at all. The usual 1,024 are fewer than the
// connections a daemon admits, which would leave none for its files.
void raise_descriptor_limit();

}  // namespace gw::os

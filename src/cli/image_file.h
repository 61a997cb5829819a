#pragma once

#include <string>

#include "base/result.h"
#include "wire/image.h"

namespace gw::cli {

// Reads and decodes an image. The content of its pages is checked when they are used.
Result<wire::Image> read_image(const std::string& file);

}  // namespace gw::cli

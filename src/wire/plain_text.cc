#include "wire/plain_text.h"

#include <cstddef>

namespace gw::wire {

void make_plain(std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) text[i] = ' ';
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) text[i] = text[i + 1] = ' ';
  }
}

}  // namespace gw::wire

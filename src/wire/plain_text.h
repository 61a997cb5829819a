#pragma once
// Makes text of strangers safe to print.

#include <string>

namespace gw::wire {

// Every control character (C0, DEL, and the C1 set as UTF-8 has it) becomes a space, so that the text moves no cursor, ends no line and
// starts no escape sequence. REQUIRES: UTF-8, as every decoded string field is.
void make_plain(std::string& text);

}  // namespace gw::wire

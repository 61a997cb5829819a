#pragma once
// Makes text of strangers safe to print.

#include <cstddef>
#include <string>
#include <string_view>

namespace gw::wire {

// Every control character (C0, DEL, and the C1 set as UTF-8 has it) becomes a space, so that the text moves no cursor, ends no line and
// starts no escape sequence. REQUIRES: UTF-8, as every decoded string field is.
void make_plain(std::string& text);

// As make_plain, but keeps newlines, each with two spaces behind it: a line of a stranger cannot be taken for one of ours.
void make_plain_lines(std::string& text);

// At most `limit` bytes of any bytes as plain UTF-8: what is no UTF-8 or a control character becomes '?'.
std::string plain_text(std::string_view bytes, std::size_t limit);

}  // namespace gw::wire

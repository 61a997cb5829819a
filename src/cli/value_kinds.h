#pragma once
// What the placeholders in the help stand for. One table decides which words are accepted, and what the shells offer.

#include <string>
#include <string_view>
#include <vector>

namespace gw::cli {

enum class ValueKind { text, file, folder, choice };

ValueKind value_kind(std::string_view placeholder);

// The words a placeholder stands for, if value_kind() is choice; else none.
std::vector<std::string> choices_of(std::string_view placeholder);

}  // namespace gw::cli

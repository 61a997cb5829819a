#pragma once
// The values that placeholders in the help stand for. One table decides which words are accepted and which the shells offer.

#include <string>
#include <string_view>
#include <vector>

namespace gw::cli {

// live: something that the daemon knows, such as a job.
enum class ValueKind { text, file, folder, choice, live };

ValueKind value_kind(std::string_view placeholder);

// The choices of a placeholder; empty unless its value_kind() is choice.
std::vector<std::string> choices_of(std::string_view placeholder);

// The word for `godwit complete` that lists the values of a placeholder; empty unless its value_kind() is live.
std::string_view live_values_of(std::string_view placeholder);

}  // namespace gw::cli

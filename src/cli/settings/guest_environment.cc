#include "cli/settings/guest_environment.h"

#include <cstdlib>

namespace gw::cli {

Result<std::vector<std::string>> guest_environment(const std::vector<std::string>& words) {
  std::vector<std::string> environment;
  for (const std::string& word : words) {
    const std::size_t sign = word.find('=');
    if (word.empty() || sign == 0)
      return fail(Kind::invalid, "--env '{}' has no name: write NAME=VALUE, or NAME to pass on a variable of this shell", word);
    if (sign != std::string::npos) {
      environment.push_back(word);
      continue;
    }
    const char* const value = std::getenv(word.c_str());
    if (value == nullptr) return fail(Kind::invalid, "--env {}: this variable is not set: write {}=VALUE", word, word);
    environment.push_back(word + "=" + value);
  }
  return environment;
}

}  // namespace gw::cli

#include "options.h"

#include <charconv>
#include <functional>
#include <map>

namespace gw::hostile {
namespace {

std::uint64_t number(const std::string& text, int base = 10) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::string unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) bytes.push_back(static_cast<char>(number(text.substr(i, 2), 16)));
  return bytes;
}

}  // namespace

Result<Options> parse_options(int count, char** words) {
  if (count < 2 || count % 2 != 0) return fail(Kind::invalid, "usage: godwit-hostile-peer HOST:PORT [--option VALUE]...");
  Options options;
  const std::string target = words[1];
  const auto colon = target.rfind(':');
  options.target = {transport::asio::ip::make_address(target.substr(0, colon)),
                    static_cast<std::uint16_t>(number(target.substr(colon + 1)))};
  Knowledge& known = options.knowledge;
  const std::map<std::string, std::function<void(const std::string&)>> takers{
      {"--attack", [&](const std::string& value) { options.attack = value; }},
      {"--seed", [&](const std::string& value) { options.seed = number(value); }},
      {"--messages", [&](const std::string& value) { options.messages = number(value); }},
      {"--mebibytes", [&](const std::string& value) { options.mebibytes = number(value); }},
      {"--jobs", [&](const std::string& value) { options.jobs = number(value); }},
      {"--seconds", [&](const std::string& value) { options.seconds = number(value); }},
      {"--kind", [&](const std::string& value) { options.kind = value; }},
      {"--protocol", [&](const std::string& value) { known.protocol = static_cast<std::uint32_t>(number(value)); }},
      {"--job", [&](const std::string& value) { known.jobs.push_back(unhex(value)); }},
      {"--peer", [&](const std::string& value) { known.peers.push_back(unhex(value)); }},
      {"--grid", [&](const std::string& value) { known.grids.push_back(unhex(value)); }},
      {"--thread", [&](const std::string& value) { known.threads.push_back(number(value, 16)); }}};
  for (int i = 2; i < count; i += 2) {
    const auto found = takers.find(words[i]);
    if (found == takers.end()) return fail(Kind::invalid, "{} is no option", words[i]);
    found->second(words[i + 1]);
  }
  if (known.grids.empty()) return fail(Kind::invalid, "--grid is missing: the id of the grid of the target");
  return options;
}

}  // namespace gw::hostile

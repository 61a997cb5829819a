#include "job/authority/task_config.h"

#include <fmt/core.h>

#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/names.h"

namespace gw::job {
namespace {

constexpr std::string_view kPlaceholder = "{}";

void substitute(std::string& text, std::string_view number) {
  for (auto at = text.find(kPlaceholder); at != std::string::npos; at = text.find(kPlaceholder, at + number.size()))
    text.replace(at, kPlaceholder.size(), number);
}

}  // namespace

wire::pb::ThreadConfig config_of_task(const wire::pb::ThreadConfig& shared, std::uint32_t task, std::uint32_t tasks) {
  wire::pb::ThreadConfig config = shared;
  if (tasks > 0) {
    const std::string number = std::to_string(task);
    for (std::string& argument : *config.mutable_args()) substitute(argument, number);
    for (std::string& variable : *config.mutable_env()) substitute(variable, number);
    config.add_env("GODWIT_TASK=" + number);
    config.add_env(fmt::format("GODWIT_TASKS={}", tasks));
  }
  ByteWriter seed;
  seed.bytes(as_bytes(shared.random_seed()));
  seed.u32(task);
  config.set_random_seed(wire::bytes_of(sha256(seed.take())));
  return config;
}

}  // namespace gw::job

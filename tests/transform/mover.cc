// godwit-mover MODULE EVERY [SEED]: runs a module that counts its polls, and moves it to a new isolate after every EVERY-th poll, or, with
// a seed, after 0 to EVERY polls at random. Prints what the program prints, and to standard error how often it moved. All in one process:
// a move takes a millisecond, where one by the command takes fifty.

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "base/rng.h"
#include "os/files/file.h"
#include "transform/program_run.h"

namespace gw::transform {
namespace {

constexpr std::size_t kMaxModuleBytes = 256u << 20;
constexpr unsigned kMovesMax = 3000;  // then to the end
constexpr int kFailed = 70;

int exit_code_of(const isolate::Stop& stop) {
  const auto* exited = std::get_if<isolate::Exited>(&stop);
  return exited ? static_cast<int>(exited->code) : kFailed;
}

Result<int> move_all_the_time(const char* path, std::uint32_t every, std::optional<std::uint64_t> seed) {
  GW_TRY(Bytes wasm, os::read_file(path, kMaxModuleBytes));
  Stage stage;
  GW_TRY(auto module, stage.engine().load(std::move(wasm)));
  GW_TRY(auto run, ProgramRun::start(stage, module));
  Rng rng(seed.value_or(0));
  unsigned moves = 0;
  run->resume(0);
  while (run->can_go_on()) {
    if (moves < kMovesMax) {
      ++moves;
      GW_TRY_VOID(run->move());
      run->resume(seed ? static_cast<std::uint32_t>(rng.below(every + 1)) : every);
    } else {
      run->resume();
    }
  }
  std::fwrite(run->output().data(), 1, run->output().size(), stdout);
  std::fflush(stdout);
  fmt::print(stderr, "{}{} after {} moves\n", run->errors(), isolate::describe(run->stop()), moves);
  return exit_code_of(run->stop());
}

}  // namespace
}  // namespace gw::transform

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: godwit-mover MODULE EVERY [SEED]\n");
    return 2;
  }
  const auto every = static_cast<std::uint32_t>(std::strtoul(words[2], nullptr, 10));
  const auto seed = count > 3 ? std::optional(std::uint64_t{std::strtoull(words[3], nullptr, 10)}) : std::nullopt;
  auto code = gw::transform::move_all_the_time(words[1], every, seed);
  if (code) return *code;
  fmt::print(stderr, "{}\n", code.error().detail);
  return gw::transform::kFailed;
}

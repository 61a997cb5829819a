// Enters the same cage as godwit-worker and then does what a guest would that has broken out of the engine:
//   escape_worker ATTACK LOCKS TCP_PORT FOLDER PARENT_ADDRESS
// LOCKS are the numbers of the locks left open, each with a comma behind it, after a comma. Exits with 42 if the attack worked, with 0 if
// it was refused.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "attacks.h"
#include "os/cage/cage.h"

int main(int argc, char** argv) {
  using namespace gw;
  constexpr int kWorked = 42, kBroken = 99;
  if (argc != 6) return kBroken;
  os::CagePlan plan{.keep = {0, 1, 2},
                    .data_bytes = test::kDataBytes,
                    .file_bytes = test::kFileBytes,
                    .descriptors = test::kDescriptors,
                    .threads = test::kThreads,
                    .cpu_time = std::chrono::seconds(test::kCpuSeconds),
                    .left_open = {}};
  for (const char* lock = std::strtok(argv[2], ","); lock != nullptr; lock = std::strtok(nullptr, ","))
    plan.left_open.insert(static_cast<os::Lock>(std::atoi(lock)));
  const test::Targets targets{.tcp_port = std::atoi(argv[3]),
                              .folder = argv[4],
                              .parent = ::getppid(),
                              .parent_memory = reinterpret_cast<const void*>(std::strtoull(argv[5], nullptr, 0))};
  const auto attacks = test::attacks();
  const auto attack = std::ranges::find(attacks, std::string_view(argv[1]), &test::Attack::name);
  auto cage = os::Cage::enter(std::move(plan));
  if (attack == attacks.end() || !cage || !cage->shut()) return kBroken;
  ::_exit(attack->attempt(targets) ? kWorked : 0);
}

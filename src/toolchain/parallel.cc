#include "toolchain/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace gw::toolchain {

Status for_each_in_parallel(std::size_t count, const std::function<Status(std::size_t)>& job) {
  std::vector<Status> results(count);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++) {
      results[i] = job(i);
      if (!results[i]) failed = true;
    }
  };
  {
    const std::size_t workers = std::min<std::size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
    work();
  }
  for (Status& result : results) GW_TRY_VOID(std::move(result));
  return ok();
}

}  // namespace gw::toolchain

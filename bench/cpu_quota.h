#pragma once
// A slower machine: processes that may use only a part of a processor.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gw::bench {

// A control group of this machine's root, version 1 or 2, that is removed with the object. The period is short, so that its processes run
// slowly rather than in turns. Needs root.
class CpuQuota {
 public:
  // Kind::unsupported: no control group for processor time can be made here.
  static Result<CpuQuota> make(double processors);
  CpuQuota(CpuQuota&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  ~CpuQuota();

  // The words before a command that runs in the group.
  std::vector<std::string> enter() const;

 private:
  explicit CpuQuota(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

}  // namespace gw::bench

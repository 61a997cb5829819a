#include "node/share.h"

#include <fmt/core.h>

#include <sstream>

#include "os/files/file.h"

namespace gw::node {
namespace {

constexpr std::uint32_t kMaxCores = 4096;
constexpr std::uint64_t kMinMemory = 64u << 20;
constexpr std::size_t kMaxFileBytes = 4096;

Status check_share(const Share& share) {
  if (share.cores > kMaxCores) return fail(Kind::invalid, "cannot share {} cores: give 0 to {}", share.cores, kMaxCores);
  if (share.memory_bytes != 0 && share.memory_bytes < kMinMemory)
    return fail(Kind::invalid, "{} bytes of memory are too few to run a program: give 64M or more, or 0 for no limit", share.memory_bytes);
  if (share.cpu_percent < 1 || share.cpu_percent > 100)
    return fail(Kind::invalid, "cannot share {} % of the CPU: give 1% to 100%", share.cpu_percent);
  return ok();
}

}  // namespace

Result<Share> changed(const Share& share, const ShareChange& change) {
  const Share next{.cores = change.cores.value_or(share.cores),
                   .memory_bytes = change.memory_bytes.value_or(share.memory_bytes),
                   .cpu_percent = change.cpu_percent.value_or(share.cpu_percent),
                   .slots_per_peer = change.slots_per_peer.value_or(share.slots_per_peer),
                   .jobs_per_peer = change.jobs_per_peer.value_or(share.jobs_per_peer),
                   .disk_bytes = change.disk_bytes.value_or(share.disk_bytes),
                   .disk_bytes_per_peer = change.disk_bytes_per_peer.value_or(share.disk_bytes_per_peer),
                   .disk_bytes_per_job = change.disk_bytes_per_job.value_or(share.disk_bytes_per_job),
                   .disk_bytes_per_grid = change.disk_bytes_per_grid.value_or(share.disk_bytes_per_grid)};
  GW_TRY_VOID(check_share(next));
  return next;
}

job::Budget::Limits budget_of(const Share& share) {
  job::Budget::Limits limits;
  if (share.disk_bytes != 0) limits.all.bytes = share.disk_bytes;
  limits.origin.bytes = share.disk_bytes_per_peer != 0 ? share.disk_bytes_per_peer : limits.all.bytes / 2;
  limits.job.bytes = share.disk_bytes_per_job != 0 ? share.disk_bytes_per_job : limits.all.bytes / 4;
  limits.grid.bytes = share.disk_bytes_per_grid != 0 ? share.disk_bytes_per_grid : limits.all.bytes - limits.all.bytes / 4;
  return limits;
}

Result<std::optional<Share>> load_share(const std::filesystem::path& file) {
  const auto bytes = os::read_file(file, kMaxFileBytes);
  if (!bytes && bytes.error().kind == Kind::not_found) return std::optional<Share>();
  if (!bytes) return bytes.error();
  std::istringstream in{std::string(as_text(*bytes))};
  Share share;
  std::string cores, memory, cpu, slots, jobs, more;
  in >> cores >> share.cores >> memory >> share.memory_bytes >> cpu >> share.cpu_percent >> slots >> share.slots_per_peer >> jobs >>
      share.jobs_per_peer;
  bool whole = !in.fail() && cores == "cores" && memory == "memory_bytes" && cpu == "cpu_percent" && slots == "slots_per_peer" &&
               jobs == "jobs_per_peer";
  // Files of earlier versions end here.
  for (const auto& [name, value] :
       {std::pair("disk_bytes", &share.disk_bytes), std::pair("disk_bytes_per_peer", &share.disk_bytes_per_peer),
        std::pair("disk_bytes_per_job", &share.disk_bytes_per_job), std::pair("disk_bytes_per_grid", &share.disk_bytes_per_grid)})
    if (whole && in >> more) whole = more == name && static_cast<bool>(in >> *value);
  whole = whole && !(in >> more);
  if (!whole || !check_share(share)) return fail(Kind::corrupt, "{} is damaged: remove it and set the share again", file.string());
  return std::optional(share);
}

Status save_share(const std::filesystem::path& file, const Share& share) {
  const std::string text = fmt::format(
      "cores {}\nmemory_bytes {}\ncpu_percent {}\nslots_per_peer {}\njobs_per_peer {}\ndisk_bytes {}\ndisk_bytes_per_peer {}\n"
      "disk_bytes_per_job {}\ndisk_bytes_per_grid {}\n",
      share.cores, share.memory_bytes, share.cpu_percent, share.slots_per_peer, share.jobs_per_peer, share.disk_bytes,
      share.disk_bytes_per_peer, share.disk_bytes_per_job, share.disk_bytes_per_grid);
  return os::write_file_atomic(file, as_bytes(text));
}

}  // namespace gw::node

#include "isolate/memory/memory_watch.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace gw::isolate {
namespace {

// From linux/fs.h and linux/userfaultfd.h of kernel 6.7; Debian 12's headers are older.
struct PageRegion {
  std::uint64_t start, end, categories;
};
struct ScanArgument {
  std::uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  std::uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long kScanRequest = _IOWR('f', 16, ScanArgument);
constexpr std::uint64_t kWritten = 1u << 1, kFile = 1u << 2, kPresent = 1u << 3, kSwapped = 1u << 4, kZeroPage = 1u << 5;
constexpr std::uint64_t kProtectMatching = 1u << 0, kCheckTracked = 1u << 1;
constexpr std::uint64_t kAsyncWriteProtection = 1u << 15;
constexpr int kUserModeOnly = 1;

constexpr std::size_t kSystemPage = 4096;
constexpr std::size_t kRegionsPerScan = 256;

// Entries of /proc/self/pagemap.
constexpr std::uint64_t kEntryPresent = 1ull << 63, kEntrySwapped = 1ull << 62, kEntryFile = 1ull << 61;

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

os::UniqueFd open_userfaultfd() {
  os::UniqueFd fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly)));
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = kAsyncWriteProtection;
  if (!fd || ioctl(fd.get(), UFFDIO_API, &api) != 0) return {};
  return fd;
}

// Memory that is given back in the end.
struct Mapping {
  explicit Mapping(std::size_t size)
      : bytes(size), base(static_cast<std::uint8_t*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    GW_ASSERT(base != MAP_FAILED);
  }
  ~Mapping() { munmap(base, bytes); }
  std::size_t bytes;
  std::uint8_t* base;
};

}  // namespace

// Which pages a scan finds, and what it does with them.
struct MemoryWatch::Query {
  std::uint64_t required = 0, forbidden = 0, any_of = 0;
  std::uint64_t flags = 0;
};

MemoryWatch::MemoryWatch(Use use) {
  if (use == Use::nothing) return;
  pagemap_.reset(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap_) return;
  Mapping probe(2 * kSystemPage);
  Range range(probe.base, probe.bytes);
  has_scan_ = scan(range, {.required = kPresent}, [](auto, auto) {}).has_value();
  if (use == Use::no_tracking || !has_scan_) return;

  // A system may have the calls and still not do it: try.
  faults_ = open_userfaultfd();
  if (!faults_) return;
  std::size_t seen = 0;
  auto count = [&](auto, std::size_t bytes) { seen += bytes; };
  std::memset(probe.base, 1, probe.bytes);
  bool works = track(range).has_value() && written(range, count).has_value() && seen == 0;
  probe.base[kSystemPage] = 2;
  works = works && written(range, count).has_value() && seen == kSystemPage;
  if (!works) faults_.reset();
}

std::vector<int> MemoryWatch::descriptors() const {
  std::vector<int> list;
  if (pagemap_) list.push_back(pagemap_.get());
  if (faults_) list.push_back(faults_.get());
  return list;
}

void MemoryWatch::present(Range range, const Visitor& visit) const {
  if (has_scan_ && scan(range, {.forbidden = kZeroPage, .any_of = kPresent | kSwapped}, visit)) return;
  if (pagemap_ && read_pagemap(range, Entries::all, visit)) return;
  visit(range.first, range.second);
}

void MemoryWatch::not_of_file(Range range, const Visitor& visit) const {
  if (has_scan_ && scan(range, {.forbidden = kZeroPage | kFile, .any_of = kPresent | kSwapped}, visit)) return;
  if (pagemap_ && read_pagemap(range, Entries::not_of_file, visit)) return;
  visit(range.first, range.second);
}

Status MemoryWatch::track(Range range) {
  GW_ASSERT(can_track());
  uffdio_register request{};
  request.range = {address(range.first), range.second};
  request.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(faults_.get(), UFFDIO_REGISTER, &request) != 0)
    return fail(Kind::internal, "the kernel does not track writes to {} bytes of memory: {}", range.second, std::strerror(errno));
  return written(range, [](auto, auto) {});
}

Status MemoryWatch::written(Range range, const Visitor& visit) const {
  return scan(range, {.required = kWritten, .flags = kProtectMatching | kCheckTracked}, visit);
}

Status MemoryWatch::scan(Range range, const Query& query, const Visitor& visit) const {
  std::array<PageRegion, kRegionsPerScan> regions;
  ScanArgument argument{};
  argument.size = sizeof argument;
  argument.flags = query.flags;
  argument.end = address(range.first) + range.second;
  argument.regions = address(regions.data());
  argument.region_count = regions.size();
  argument.category_mask = query.required | query.forbidden;
  argument.category_inverted = query.forbidden;
  argument.category_anyof_mask = query.any_of;
  argument.return_mask = query.required | query.forbidden;
  for (argument.walk_end = address(range.first); argument.walk_end < argument.end;) {
    argument.start = argument.walk_end;
    long count = ioctl(pagemap_.get(), kScanRequest, &argument);
    if (count < 0) return fail(Kind::internal, "the kernel does not scan {} bytes of memory: {}", range.second, std::strerror(errno));
    for (const PageRegion& region : std::span(regions).first(static_cast<std::size_t>(count)))
      visit(range.first + (region.start - address(range.first)), region.end - region.start);
  }
  return ok();
}

bool MemoryWatch::read_pagemap(Range range, Entries which, const Visitor& visit) const {
  std::vector<std::uint64_t> entries(range.second / kSystemPage);
  std::size_t wanted = entries.size() * sizeof entries[0];
  auto offset = static_cast<off_t>(address(range.first) / kSystemPage * sizeof entries[0]);
  if (pread(pagemap_.get(), entries.data(), wanted, offset) != static_cast<ssize_t>(wanted)) return false;
  const std::uint64_t unwanted = which == Entries::not_of_file ? kEntryFile : 0;
  for (std::size_t i = 0; i < entries.size(); i++) {
    if ((entries[i] & (kEntryPresent | kEntrySwapped)) != 0 && (entries[i] & unwanted) == 0)
      visit(range.first + i * kSystemPage, kSystemPage);
  }
  return true;
}

}  // namespace gw::isolate

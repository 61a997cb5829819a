#include "job/host/job_ages.h"

#include <algorithm>

namespace gw::job {
namespace {

// Makes room for `name`, if it is not there.
template <class Map, class Name>
void make_room(Map& map, const Name& name, std::size_t most) {
  if (map.size() >= most && !map.contains(name))
    map.erase(std::ranges::min_element(map, {}, [](const auto& entry) { return entry.second.last; }));
}

}  // namespace

Time JobAges::believed(Time now, const PeerId& home, const JobId& job, Time told) {
  make_room(homes_, home, config_.homes);
  Home& asker = homes_[home];
  asker.last = now;
  make_room(asker.jobs, job, config_.jobs_per_home);
  Seen& seen = asker.jobs.try_emplace(job, Seen{.first = now}).first->second;
  seen.last = now;
  return std::max(told, seen.first - config_.believed);
}

}  // namespace gw::job

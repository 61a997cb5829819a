#pragma once
// The log of a simulated run: the hash of its trace and the first complaint.

#include <string>
#include <string_view>

#include "outcome.h"
#include "timeline.h"

namespace gw::sim {

// Every part of a world writes here. The first complaint counts and ends the run. A value without threads; outlived by the timeline.
class RunLog {
 public:
  RunLog(const Timeline& timeline, Trace trace) : timeline_(timeline), trace_(trace) {}

  void trace(std::size_t node, std::string_view what, std::string_view detail = "");
  // For people only, and not part of the hash.
  bool is_printed() const { return trace_ == Trace::printed; }
  void remark(std::size_t node, std::string_view what) const;
  // Nothing is wrong if the complaint is empty.
  void complain(Verdict verdict, const std::string& complaint);
  bool good() const { return outcome_.verdict == Verdict::good; }

  Outcome& outcome() { return outcome_; }

 private:
  const Timeline& timeline_;
  const Trace trace_;
  Outcome outcome_{.trace = 1469598103934665603u};
};

}  // namespace gw::sim

#include "cli/jobs/job_selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "wire/job_ticket.h"

namespace gw::cli {
namespace {

constexpr std::string_view kLast = "last";
constexpr std::string_view kTo = "..";

// How many jobs were submitted after the one that is meant; none: the text does not name a job by its age.
std::optional<std::size_t> age_in(std::string_view text) {
  if (text == kLast) return 0;
  if (!text.starts_with("last-")) return std::nullopt;
  const std::string_view digits = text.substr(kLast.size() + 1);
  std::size_t age = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), age);
  return failure == std::errc() && end == digits.data() + digits.size() ? std::optional(age) : std::nullopt;
}

Error several(std::string_view what, std::string_view text, const std::vector<job::JobId>& found) {
  constexpr std::size_t kShown = 4;
  std::string ids;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) ids += (i == 0 ? "" : ", ") + found[i].brief();
  return fail(Kind::invalid, "{} jobs {} '{}' ({}{}): name one by more digits of its id", found.size(), what, text, ids,
              found.size() > kShown ? ", ..." : "");
}

}  // namespace

Result<job::JobId> find_job(std::string_view text, const std::vector<node::JobSummary>& jobs) {
  if (const auto age = age_in(text)) {
    if (*age < jobs.size()) return jobs[*age].id;
    return fail(Kind::not_found, "there is no job '{}': this machine has {}; list them with 'godwit job list'", text, jobs.size());
  }
  std::vector<job::JobId> named, begun;
  for (const node::JobSummary& job : jobs) {
    if (job.name == text && job.name != job.program) named.push_back(job.id);
    if (!text.empty() && job.id.hash.hex().starts_with(text)) begun.push_back(job.id);
  }
  if (named.size() == 1) return named.front();
  if (named.size() > 1) return several("are called", text, named);
  if (begun.size() == 1) return begun.front();
  if (begun.size() > 1) return several("have ids that begin with", text, begun);
  if (wire::looks_like_ticket(text))
    return fail(Kind::invalid, "a ticket shows a job and changes nothing: do this on the machine of the job, with the id of the job");
  return fail(Kind::not_found, "there is no job '{}': list the jobs with 'godwit job list'", text);
}

Result<std::vector<node::JobSummary>> find_jobs(const std::vector<std::string>& words, const std::vector<node::JobSummary>& jobs) {
  std::vector<node::JobSummary> chosen;
  for (const std::string& word : words) {
    const std::size_t dots = word.find(kTo);
    GW_TRY(const job::JobId first, find_job(word.substr(0, dots), jobs));
    job::JobId last = first;
    if (dots != std::string::npos) {
      GW_TRY(last, find_job(word.substr(dots + kTo.size()), jobs));
    }
    auto from = std::ranges::find(jobs, last, &node::JobSummary::id), to = std::ranges::find(jobs, first, &node::JobSummary::id);
    if (from > to) std::swap(from, to);
    for (; from <= to; ++from)
      if (std::ranges::find(chosen, from->id, &node::JobSummary::id) == chosen.end()) chosen.push_back(*from);
  }
  return chosen;
}

}  // namespace gw::cli

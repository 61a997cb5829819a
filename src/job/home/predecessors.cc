#include "job/home/predecessors.h"

#include <algorithm>

namespace gw::job {

Predecessors::Predecessors(const Manifest& manifest, CourseOfJob course_of) : course_of_(std::move(course_of)) {
  for (const std::string& job : manifest.content().policy().after()) left_.push_back(JobId::from(job));
}

Status Predecessors::look() {
  for (const JobId& job : left_) {
    const JobCourse course = course_of_(job);
    if (course == JobCourse::ended_badly)
      return fail(Kind::invalid, "it was to follow job {}, which has failed or was cancelled", job.brief());
    if (course == JobCourse::unknown) return fail(Kind::invalid, "it was to follow job {}, which is not known here any more", job.brief());
  }
  std::erase_if(left_, [&](const JobId& job) { return course_of_(job) == JobCourse::ended_well; });
  return ok();
}

}  // namespace gw::job

#pragma once
// Names of peers, jobs and workers, and time, as the machines of a job know them.

#include "base/ids.h"
#include "job/thread_id.h"
#include "wire/names.h"

namespace gw::job {

using wire::JobId;
using wire::kNever;
using wire::PeerId;
using wire::Time;

struct WorkerTag;
using WorkerId = Id<WorkerTag>;  // unique within one boot of one peer

}  // namespace gw::job

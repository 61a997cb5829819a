#pragma once
// How many tasks a worker process carries out, without home and host.

#include "report.h"

namespace gw::bench {

// REQUIRES: no engine has been started in this process (building forks).
Status measure_worker_tasks(Report& report);

}  // namespace gw::bench

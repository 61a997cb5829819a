#pragma once
// The features of this machine for a cage, found out without entering one.

#include <string>

namespace gw::os {

struct CageFeatures {
  bool seccomp = false;          // with the action that ends the whole process; required
  int landlock = 0;              // its version, 0: none
  bool own_user = false;         // each worker gets its own user id: the daemon is root
  std::string control_group;     // "cgroup v2: memory, pids"; empty: none that this user may make
  std::string no_control_group;  // else why not, one sentence
};

// Tries each: makes a control group, for example, and removes it.
CageFeatures find_cage_features();

}  // namespace gw::os

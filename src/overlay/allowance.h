#pragma once
// How often something may happen.

#include <algorithm>

#include "wire/names.h"

namespace gw::overlay {

// One in each `every` on average, and up to `most` at once after a pause. (The generic cell rate algorithm: one number is all it keeps.)
class Allowance {
 public:
  Allowance(wire::Time every, int most) : every_(every), slack_(every * (most - 1)) {}

  bool take(wire::Time now) {
    const wire::Time due = std::max(due_, now);
    if (due - now > slack_) return false;
    due_ = due + every_;
    return true;
  }

 private:
  const wire::Time every_;
  const wire::Time slack_;
  wire::Time due_{0};  // when the next one would be on time, were they evenly spread
};

}  // namespace gw::overlay

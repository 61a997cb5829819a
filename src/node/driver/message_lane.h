#pragma once
// Which messages may be long, and travel on the lane of blobs.

#include "job/actions.h"

namespace gw::node {

// Output and input of programs and the determinants of an image travel with blobs: a program that prints megabytes, or has read the clock
// thousands of times, must not delay the claims and pings of its peer. Each of these messages may overtake any message on the control lane
// and be overtaken: effects and input are numbered, and a host takes an image only while it asks for one in its epoch.
inline bool carries_content(const job::JobMessage& message) {
  return message.has_blob() || message.has_effects() || message.has_input() || message.has_image_is();
}

}  // namespace gw::node

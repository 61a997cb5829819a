#pragma once
// Bugs planted to see whether the simulator finds them. Only the library of godwit-sim-bugs is compiled with GW_PLANTED_BUGS;
// everywhere else the condition is false and the compiler takes it out.
//
//   if (epoch < known_epoch && !GW_BUG(2)) return refuse();

#ifdef GW_PLANTED_BUGS
namespace gw {
inline int planted_bug = 0;  // set once by main()
}
#define GW_BUG(number) (::gw::planted_bug == (number))
#else
#define GW_BUG(number) false
#endif

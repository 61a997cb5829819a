#pragma once
// Bugs planted to see whether the simulator finds them. Only godwit-sim is compiled with GW_PLANTED_BUGS, the libraries of its peers
// too (sim/CMakeLists.txt), and no bug is active there without --bug. Everywhere else the condition is false and the compiler takes it out.
//
//   if (epoch < known_epoch && !GW_BUG(2)) return refuse();

#ifdef GW_PLANTED_BUGS
namespace gw {
inline int planted_bug = 0;  // set once by main(); 0: none
}
#define GW_BUG(number) (::gw::planted_bug == (number))
#else
#define GW_BUG(number) false
#endif

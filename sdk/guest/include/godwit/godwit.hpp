#ifndef GODWIT_GODWIT_HPP
#define GODWIT_GODWIT_HPP
// All that a C++20 program may ask of Godwit; docs/programming.md is the tutorial.

#include <godwit/computer.hpp>
#include <godwit/messages.hpp>
#include <godwit/threads.hpp>
#include <godwit/travel.hpp>

#endif

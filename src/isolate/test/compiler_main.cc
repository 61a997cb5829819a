// The compile-only process, for tests.

#include <string>
#include <vector>

#include "isolate/engine/compile_main.h"

int main(int argc, char** argv) { return gw::isolate::compile_only_main(std::vector<std::string>(argv + 1, argv + argc)); }

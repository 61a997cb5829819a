// A thread recurses deeper than its stack allows.
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

int descend(int levels) {
  char room[1000];
  std::memset(room, levels, sizeof room);
  std::this_thread::yield();
  if (levels == 0) return room[1];
  return descend(levels - 1) + room[levels % 1000];
}

}  // namespace

int main() {
  std::thread([] { std::printf("%d\n", descend(100)); }).join();
  std::thread([] { std::printf("%d\n", descend(5000)); }).join();
}

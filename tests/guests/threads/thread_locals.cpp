// Each thread has its own thread_local variables, with constructors and destructors; their addresses differ.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex mutex;
int made = 0, destroyed = 0;

struct Counter {
  Counter() { ++made; }
  ~Counter() { ++destroyed; }
  int count = 0;
  std::string text = "a string that is too long to be inside";
};

thread_local Counter counter;
thread_local int plain = 40;
thread_local int zero;
thread_local double table[8] = {1, 2};

template <class T>
struct Holder {
  static thread_local T value;
};
template <class T>
thread_local T Holder<T>::value = 3;

int next_in_function() {
  static thread_local int next = 100;
  return next++;
}

void work(int id, std::string& out, int*& address) {
  address = &plain;
  for (int i = 0; i < 3; ++i) {
    ++counter.count;
    plain += id;
    zero -= id;
    table[i] += id;
    Holder<int>::value *= 2;
    next_in_function();
    std::this_thread::yield();
    try {
      throw id;
    } catch (int n) {
      std::this_thread::yield();
      counter.text += static_cast<char>('0' + n + static_cast<int>(table[7]));
    }
  }
  out = std::to_string(counter.count) + " " + std::to_string(plain) + " " + std::to_string(zero) + " " + std::to_string(table[1]) + " " +
        std::to_string(Holder<int>::value) + " " + std::to_string(next_in_function()) + " " + counter.text.substr(30);
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  std::vector<int*> addresses(4);
  for (int i = 1; i < 4; ++i) threads.emplace_back(work, i, std::ref(texts[i]), std::ref(addresses[i]));
  work(0, texts[0], addresses[0]);
  const int* const own = &plain;
  for (auto& thread : threads) thread.join();
  for (const std::string& text : texts) std::printf("%s\n", text.c_str());
  std::printf("own %d, others %d\n", own == addresses[0], addresses[1] != own && addresses[2] != own);
  std::printf("made %d, destroyed %d\n", made, destroyed);
}

// Memory that cannot be had: operator new, new[], containers, nothrow, a new_handler.
#include <cstdint>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static int handler_calls;

int main() {
  const std::size_t huge = SIZE_MAX - 65536;
  volatile std::size_t size = huge;
  for (int i = 0; i < 3; ++i) {
    try {
      void* p = ::operator new(size);
      std::printf("%p\n", p);
    } catch (const std::bad_alloc&) {
      std::puts("operator new: bad_alloc");
    }
  }
  try {
    auto* p = new std::uint64_t[size];
    std::printf("%p\n", static_cast<void*>(p));
  } catch (const std::bad_array_new_length&) {
    std::puts("new[]: bad_array_new_length");
  } catch (const std::bad_alloc&) {
    std::puts("new[]: bad_alloc");
  }
  std::printf("nothrow: %d\n", ::operator new(size, std::nothrow) == nullptr);
  try {
    std::vector<char> v(size);
    std::puts("made");
  } catch (const std::bad_alloc&) {
    std::puts("vector: bad_alloc");
  } catch (const std::length_error&) {
    std::puts("vector: length_error");
  }
  std::set_new_handler([] {
    if (++handler_calls == 3) std::set_new_handler(nullptr);
  });
  try {
    ::operator delete(::operator new(size));
  } catch (const std::bad_alloc&) {
    std::printf("after %d calls of the handler\n", handler_calls);
  }
}

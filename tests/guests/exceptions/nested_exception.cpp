// std::throw_with_nested and rethrow_if_nested; std::current_exception kept beyond its handler.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

static void print(const std::exception& e, int depth = 0) {
  std::printf("%*s%s\n", 2 * depth, "", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception& inner) {
    print(inner, depth + 1);
  } catch (int v) {
    std::printf("%*sint %d\n", 2 * depth + 2, "", v);
  }
}

static void open_file(int n) {
  try {
    if (n % 2) throw n;
    throw std::invalid_argument("no name " + std::to_string(n));
  } catch (...) {
    std::throw_with_nested(std::runtime_error("open_file"));
  }
}

static void load(int n) {
  try {
    open_file(n);
  } catch (...) {
    std::throw_with_nested(std::logic_error("load"));
  }
}

int main() {
  std::vector<std::exception_ptr> kept;
  for (int n = 0; n < 4; ++n) {
    try {
      load(n);
    } catch (...) {
      kept.push_back(std::current_exception());
    }
  }
  for (const std::exception_ptr& one : kept) {
    try {
      std::rethrow_exception(one);
    } catch (const std::exception& e) {
      print(e);
    }
  }
}

// N queens, counted by forks of one warm search: main prepares what every search needs, once, and forks a child for each column of the
// first queen. Parent and children share that memory until one of them writes to it. Each child reports its count. Where there can be no
// more threads, the parent does the work itself.
//
//   godwit run examples/fork_search.cpp -- 10

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <godwit/godwit.hpp>

namespace {

// For each set of attacked squares of a row those that are free: a table that takes a while to make.
class FreeSquares {
 public:
  explicit FreeSquares(unsigned size) : size_(size), free_(std::size_t{1} << size) {
    for (std::uint32_t attacked = 0; attacked < free_.size(); attacked++) {
      for (unsigned column = 0; column < size; column++) {
        if ((attacked >> column & 1) == 0) free_[attacked].push_back(static_cast<std::uint8_t>(column));
      }
    }
  }
  const std::vector<std::uint8_t>& operator[](std::uint32_t attacked) const { return free_[attacked & ((1u << size_) - 1)]; }
  unsigned size() const { return size_; }

 private:
  unsigned size_;
  std::vector<std::vector<std::uint8_t>> free_;
};

std::uint64_t count(const FreeSquares& squares, unsigned row, std::uint32_t columns, std::uint32_t left, std::uint32_t right) {
  if (row == squares.size()) return 1;
  std::uint64_t total = 0;
  for (unsigned column : squares[columns | left | right]) {
    const std::uint32_t queen = 1u << column;
    total += count(squares, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return total;
}

std::uint64_t count_from(const FreeSquares& squares, unsigned first) {
  const std::uint32_t queen = 1u << first;
  return count(squares, 1, queen, queen << 1, queen >> 1);
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 10;
  if (size < 4 || size > 16) {
    std::fprintf(stderr, "usage: fork_search SIZE, between 4 and 16\n");
    return 2;
  }
  const FreeSquares squares(static_cast<unsigned>(size));
  for (unsigned first = 0; first < squares.size(); first++) {
    const auto forked = godwit::fork();
    if (forked && forked->in_parent()) continue;
    const std::uint64_t solutions = count_from(squares, first);
    std::printf("first queen in column %u: %llu solutions\n", first, static_cast<unsigned long long>(solutions));
    godwit::report(solutions);
    if (forked) return 0;  // a child; without one the parent has done its work
  }
}

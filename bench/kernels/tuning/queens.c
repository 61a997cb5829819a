// Queens on a board and Fibonacci's numbers, both by plain recursion: many small calls.
#include <stdlib.h>

#include "../kernel.h"

enum { kMaxBoard = 20 };

static int column_of[kMaxBoard];

static int is_free(int row, int column) {
  for (int above = 0; above < row; above++) {
    const int offset = column_of[above] - column;
    if (offset == 0 || abs(offset) == row - above) return 0;
  }
  return 1;
}

__attribute__((noinline)) static uint64_t placements(int board, int row) {
  if (row == board) return 1;
  uint64_t sum = 0;
  for (int column = 0; column < board; column++) {
    if (!is_free(row, column)) continue;
    column_of[row] = column;
    sum += placements(board, row + 1);
  }
  return sum;
}

__attribute__((noinline)) static uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

int main(int argc, char** argv) {
  const int board = (int)kernel_size(argc, argv, 12);
  if (board > kMaxBoard) {
    fprintf(stderr, "queens: the board has at most %d rows\n", kMaxBoard);
    return 2;
  }
  printf("queens %llu %u\n", (unsigned long long)placements(board, 0), fibonacci((uint32_t)board + 27));
  return 0;
}

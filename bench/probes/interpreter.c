// A register machine: all of the run is one frame of main, in an endless loop with a switch, as in the interpreters of languages.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum Operation { kSet, kAdd, kSub, kMul, kMod, kLoad, kStore, kNext, kCall, kReturn, kLoopBelow, kPrint, kHalt };

struct Instruction {
  enum Operation operation;
  int a, b, c;
};

static int64_t memory[1024];

__attribute__((noinline)) static void print(int64_t value) { printf("%" PRId64 "\n", value); }

__attribute__((noinline)) static int64_t modulo(int64_t a, int64_t b) {
  if (b == 0) {
    puts("division by zero");
    exit(1);
  }
  return a % b;
}

static const struct Instruction program[] = {
    {kSet, 0, 0, 0},       {kSet, 1, 1, 0},   {kSet, 2, 0, 0},  {kSet, 3, 7, 0}, {kMul, 4, 2, 3},    {kAdd, 0, 0, 4},
    {kMod, 5, 0, 6},       {kStore, 2, 5, 0}, {kLoad, 7, 2, 0}, {kAdd, 0, 0, 7}, {kCall, 15, 0, 0},  {kNext, 2, 0, 0},
    {kLoopBelow, 2, 8, 4}, {kPrint, 0, 0, 0}, {kHalt, 0, 0, 0}, {kSub, 0, 0, 1}, {kReturn, 0, 0, 0},
};

int main(int argc, char** argv) {
  int64_t registers[16] = {0};
  registers[6] = 1000003;
  registers[8] = argc > 1 ? atoll(argv[1]) : 20000000;
  int calls[64];
  int depth = 0, at = 0;
  for (;;) {
    const struct Instruction* i = &program[at++];
    switch (i->operation) {
      case kSet:
        registers[i->a] = i->b;
        break;
      case kAdd:
        registers[i->a] = registers[i->b] + registers[i->c];
        break;
      case kSub:
        registers[i->a] = registers[i->b] - registers[i->c];
        break;
      case kMul:
        registers[i->a] = registers[i->b] * registers[i->c];
        break;
      case kMod:
        registers[i->a] = modulo(registers[i->b], registers[i->c]);
        break;
      case kLoad:
        registers[i->a] = memory[registers[i->b] & 1023];
        break;
      case kStore:
        memory[registers[i->a] & 1023] = registers[i->b];
        break;
      case kNext:
        if (++registers[i->a] % 2000000 == 0) print(registers[i->a]);
        break;
      case kCall:
        calls[depth++] = at;
        at = i->a;
        break;
      case kReturn:
        at = calls[--depth];
        break;
      case kLoopBelow:
        if (registers[i->a] < registers[i->b]) at = i->c;
        break;
      case kPrint:
        print(registers[i->a]);
        break;
      case kHalt:
        return 0;
    }
  }
}

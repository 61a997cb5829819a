// Shared by all kernels: the size argument and a random sequence that is the same on every machine.
//
// A kernel is a complete program. `kernel [size]` does work in proportion to `size` and prints one line: its name and a checksum.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint32_t kernel_size(int argc, char** argv, uint32_t usual) {
  if (argc < 2) return usual;
  const unsigned long size = strtoul(argv[1], NULL, 10);
  if (size >= 1 && size <= 1000000000) return (uint32_t)size;
  fprintf(stderr, "%s: the size must be a number from 1 to 1000000000\n", argv[0]);
  exit(2);
}

typedef struct KernelRandom {
  uint64_t state;
} KernelRandom;

// SplitMix64.
static inline uint64_t kernel_random(KernelRandom* random) {
  uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline uint32_t kernel_random_below(KernelRandom* random, uint32_t bound) {
  return (uint32_t)((kernel_random(random) >> 32) * bound >> 32);
}

static inline void* kernel_memory(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (memory != NULL) return memory;
  fprintf(stderr, "kernel: no memory for %zu bytes\n", bytes);
  exit(1);
}

// Computes while its memory grows bit by bit, then waits for input: the point where two runs of it are compared.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Node {
  struct Node* next;
  uint32_t values[1000];
} Node;

int main(void) {
  Node* list = NULL;
  uint32_t sum = 1;
  for (int i = 0; i < 2500; i++) {
    Node* node = malloc(sizeof *node);
    if (node == NULL) return 1;
    node->next = list;
    for (int k = 0; k < 1000; k++) {
      for (int round = 0; round < 30; round++) sum = sum * 1664525u + 1013904223u + (uint32_t)k;
      node->values[k] = sum;
    }
    list = node;
  }
  const int answer = getchar();
  printf("%08x %d\n", sum, answer);
  return 0;
}

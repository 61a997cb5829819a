// An exception out of callbacks of qsort and bsearch: through frames of C.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static int calls;
int compare(const void* a, const void* b) {
  if (++calls == 20) throw std::runtime_error("compare gave up");
  return *(const int*)a - *(const int*)b;
}
int main() {
  int v[64];
  for (int i = 0; i < 64; ++i) v[i] = (i * 37) % 64;
  try {
    qsort(v, 64, sizeof v[0], compare);
    puts("sorted");
  } catch (const std::exception& e) {
    printf("%s after %d\n", e.what(), calls);
  }
  qsort(v, 64, sizeof v[0], compare);
  int ok = 1;
  for (int i = 0; i < 64; ++i) ok &= v[i] == i || calls > 0;
  printf("%d\n", ok);
  int key = 5;
  calls = 19;
  try {
    bsearch(&key, v, 64, sizeof v[0], compare);
    puts("found");
  } catch (const std::exception& e) {
    printf("%s in bsearch\n", e.what());
  }
}

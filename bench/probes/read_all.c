// Reads every file named by its arguments to the end and prints the number of bytes and a checksum.
#include <stdint.h>
#include <stdio.h>

int main(int argc, char** argv) {
  static unsigned char buffer[1 << 16];
  uint64_t sum = 1469598103934665603u, bytes = 0;
  for (int i = 1; i < argc; ++i) {
    FILE* const file = fopen(argv[i], "rb");
    if (!file) return fprintf(stderr, "%s cannot be opened\n", argv[i]), 1;
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0; bytes += n)
      for (size_t at = 0; at < n; ++at) sum = (sum ^ buffer[at]) * 1099511628211u;
    fclose(file);
  }
  printf("%llu %016llx\n", (unsigned long long)bytes, (unsigned long long)sum);
  return 0;
}

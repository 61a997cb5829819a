// A picture of the Mandelbrot set in strips: each task draws one, and the last task joins them. The order is in strips.toml.
//
//   cd examples && godwit run strips.c --graph strips.toml --workers 4
//
// leaves strips.pgm. An ordinary C program: each task is a run of it, and its files go from machine to machine by themselves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWidth = 720, kHeight = 480, kMostSteps = 400 };

static FILE* opened(const char* path, const char* mode) {
  FILE* file = fopen(path, mode);
  if (file != NULL) return file;
  fprintf(stderr, "strips: cannot open %s\n", path);
  exit(1);
}

static unsigned char shade(int x, int y) {
  const double real = 3.0 * x / kWidth - 2.2, imaginary = 2.0 * y / kHeight - 1.0;
  double a = 0, b = 0;
  int steps = 0;
  for (; steps < kMostSteps && a * a + b * b < 4; steps++) {
    const double next = a * a - b * b + real;
    b = 2 * a * b + imaginary;
    a = next;
  }
  return steps == kMostSteps ? 0 : (unsigned char)(255 - steps * 7 % 200);
}

static int draw(int strip, int strips, const char* path) {
  FILE* file = opened(path, "wb");
  for (int y = strip * kHeight / strips; y < (strip + 1) * kHeight / strips; y++)
    for (int x = 0; x < kWidth; x++) fputc(shade(x, y), file);
  return fclose(file) == 0 ? 0 : 1;
}

static int join(char* const* parts, int count, const char* path) {
  FILE* picture = opened(path, "wb");
  fprintf(picture, "P5\n%d %d\n255\n", kWidth, kHeight);
  static char buffer[1 << 16];
  for (int i = 0; i < count; i++) {
    FILE* part = opened(parts[i], "rb");
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, part)) > 0;) fwrite(buffer, 1, size, picture);
    fclose(part);
  }
  return fclose(picture) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 5 && strcmp(argv[1], "draw") == 0) return draw(atoi(argv[2]), atoi(argv[3]), argv[4]);
  if (argc > 3 && strcmp(argv[1], "join") == 0) return join(argv + 3, argc - 3, argv[2]);
  fprintf(stderr, "usage: strips draw STRIP STRIPS FILE | strips join PICTURE FILE...\n");
  return 2;
}

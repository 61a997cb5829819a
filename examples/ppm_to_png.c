// A PPM picture (P6, 8 bits) from standard input, as a PNG picture on standard output.
//
//   godwit run examples/ppm_to_png.c < balls.ppm > balls.png
#include <stdlib.h>

#include "png.h"

static int fail(const char* why) {
  fprintf(stderr, "ppm_to_png: %s\n", why);
  return 1;
}

int main(void) {
  unsigned width = 0, height = 0, most = 0;
  if (scanf("P6 %u %u %u", &width, &height, &most) != 3 || getchar() == EOF) return fail("the input is not a PPM picture of the kind P6");
  if (most != 255 || width == 0 || width > kPngMaxWidth || height == 0) return fail("the picture has another depth, or is too wide");
  uint8_t* const row = malloc(3 * (size_t)width);
  if (row == NULL) return fail("a row does not fit into memory");
  PngWriter png;
  png_begin(&png, stdout, width, height);
  for (unsigned y = 0; y < height; y++) {
    if (fread(row, 3, width, stdin) != width) return fail("the picture is cut off");
    png_row(&png, row);
  }
  png_end(&png);
  free(row);
  return 0;
}

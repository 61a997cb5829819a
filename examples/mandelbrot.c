// The Mandelbrot set as a PNG picture on standard output.
//
//   godwit run examples/mandelbrot.c > set.png
//   godwit run examples/mandelbrot.c -- 1920 2000 > set.png      (width, iteration limit)
//
// Each pixel is the mean of four samples, coloured by the smoothed escape count. Only + - * / and comparisons of doubles are used,
// so the picture is the same byte for byte on every machine.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "png.h"

typedef struct Rgb {
  double red, green, blue;
} Rgb;

enum { kSamplesPerSide = 2 };

// log2 for positive numbers, good to about 1e-4 and made of exact operations only: a library's last digit differs between machines.
static double log2_smooth(double x) {
  double exponent = 0;
  while (x >= 2) {
    x /= 2;
    exponent += 1;
  }
  // Padé approximant of log2 on [1, 2), continuous at both ends.
  const double t = (x - 1) / (x + 1);
  const double t2 = t * t;
  return exponent + 2.8853900817779268 * t * (1 + t2 * (1.0 / 3 + t2 * (0.2 + t2 * (1.0 / 7 + t2 / 9))));
}

// Escape count of the point c with a fractional part that makes the colour bands run into each other; negative inside the set.
static double escape_count(double c_re, double c_im, int limit) {
  double re = 0, im = 0;
  for (int i = 0; i < limit; i++) {
    const double re2 = re * re, im2 = im * im;
    if (re2 + im2 > 256) return i + 1 - log2_smooth(log2_smooth(re2 + im2) / 2);
    im = 2 * re * im + c_im;
    re = re2 - im2 + c_re;
  }
  return -1;
}

static Rgb mix(Rgb a, Rgb b, double t) {
  return (Rgb){a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t, a.blue + (b.blue - a.blue) * t};
}

// A closed ring of colours: night blue, sea, sand, dusk.
static Rgb colour(double count) {
  static const Rgb kRing[] = {{6, 10, 46}, {12, 74, 148}, {116, 196, 226}, {250, 244, 214}, {246, 170, 62}, {140, 40, 52}};
  enum { kStops = sizeof kRing / sizeof kRing[0] };
  if (count < 0) return (Rgb){4, 4, 12};
  const double position = count * 0.11 + 0.6;
  const int stop = (int)position;
  return mix(kRing[stop % kStops], kRing[(stop + 1) % kStops], position - stop);
}

static void render_row(uint8_t* rgb, int y, int width, int height, int limit) {
  const double scale = 3.0 / width;
  for (int x = 0; x < width; x++) {
    Rgb sum = {0, 0, 0};
    for (int sample = 0; sample < kSamplesPerSide * kSamplesPerSide; sample++) {
      const double dx = (sample % kSamplesPerSide + 0.5) / kSamplesPerSide;
      const double dy = (sample / kSamplesPerSide + 0.5) / kSamplesPerSide;
      const Rgb one = colour(escape_count((x + dx) * scale - 2.2, (y + dy - height / 2.0) * scale, limit));
      sum = (Rgb){sum.red + one.red, sum.green + one.green, sum.blue + one.blue};
    }
    const double share = 1.0 / (kSamplesPerSide * kSamplesPerSide);
    rgb[3 * x] = (uint8_t)(sum.red * share + 0.5);
    rgb[3 * x + 1] = (uint8_t)(sum.green * share + 0.5);
    rgb[3 * x + 2] = (uint8_t)(sum.blue * share + 0.5);
  }
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? atoi(argv[1]) : 480;
  const int limit = argc > 2 ? atoi(argv[2]) : 1000;
  if (width < 2 || width > kPngMaxWidth || limit < 1) {
    fprintf(stderr, "usage: mandelbrot [width 2..%d] [iteration limit]\n", kPngMaxWidth);
    return 2;
  }
  const int height = width * 2 / 3 > 0 ? width * 2 / 3 : 1;
  uint8_t* rgb = malloc(3 * (size_t)width);
  if (rgb == NULL) return 1;
  PngWriter png;
  png_begin(&png, stdout, (uint32_t)width, (uint32_t)height);
  for (int y = 0; y < height; y++) {
    render_row(rgb, y, width, height, limit);
    png_row(&png, rgb);
  }
  png_end(&png);
  free(rgb);
  return 0;
}

// A PNG writer of one picture, row by row, in the smallest form the format allows: 8-bit RGB, no compression.
//
// Every row becomes one IDAT chunk with one stored deflate block, so nothing is buffered and a program may be moved to another
// machine in the middle of its picture: the parts written here and there put together are one valid file.
//
//   PngWriter png;
//   png_begin(&png, stdout, width, height);
//   for (each row) png_row(&png, rgb);      // 3 * width bytes
//   png_end(&png);
#pragma once

#include <stdint.h>
#include <stdio.h>

// A stored block carries at most 65,535 bytes: one filter byte and three per pixel.
enum { kPngMaxWidth = (65535 - 1) / 3 };

typedef struct PngWriter {
  FILE* out;
  uint32_t width;
  uint32_t height;
  uint32_t rows_done;
  uint32_t chunk_crc;
  uint32_t adler_low;  // the two halves of the Adler-32 sum over the uncompressed picture
  uint32_t adler_high;
} PngWriter;

// Adds a byte to a CRC-32 (polynomial of IEEE 802.3, reflected), bit by bit: computing the picture takes far longer.
static inline uint32_t png_crc_byte(uint32_t crc, uint8_t byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
  return crc;
}

static inline void png_byte(PngWriter* png, uint8_t byte) {
  png->chunk_crc = png_crc_byte(png->chunk_crc, byte);
  fputc(byte, png->out);
}

static inline void png_u32(PngWriter* png, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) png_byte(png, (uint8_t)(value >> shift));
}

static inline void png_chunk_begin(PngWriter* png, const char* type, uint32_t length) {
  png_u32(png, length);
  png->chunk_crc = 0xFFFFFFFFu;  // the sum covers type and data, not the length
  for (int i = 0; i < 4; i++) png_byte(png, (uint8_t)type[i]);
}

static inline void png_chunk_end(PngWriter* png) { png_u32(png, ~png->chunk_crc); }

// A byte of the uncompressed picture.
static inline void png_data_byte(PngWriter* png, uint8_t byte) {
  png->adler_low = (png->adler_low + byte) % 65521;
  png->adler_high = (png->adler_high + png->adler_low) % 65521;
  png_byte(png, byte);
}

// REQUIRES 0 < width <= kPngMaxWidth and height > 0.
static inline void png_begin(PngWriter* png, FILE* out, uint32_t width, uint32_t height) {
  static const uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  *png = (PngWriter){out, width, height, 0, 0, 1, 0};
  fwrite(kSignature, 1, sizeof kSignature, out);
  png_chunk_begin(png, "IHDR", 13);
  png_u32(png, width);
  png_u32(png, height);
  png_byte(png, 8);                              // bits per channel
  png_byte(png, 2);                              // RGB
  for (int i = 0; i < 3; i++) png_byte(png, 0);  // the only compression, the only filter set, not interlaced
  png_chunk_end(png);
}

static inline void png_row(PngWriter* png, const uint8_t* rgb) {
  const uint32_t row_bytes = 3 * png->width + 1;
  const int first = png->rows_done == 0;
  const int last = ++png->rows_done == png->height;
  png_chunk_begin(png, "IDAT", row_bytes + 5 + (first ? 2 : 0) + (last ? 4 : 0));
  if (first) {  // the zlib header: deflate, window 32 KiB, no dictionary
    png_byte(png, 0x78);
    png_byte(png, 0x01);
  }
  png_byte(png, last ? 1 : 0);  // a stored block; bit 0 marks the last one
  const uint16_t length = (uint16_t)row_bytes;
  const uint16_t inverse = (uint16_t)~length;
  png_byte(png, (uint8_t)length);
  png_byte(png, (uint8_t)(length >> 8));
  png_byte(png, (uint8_t)inverse);
  png_byte(png, (uint8_t)(inverse >> 8));
  png_data_byte(png, 0);  // filter: none
  for (uint32_t i = 0; i < 3 * png->width; i++) png_data_byte(png, rgb[i]);
  if (last) png_u32(png, png->adler_high << 16 | png->adler_low);
  png_chunk_end(png);
}

static inline void png_end(PngWriter* png) {
  png_chunk_begin(png, "IEND", 0);
  png_chunk_end(png);
  fflush(png->out);
}

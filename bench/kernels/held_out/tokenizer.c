// A lexer for a small programming language over generated text: a state machine on bytes, table look-ups, short strings.
#include <string.h>

#include "../kernel.h"

typedef enum TokenKind { kEnd, kName, kKeyword, kNumber, kString, kSymbol, kKinds } TokenKind;

typedef struct Token {
  TokenKind kind;
  const char* text;
  uint32_t length;
} Token;

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_keyword(const char* text, uint32_t length) {
  static const char* const kWords[] = {"if", "else", "while", "for", "return", "int", "float", "struct", "break", "case"};
  for (size_t i = 0; i < sizeof kWords / sizeof kWords[0]; i++) {
    if (strlen(kWords[i]) == length && memcmp(kWords[i], text, length) == 0) return 1;
  }
  return 0;
}

static const char* skip_blanks(const char* at) {
  for (;;) {
    while (*at == ' ' || *at == '\n') at++;
    if (at[0] != '/' || at[1] != '/') return at;
    while (*at != '\n' && *at != '\0') at++;
  }
}

static Token next_token(const char* at) {
  at = skip_blanks(at);
  const char* end = at;
  TokenKind kind = kSymbol;
  if (*at == '\0') return (Token){kEnd, at, 0};
  if (is_letter(*at)) {
    while (is_letter(*end) || is_digit(*end)) end++;
    kind = is_keyword(at, (uint32_t)(end - at)) ? kKeyword : kName;
  } else if (is_digit(*at)) {
    while (is_digit(*end) || *end == '.') end++;
    kind = kNumber;
  } else if (*at == '"') {
    for (end++; *end != '"' && *end != '\0'; end++) {
      if (end[0] == '\\' && end[1] != '\0') end++;
    }
    end += *end == '"';
    kind = kString;
  } else {
    end++;
    if (*end == '=' && strchr("=<>!+-", *at) != NULL) end++;
  }
  return (Token){kind, at, (uint32_t)(end - at)};
}

static char* generate_source(uint32_t pieces) {
  static const char* const kPieces[] = {"if (count <= 10) {\n",
                                        "  total += price[i] * 3.25;\n",
                                        "// a remark to be skipped\n",
                                        "} else return 0;\n",
                                        "while (!done) step(&machine, \"say \\\"go\\\"\");\n",
                                        "struct point { int x; float y_2; };\n",
                                        "for (i = 0; i != limit_max; i += 12) break;\n"};
  KernelRandom random = {53};
  char* source = kernel_memory((size_t)pieces * 64 + 1);
  char* end = source;
  for (uint32_t i = 0; i < pieces; i++) {
    const char* piece = kPieces[kernel_random_below(&random, sizeof kPieces / sizeof kPieces[0])];
    const size_t length = strlen(piece);
    memcpy(end, piece, length);
    end += length;
  }
  return source;
}

int main(int argc, char** argv) {
  const uint32_t passes = kernel_size(argc, argv, 100);
  const char* source = generate_source(40000);
  uint32_t counts[kKinds] = {0};
  uint64_t sum = 0;
  for (uint32_t pass = 0; pass < passes; pass++) {
    for (Token token = next_token(source); token.kind != kEnd; token = next_token(token.text + token.length)) {
      counts[token.kind]++;
      sum = sum * 31 + (uint64_t)token.kind * 256 + (uint8_t)token.text[0] + token.length;
    }
  }
  printf("tokenizer %016llx %u %u %u\n", (unsigned long long)sum, counts[kName], counts[kKeyword], counts[kString]);
  return 0;
}

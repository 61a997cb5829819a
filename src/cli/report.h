#pragma once
// How commands talk to people and to scripts.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gw::cli {

enum class Format { text, json };

// -o text|json
void add_format_option(CLI::App& command, Format& format);

// --mobile, --poll, --verify
struct MobilityOptions {
  std::string level = "fine";
  std::string poll = "auto";
  bool verify = false;
};
void add_mobility_options(CLI::App& command, MobilityOptions& options);

// Prints "godwit: ..." on stderr and returns the exit code that fits the kind.
int report_error(const Error& error);

// Two columns, aligned; or, as JSON, an object with the keys in place of the labels.
struct Row {
  std::string key;    // JSON: snake_case
  std::string label;  // text
  nlohmann::ordered_json value;
  std::string text;  // shown instead of the value, if not empty
};
void print_rows(const std::vector<Row>& rows, Format format);

std::string human_bytes(std::uint64_t bytes);  // "12 B", "3.4 KiB"

}  // namespace gw::cli

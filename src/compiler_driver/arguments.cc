#include "compiler_driver/arguments.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace gw::compiler_driver {
namespace {

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> list) { return std::ranges::find(list, word) != list.end(); }

// Flags whose value may be the next word.
bool takes_next_word(std::string_view flag) {
  return is_any_of(flag,
                   {"-o", "-I", "-D", "-U",       "-include", "-imacros",       "-isystem", "-iquote", "-idirafter", "-MF", "-MT",    "-MQ",
                    "-x", "-L", "-l", "-Xlinker", "-Xclang",  "-Xpreprocessor", "-mllvm",   "-u",      "-T",         "-z",  "--param"});
}

// Flags for other machines and for shared libraries: they mean nothing for wasm, and clang or wasm-ld would refuse them.
bool means_nothing(std::string_view word) {
  if (is_any_of(word, {"-pthread", "-rdynamic", "-pie", "-no-pie", "-fPIE", "-fpie", "-fPIC", "-fpic", "-m64", "-m32", "-static", "-s",
                       "-pipe", "-fno-plt", "-static-libgcc", "-static-libstdc++"}))
    return true;
  constexpr std::array kPrefixes = {std::string_view("-march="),
                                    std::string_view("-mtune="),
                                    std::string_view("-mcpu="),
                                    std::string_view("-fstack-protector"),
                                    std::string_view("-fstack-clash"),
                                    std::string_view("-fcf-protection"),
                                    std::string_view("-Wl,-z"),
                                    std::string_view("-Wl,-rpath"),
                                    std::string_view("-Wl,--as-needed"),
                                    std::string_view("-Wl,--no-as-needed"),
                                    std::string_view("-Wl,-O"),
                                    std::string_view("-Wl,--hash-style"),
                                    std::string_view("-Wl,--build-id"),
                                    std::string_view("-Wl,-E"),
                                    std::string_view("-Wl,--version-script"),
                                    std::string_view("-Wl,-Bsymbolic"),
                                    std::string_view("-Wl,--start-group"),
                                    std::string_view("-Wl,--end-group")};
  const bool prefixed = std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return word.starts_with(prefix); });
  return prefixed && !word.starts_with("-Wl,-z,stack-size");
}

bool asks_clang_alone(std::string_view flag) {
  return is_any_of(flag,
                   {"-E", "-S", "-M", "-MM", "--version", "-v", "-V", "-qversion", "-dumpmachine", "-dumpversion", "-###", "--help"}) ||
         flag.starts_with("-print-") || flag.starts_with("--print-");
}

std::optional<Language> language_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".c") return Language::c;
  if (is_any_of(extension, {".cc", ".cpp", ".cxx", ".C", ".c++"})) return Language::cxx;
  return std::nullopt;
}

bool is_for_linker(std::string_view flag) {
  return flag.starts_with("-l") || flag.starts_with("-L") || flag.starts_with("-Wl,") || is_any_of(flag, {"-Xlinker", "-u", "-T", "-z"});
}

}  // namespace

Result<Arguments> Arguments::parse(const Words& words, Language driver) {
  Arguments result;
  std::optional<Language> forced;  // by -x
  bool only_clang = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (means_nothing(word)) continue;
    if (is_any_of(word, {"-shared", "-r"}))
      return fail(Kind::unsupported, "'{}' is not possible: a guest is linked statically, as one module", word);
    Words group = {word};
    if (takes_next_word(word) && i + 1 < words.size()) group.push_back(words[++i]);
    toolchain::append(result.all, group);
    if (word == "-c") {
      result.mode = Mode::compile;
    } else if (asks_clang_alone(word) || word == "-") {
      only_clang = true;
    } else if (word == "-o" && group.size() == 2) {
      result.output = group[1];
    } else if (word.starts_with("-o") && word.size() > 2) {
      result.output = word.substr(2);
    } else if (word == "-x" && group.size() == 2) {
      forced = group[1] == "none" ? std::nullopt : std::optional(group[1].starts_with("c++") ? Language::cxx : Language::c);
      if (group[1] != "none" && group[1] != "c" && group[1] != "c++") only_clang = true;
    } else if (is_for_linker(word)) {
      toolchain::append(result.link, group);
    } else if (word.starts_with('-')) {
      toolchain::append(result.compile, group);
    } else if (const auto language = forced ? forced : language_of(word)) {
      result.sources.push_back({word, driver == Language::cxx ? Language::cxx : *language});
    } else if (result.mode == Mode::compile) {
      only_clang = true;  // assembler and the like
    } else {
      result.link.push_back(word);
    }
  }
  const bool nothing_to_do = result.sources.empty() && (result.mode == Mode::compile || result.link.empty());
  if (only_clang || nothing_to_do) result.mode = Mode::forward;
  if (result.mode == Mode::compile && result.sources.size() > 1 && result.output)
    return fail(Kind::invalid, "-c and -o with several sources: one object cannot hold them");
  return result;
}

}  // namespace gw::compiler_driver

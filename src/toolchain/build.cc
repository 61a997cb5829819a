#include "toolchain/build.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "base/hash.h"
#include "os/files/file.h"
#include "toolchain/admission.h"
#include "toolchain/build_cache.h"
#include "toolchain/build_memo.h"
#include "toolchain/compiler.h"
#include "toolchain/launcher.h"
#include "toolchain/output_codec.h"
#include "toolchain/pipeline_version.h"
#include "toolchain/prep_child.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInputBytes = 256u << 20;

// The error of `status` with the name of the input in front.
Error about(const std::string& input, const Error& error) { return Error{error.kind, fmt::format("{}: {}", input, error.detail)}; }

Result<Language> language_of(const fs::path& input) {
  const std::string extension = input.extension().string();
  if (extension == ".c") return Language::c;
  constexpr std::array<std::string_view, 4> kCxx = {".cc", ".cpp", ".cxx", ".C"};
  if (std::ranges::find(kCxx, extension) != kCxx.end()) return Language::cxx;
  return fail(Kind::invalid,
              "{} is neither a wasm module nor C or C++ source (.c .cc .cpp .cxx); scripts are run, not built: see 'godwit language list'",
              input.string());
}

// Everything that decides the result, each part behind its length so that no two lists of parts look the same.
class KeyHash {
 public:
  KeyHash& add(ByteView part) {
    ByteWriter length;
    length.u64(part.size());
    hash_.update(length.view());
    hash_.update(part);
    return *this;
  }
  KeyHash& add(std::string_view part) { return add(as_bytes(part)); }
  KeyHash& add(const prep::Options& options) {
    const std::uint8_t choices[] = {static_cast<std::uint8_t>(options.level), static_cast<std::uint8_t>(options.poll),
                                    static_cast<std::uint8_t>(options.verify)};
    return add(ByteView(choices));
  }
  Hash256 finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

// Something that can be built: knows what decides its result, and how to make the module that goes into the pre-processor.
struct Input {
  std::string name;                        // for messages
  Bytes module;                            // if it is one
  std::optional<Compilation> compilation;  // if it is source
  Hash256 content;                         // of the module, or of the sources with their includes expanded
};

Status check_has_lines(const fs::path& file, ByteView wasm) {
  GW_TRY(auto sections, wire::read_sections(wasm));
  if (std::ranges::find(sections, ".debug_line", &wire::Section::name) != sections.end()) return ok();
  return fail(Kind::invalid, "{} has no line table, which --debug needs: compile it with -g and do not strip it", file.string());
}

Result<Input> open_module(const BuildRequest& request, Bytes content) {
  const fs::path& file = request.inputs.front();
  if (!request.extra_flags.empty())
    return fail(Kind::invalid, "{} is a wasm module: compiler flags apply to C and C++ only", file.string());
  Status admissible = check_admissible(content);
  if (!admissible) return about(file.string(), admissible.error());
  if (request.debug == Debug::yes) GW_TRY_VOID(check_has_lines(file, content));
  const Hash256 hash = sha256(content);
  return Input{file.string(), std::move(content), std::nullopt, hash};
}

// The content of a file; for a program that godwit-cc has linked, the module in it.
Result<Bytes> read_input(const fs::path& file) {
  GW_TRY(Bytes content, os::read_file(file, kMaxInputBytes));
  const ByteView module = without_launcher(content);
  return module.size() == content.size() ? std::move(content) : Bytes(module.begin(), module.end());
}

bool is_module(const fs::path& file, ByteView content) { return wire::is_wasm(content) || file.extension() == ".wasm"; }

Result<std::vector<Source>> open_sources(const BuildRequest& request) {
  std::vector<Source> sources;
  for (const fs::path& file : request.inputs) {
    GW_TRY(Bytes content, read_input(file));
    if (is_module(file, content))
      return fail(Kind::invalid, "{} is a wasm module and cannot be combined with other inputs: build it alone", file.string());
    GW_TRY(Language language, language_of(file));
    sources.push_back({file, language});
  }
  return sources;
}

// A flag of the user comes behind those of --debug and wins.
Words compiler_flags_of(const BuildRequest& request) {
  Words flags = request.debug == Debug::yes ? debug_flags() : Words{};
  append(flags, request.extra_flags);
  return flags;
}

Result<Input> open_input(const BuildRequest& request) {
  if (request.inputs.empty()) return fail(Kind::invalid, "there is nothing to build: name a source or a wasm module");
  const fs::path& first = request.inputs.front();
  if (request.inputs.size() == 1) {
    GW_TRY(Bytes content, read_input(first));
    if (is_module(first, content)) return open_module(request, std::move(content));
  }
  GW_TRY(std::vector<Source> sources, open_sources(request));
  GW_TRY(Compilation compilation, Compilation::start(std::move(sources), compiler_flags_of(request)));
  GW_TRY(Hash256 content, compilation.preprocess());
  return Input{first.string(), {}, std::move(compilation), content};
}

// Everything that decides which files a build of sources looks at and what it makes of them.
Hash256 question_of(const BuildRequest& request) {
  KeyHash key;
  key.add(pipeline_version()).add(request.mobility).add(fs::current_path().string());
  for (const fs::path& input : request.inputs) key.add(input.string());
  key.add("");
  for (const std::string& flag : compiler_flags_of(request)) key.add(flag);
  for (const char* name : {"PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"}) {
    const char* const value = std::getenv(name);
    key.add(value == nullptr ? "" : value);
  }
  return key.finish();
}

// The folder that a flag adds to those searched for headers.
std::optional<fs::path> folder_of(const std::string& flag) {
  for (const std::string_view prefix : {"-I", "-iquote", "-isystem", "-idirafter"}) {
    if (flag.starts_with(prefix) && flag.size() > prefix.size()) return fs::path(flag.substr(prefix.size()));
  }
  return std::nullopt;
}

// The files a build has read: sources and headers, folders searched for them, the compiler itself.
std::vector<fs::path> files_of(const BuildRequest& request, const Compilation& compilation) {
  std::vector<fs::path> files = compilation.files();
  for (const std::string& flag : request.extra_flags) {
    if (const auto folder = folder_of(flag)) files.push_back(*folder / ".");
  }
  for (const fs::path& program : compiler_programs()) files.push_back(program);
  return files;
}

Hash256 key_of(const Input& input, const prep::Options& options) {
  KeyHash key;
  key.add(pipeline_version()).add(options).add(input.compilation ? input.compilation->settings() : "wasm").add(input.content.bytes);
  return key.finish();
}

Hash256 key_of_linked(const Compilation& compilation, const Hash256& content) {
  KeyHash key;
  key.add(pipeline_version()).add("linked").add(compilation.settings()).add(content.bytes);
  return key.finish();
}

// The linked module is kept too: to make it mobile in another way takes no compiler, which needs longer than all the rest.
Result<Compilation::Linked> linked_module(const BuildCache& cache, Compilation& compilation, const Hash256& content) {
  const Hash256 key = key_of_linked(compilation, content);
  if (const auto stored = cache.find(key)) {
    if (auto known = decode_linked(*stored)) return known;
  }
  GW_TRY(Compilation::Linked linked, compilation.compile_and_link(cache));
  GW_TRY_VOID(cache.store(key, encode(linked)));
  return linked;
}

Result<Product> make_product(const BuildCache& cache, const prep::Options& mobility, Input input) {
  Compilation::Linked linked;
  if (input.compilation) {
    GW_TRY(linked, linked_module(cache, *input.compilation, input.content));
    Status admissible = check_admissible(linked.wasm);
    if (!admissible) return about(input.name, admissible.error());
  } else {
    linked.wasm = std::move(input.module);
  }
  auto mobile = process_in_child(linked.wasm, mobility);
  if (!mobile) return about(input.name, mobile.error());
  return Product{*std::move(mobile), std::move(linked.warnings)};
}

Result<BuildMemo> open_memo() {
  GW_TRY(fs::path root, os::cache_dir());
  return BuildMemo::open(root / "notes");
}

std::optional<Product> find_product(const BuildCache& cache, const Hash256& key) {
  const auto stored = cache.find(key);
  if (!stored) return std::nullopt;
  auto product = decode_product(*stored);
  if (!product) return std::nullopt;
  return *std::move(product);
}

}  // namespace

Result<BuildOutput> build(const BuildRequest& request) {
  GW_TRY(BuildCache cache, BuildCache::open_default());
  GW_TRY(BuildMemo memo, open_memo());
  const Hash256 question = question_of(request);
  Origin origin = Origin::cached;
  std::optional<Product> product;
  if (const auto known = memo.recall(question)) product = find_product(cache, *known);
  if (!product) {
    const auto started = std::chrono::system_clock::now();
    GW_TRY(Input input, open_input(request));
    const Hash256 key = key_of(input, request.mobility);
    if (input.compilation) memo.remember(question, key, files_of(request, *input.compilation), started);
    product = find_product(cache, key);
    if (!product) {
      origin = Origin::built;
      GW_TRY(product, make_product(cache, request.mobility, std::move(input)));
      GW_TRY_VOID(cache.store(key, encode(*product)));
    }
  }
  if (!request.output.empty()) GW_TRY_VOID(os::write_file_atomic(request.output, product->mobile.wasm));
  return BuildOutput{std::move(product->mobile.wasm), std::move(product->mobile.report), std::move(product->warnings), origin};
}

}  // namespace gw::toolchain

#include "toolchain/guest_runtime.h"

#include <algorithm>

#include <fmt/format.h>

#include "os/files/file.h"
#include "toolchain/embedded_files.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxObjectBytes = 64u << 20;

// Part of every program, C++ programs that throw, and what is linked only if the program calls it.
const Words kAlways = {"runtime/godwit_runtime.c"};
const Words kAlwaysThrowing = {"runtime/exceptions.cc"};
const Words kThrowMarks = {"runtime/throw_marks.c"};
const Words kOnDemand = {"runtime/setjmp.c",      "runtime/signals.c", "runtime/system.c",  "runtime/locks.c",
                         "runtime/thread_data.c", "runtime/threads.c", "runtime/waiting.c", "runtime/timezone.c"};
const Words kOnDemandCxx = {"runtime/once.cc"};
const Words kFileStreams = {"runtime/file_streams.cc"};
const Words kThreads = {"runtime/std_thread.cc", "runtime/thread_library.cc"};
const Words kOnDemandThrowing = {"runtime/type_names.c", "runtime/library_exceptions.cc"};

// Parts of libc++ that tools/fetch_libcxx has fetched, if it has.
constexpr std::string_view kLibraryFolder = "libcxx/";

Status write_sdk_file(const fs::path& path, ByteView content) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return fail(Kind::internal, "cannot create {}: {}", path.parent_path().string(), error.message());
  return os::write_file_atomic(path, content, os::Durability::unflushed);
}

}  // namespace

Status write_guest_sdk(const fs::path& folder) {
  for (const EmbeddedFile& file : guest_sdk()) GW_TRY_VOID(write_sdk_file(folder / file.path, as_bytes(file.text)));
  return ok();
}

RuntimeParts runtime_parts(Language language, Exceptions exceptions, LibraryUse use) {
  RuntimeParts parts{kAlways, kOnDemand};
  if (language == Language::c) return parts;
  append(parts.on_demand, kOnDemandCxx);
  if (use.file_streams) append(parts.on_demand, kFileStreams);
  if (use.threads) append(parts.on_demand, kThreads);
  if (exceptions == Exceptions::off) return parts;
  append(parts.always, kAlwaysThrowing);
  if (use.throw_marks) append(parts.always, kThrowMarks);
  append(parts.on_demand, kOnDemandThrowing);
  if (!use.file_system) return parts;
  for (const EmbeddedFile& file : guest_sdk())
    if (file.path.starts_with(kLibraryFolder) && file.path.ends_with(".cpp")) parts.on_demand.emplace_back(file.path);
  return parts;
}

Words RuntimeParts::sources() const {
  Words all = always;
  append(all, on_demand);
  return all;
}

Words RuntimeParts::link_words(const fs::path& folder) const {
  Words words;
  for (const std::string& source : always) words.push_back((folder / runtime_object(source)).string());
  words.emplace_back("-Wl,--start-lib");
  for (const std::string& source : on_demand) words.push_back((folder / runtime_object(source)).string());
  words.emplace_back("-Wl,--end-lib");
  return words;
}

bool lacks_filesystem(std::string_view linker_message) {
  const auto is_of_library = [](const EmbeddedFile& file) { return file.path.starts_with(kLibraryFolder); };
  return linker_message.find("__fs::filesystem") != std::string_view::npos && std::ranges::none_of(guest_sdk(), is_of_library);
}

std::string runtime_object(const std::string& source) { return fs::path(source).replace_extension(".o").string(); }

std::string sdk_version() {
  Sha256 all;
  for (const EmbeddedFile& file : guest_sdk()) {
    all.update(as_bytes(file.path));
    all.update(as_bytes(file.text));
  }
  return all.finish().hex();
}

Status compile_runtime_source(const BuildCache& cache, const fs::path& folder, const std::string& source, Exceptions exceptions,
                              const std::string& compiler_version) {
  const Language language = source.ends_with(".c") ? Language::c : Language::cxx;
  Words command = compile_command(language, exceptions, "include");
  if (source.starts_with(kLibraryFolder)) append(command, {"-D_LIBCPP_BUILDING_LIBRARY", "-w"});
  append(command, {"-c", source, "-o", runtime_object(source)});
  const Hash256 key = sha256(as_bytes(fmt::format("{}\n{}\n{}", sdk_version(), fmt::join(command, "\n"), compiler_version)));
  const fs::path object = folder / runtime_object(source);
  if (const auto known = cache.find(key)) return os::write_file_atomic(object, *known, os::Durability::unflushed);
  GW_TRY_VOID(run_tool(std::move(command), folder, "the guest runtime does not compile"));
  GW_TRY(Bytes compiled, os::read_file(object, kMaxObjectBytes));
  return cache.store(key, compiled);
}

}  // namespace gw::toolchain

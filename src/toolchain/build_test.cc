#include "toolchain/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "os/files/file.h"
#include "wire/wasm/module_info.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHello = R"(
#include <stdio.h>
#include <godwit/godwit.h>
int main(void) {
  for (int i = 0; i < 3; ++i) {
    printf("%d\n", i);
    godwit_checkpoint();
  }
})";

// A module as another toolchain would make it.
Bytes without_module_info(const Bytes& wasm) {
  ByteWriter out;
  const auto sections = wire::read_sections(wasm).value();
  out.bytes(ByteView(wasm).first(sections.front().offset));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::size_t end = i + 1 < sections.size() ? sections[i + 1].offset : wasm.size();
    if (sections[i].name != wire::kModuleInfoSection) out.bytes(ByteView(wasm).subspan(sections[i].offset, end - sections[i].offset));
  }
  return out.take();
}

// Builds in a folder of its own with an empty cache.
class BuildTest : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", (dir_.path() / "cache").c_str(), 1); }

  fs::path write(const std::string& name, std::string_view text) const {
    const fs::path path = dir_.path() / name;
    EXPECT_TRUE(os::write_file_atomic(path, as_bytes(text)));
    return path;
  }

  fs::path output() const { return dir_.path() / "out.wasm"; }

  Result<BuildOutput> build_text(const std::string& name, std::string_view text, std::vector<std::string> flags = {}) const {
    return build({.inputs = {write(name, text)}, .output = output(), .extra_flags = std::move(flags)});
  }

  os::TempDir dir_ = os::TempDir::make().value();
};

TEST_F(BuildTest, MakesAMobileModuleOfC) {
  const BuildOutput built = build_text("hello.c", kHello).value();
  EXPECT_EQ(os::read_file(output(), 1 << 20).value(), built.wasm);
  const wire::ModuleInfo info = wire::read_module_info(built.wasm).value();
  EXPECT_EQ(info.level, wire::Level::fine);
  EXPECT_EQ(info.poll, wire::Poll::cell);
  EXPECT_GT(built.report.loops, 0u);
  EXPECT_EQ(built.origin, Origin::built);
}

// In C and in C++, and only where it is included.
TEST_F(BuildTest, ProgramsWithTasksExportWhatAHostCalls) {
  constexpr std::string_view kC = R"(
#include <godwit/task.h>
void nothing(const void* argument, size_t size) { godwit_task_result(argument, size); }
int main(void) { return nothing != 0 ? godwit_report("x", 1) : 1; })";
  constexpr std::string_view kCxx = R"(
#include <godwit/task.hpp>
int twice(int x) { return 2 * x; }
int main() { return godwit::fork() && godwit::this_thread::id() == 1 ? static_cast<int>(godwit::task_number<twice>()) : 0; })";
  const auto exports_tasks = [](const BuildOutput& built) {
    const auto exports = wire::read_exports(built.wasm).value();
    return std::ranges::count_if(exports, [](const wire::Export& item) { return item.name.starts_with("godwit_task_"); });
  };
  const auto c = build_text("tasks.c", kC), cxx = build_text("tasks.cc", kCxx);
  ASSERT_TRUE(c) << c.error().detail;
  ASSERT_TRUE(cxx) << cxx.error().detail;
  EXPECT_EQ(exports_tasks(*c), 2);
  EXPECT_EQ(exports_tasks(*cxx), 2);
  EXPECT_EQ(exports_tasks(build_text("hello.c", kHello).value()), 0);
}

TEST_F(BuildTest, MakesAMobileModuleOfCxxThatThrows) {
  const auto built = build_text("throws.cc", R"(
#include <iostream>
#include <stdexcept>
#include <vector>
int main(int argc, char**) {
  std::vector<int> v(3);
  try {
    std::cout << v.at(static_cast<unsigned>(argc)) << std::stoi("5") << "\n";
    if (argc > 7) throw std::runtime_error("many");
  } catch (const std::exception& e) {
    std::cout << e.what();
  }
})");
  ASSERT_TRUE(built) << built.error().detail;
  EXPECT_GT(built->report.functions, 100u);
}

TEST_F(BuildTest, ProgramsWithoutExceptionsLinkNothingOfThem) {
  constexpr std::string_view kProgram = R"(
#include <vector>
int main(int argc, char**) { return static_cast<int>(std::vector<int>(static_cast<unsigned>(argc)).size()); })";
  const BuildOutput throwing = build_text("vector.cc", kProgram).value();
  const BuildOutput plain = build_text("vector.cc", kProgram, {"-fno-exceptions"}).value();
  EXPECT_GT(throwing.report.functions, plain.report.functions);
  EXPECT_TRUE(build_text("vector.cc", kProgram, {"-fignore-exceptions"}));
  EXPECT_EQ(build_text("vector.cc", kProgram, {"-fno-exceptions", "-fexceptions"}).value().report.functions, throwing.report.functions);
}

TEST_F(BuildTest, AModuleOfAnotherToolchainMayUseExceptions) {
  // (module (tag $e) (memory (export "memory") 1) (func (export "_start") try throw $e catch $e end))
  const Bytes wasm = {0x00, 0x61, 0x73, 0x6d, 1,   0, 0, 0,  1,  4, 1, 0x60, 0,    0,    3,    2,   1,    0, 5,    3,   1,
                      0,    1,    13,   3,    1,   0, 0, 7,  19, 2, 6, 'm',  'e',  'm',  'o',  'r', 'y',  2, 0,    6,   '_',
                      's',  't',  'a',  'r',  't', 0, 0, 10, 11, 1, 9, 0,    0x06, 0x40, 0x08, 0,   0x07, 0, 0x0b, 0x0b};
  ASSERT_TRUE(os::write_file_atomic(dir_.path() / "throws.wasm", wasm));
  const auto built = build({.inputs = {dir_.path() / "throws.wasm"}});
  ASSERT_TRUE(built) << built.error().detail;
  const auto sections = wire::read_sections(built->wasm);
  ASSERT_TRUE(sections);
  for (const wire::Section& section : *sections) EXPECT_NE(section.id, wire::SectionId::tag);
}

TEST_F(BuildTest, AFileThatAFlagBringsIsThereOnce) {
  write("once.h", "static int once = 1;\n");
  const auto built = build_text("main.c", "int main(void) { return once; }", {"-include" + (dir_.path() / "once.h").string()});
  EXPECT_TRUE(built) << built.error().detail;
}

TEST_F(BuildTest, DivisionOf128BitsLinks) {
  const auto built = build_text("wide.cc", R"(
#include <format>
int main(int argc, char**) { return static_cast<int>(static_cast<unsigned __int128>(argc) % 7) + static_cast<int>(std::format("{}", argc).size()); })");
  EXPECT_TRUE(built) << built.error().detail;
}

TEST_F(BuildTest, TheSameInputGivesTheSameBytesFromTheCache) {
  const BuildOutput first = build_text("hello.c", kHello).value();
  const BuildOutput second = build_text("hello.c", kHello).value();
  EXPECT_EQ(second.origin, Origin::cached);
  EXPECT_EQ(second.wasm, first.wasm);
  EXPECT_EQ(second.report.loops, first.report.loops);

  fs::remove_all(dir_.path() / "cache");
  const BuildOutput third = build_text("hello.c", kHello).value();
  EXPECT_EQ(third.origin, Origin::built);
  EXPECT_EQ(third.wasm, first.wasm);
}

TEST_F(BuildTest, EverythingThatDecidesTheResultIsPartOfTheKey) {
  const fs::path source = write("main.c", "#include \"n.h\"\nint main(void) { return N; }");
  write("n.h", "#define N 1\n");
  BuildRequest request{.inputs = {source}};
  ASSERT_EQ(build(request).value().origin, Origin::built);
  ASSERT_EQ(build(request).value().origin, Origin::cached);

  write("n.h", "#define N 2\n");
  EXPECT_EQ(build(request).value().origin, Origin::built) << "a header";
  request.extra_flags = {"-DM=1"};
  EXPECT_EQ(build(request).value().origin, Origin::built) << "a flag";
  request.mobility.level = wire::Level::coarse;
  EXPECT_EQ(build(request).value().origin, Origin::built) << "the level";
  request.mobility.poll = prep::PollChoice::counter;
  EXPECT_EQ(build(request).value().origin, Origin::built) << "the poll";
  EXPECT_EQ(build(request).value().origin, Origin::cached);
}

TEST_F(BuildTest, AnotherLevelIsMadeOfTheSameLinkedModule) {
  const auto entries = [&] {
    return std::distance(fs::directory_iterator(dir_.path() / "cache" / "godwit" / "build"), fs::directory_iterator());
  };
  BuildRequest request{.inputs = {write("hello.c", kHello)}};
  ASSERT_EQ(build(request).value().origin, Origin::built);
  const auto first = entries();  // parts of the runtime, the linked module and the mobile one
  request.mobility.level = wire::Level::coarse;
  ASSERT_EQ(build(request).value().origin, Origin::built);
  EXPECT_EQ(entries(), first + 1) << "the other mobile module alone";
}

TEST_F(BuildTest, ADamagedCacheEntryIsBuiltAgain) {
  const BuildOutput first = build_text("hello.c", kHello).value();
  for (const auto& entry : fs::directory_iterator(dir_.path() / "cache" / "godwit" / "build")) {
    Bytes bytes = os::read_file(entry.path(), 1 << 24).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(os::write_file_atomic(entry.path(), bytes));
  }
  const BuildOutput second = build_text("hello.c", kHello).value();
  EXPECT_EQ(second.origin, Origin::built);
  EXPECT_EQ(second.wasm, first.wasm);
}

TEST_F(BuildTest, KeepsTheWarningsOfTheCompiler) {
  constexpr std::string_view kWarns = "int main(void) { int x = 3000000000ll; return x; }";
  for (Origin origin : {Origin::built, Origin::cached}) {
    const BuildOutput built = build_text("warns.c", kWarns).value();
    EXPECT_EQ(built.origin, origin);
    EXPECT_NE(built.warnings.find("implicit conversion"), std::string::npos);
    EXPECT_NE(built.warnings.find("warns.c:1:"), std::string::npos) << "names the file of the user: " << built.warnings;
  }
}

TEST_F(BuildTest, TakesWasmWhateverItsName) {
  BuildRequest immobile{.inputs = {write("hello.c", kHello)}, .mobility = {.level = wire::Level::off}};
  const BuildOutput built = build_text("hello.bin", as_text(without_module_info(build(immobile).value().wasm))).value();
  EXPECT_EQ(wire::read_module_info(built.wasm).value().level, wire::Level::fine);
}

TEST_F(BuildTest, RefusesBadInputWithTheReasonAndWritesNothing) {
  // Well-formed outside, nonsense in the body of _start.
  constexpr std::string_view kBadCode(
      "\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\5\3\1\0\1\7\x13\2\6_start\0\0\6memory\2\0\x0a\7\1\5\0\xff\xff\xff\x0b", 53);
  const struct {
    const char* name;
    std::string_view text;
    std::vector<std::string> flags;
    const char* expected;
  } cases[] = {
      {"broken.c", "int main(void) { return }", {}, "expected expression"},
      {"lost.c", "#include <no/such/header.h>\nint main(void) {}", {}, "no/such/header.h"},
      {"host.c", "#include <sys/epoll.h>\nint main(void) {}", {}, "sys/epoll.h"},
      {"library.c", "int twice(int n) { return 2 * n; }", {}, "undefined symbol: main"},
      {"import.c", "__attribute__((import_module(\"env\"), import_name(\"f\"))) void f(void);\nint main(void) { f(); }", {}, "env.f"},
      {"notes.txt", "hello", {}, "neither a wasm module nor C or C++"},
      {"empty.wasm", "", {}, "not a wasm module"},
      {"cut.wasm", std::string_view("\0asm\1\0\0\0\1\xff", 10), {}, "cut off"},
      {"code.wasm", kBadCode, {}, "malformed"},
      {"flag.c", "int main(void) {}", {"--target=x86_64"}, "--target"},
      {"word.c", "int main(void) {}", {"other.c"}, "not a compiler flag"},
      {"unknown.c", "int main(void) {}", {"-fno-such-flag"}, "-fno-such-flag"},
  };
  for (const auto& c : cases) {
    const auto built = build_text(c.name, c.text, c.flags);
    ASSERT_FALSE(built) << c.name;
    EXPECT_EQ(built.error().kind, Kind::invalid) << c.name << ": " << built.error().detail;
    EXPECT_NE(built.error().detail.find(c.expected), std::string::npos) << c.name << ": " << built.error().detail;
    EXPECT_FALSE(fs::exists(output())) << c.name;
  }
}

TEST_F(BuildTest, LinksSourcesOfBothLanguages) {
  BuildRequest request{.inputs = {write("main.cc", "extern \"C\" int twice(int);\nint main(int n, char**) { return twice(n); }"),
                                  write("twice.c", "int twice(int n) { return FACTOR * n; }")},
                       .extra_flags = {"-DFACTOR=2"}};
  const auto built = build(request);
  ASSERT_TRUE(built) << built.error().detail;
  EXPECT_EQ(build(request).value().origin, Origin::cached);
  write("twice.c", "int twice(int n) { return FACTOR * n + 1; }");
  EXPECT_EQ(build(request).value().origin, Origin::built) << "the second source";
  std::swap(request.inputs[0], request.inputs[1]);
  EXPECT_EQ(build(request).value().origin, Origin::built) << "the order";
}

TEST_F(BuildTest, OfSeveralSourcesTheOneThatFailsIsNamed) {
  const auto built = build({.inputs = {write("good.c", "int main(void) {}"), write("bad.c", "int f(void) { return }")}});
  EXPECT_NE(built.error().detail.find("bad.c does not compile"), std::string::npos) << built.error().detail;
}

TEST_F(BuildTest, AModuleIsBuiltAlone) {
  const auto built = build({.inputs = {write("main.c", "int main(void) {}"), write("m.wasm", std::string_view("\0asm\1\0\0\0", 8))}});
  EXPECT_NE(built.error().detail.find("build it alone"), std::string::npos) << built.error().detail;
  EXPECT_EQ(build({}).error().kind, Kind::invalid);
}

TEST_F(BuildTest, SaysWhenTheInputIsMissing) {
  const auto built = build({.inputs = {dir_.path() / "nowhere.c"}});
  EXPECT_EQ(built.error().kind, Kind::not_found);
}

}  // namespace
}  // namespace gw::toolchain

#include "wire/image/image.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"

namespace gw::wire {
namespace {

Bytes page_of(std::uint8_t seed) {
  Bytes page(kPageBytes);
  for (std::size_t i = 0; i < page.size(); i += 97) page[i] = static_cast<std::uint8_t>(seed + i / 97);
  page.back() = 1;
  return page;
}

GlobalValue global(ValueType type, std::uint8_t fill, std::size_t size) {
  GlobalValue value{.type = type, .bytes = {}};
  std::fill_n(value.bytes.begin(), size, fill);
  return value;
}

// Owns what the content points to.
struct Example {
  Bytes first = page_of(1), second = page_of(2), third = page_of(3), packed = *compress_page(second),
        module = {0, 'a', 's', 'm', 1, 0, 0, 0};
  ImageContent full{
      .module_hash = sha256(module),
      .phase = Phase::suspended,
      .memory_pages = 1040,
      .file_pages = 7,
      .globals = {global(ValueType::i32, 0x11, 4), global(ValueType::i64, 0x22, 8), global(ValueType::f32, 0x33, 4),
                  global(ValueType::f64, 0x44, 8), global(ValueType::v128, 0x55, 16)},
      .wasi_state = {1, 2, 3},
      .job_state = {4, 5},
      .module_wasm = module,
      .pages = {{.index = 3, .hash = sha256(first), .storage = Storage::raw, .stored = first},
                {.index = 39, .hash = sha256(second), .storage = Storage::zstd, .stored = packed},
                {.index = 1039, .hash = sha256(first), .storage = Storage::raw, .stored = first},
                {.index = kFirstFilePage + 6, .hash = sha256(third), .storage = Storage::elsewhere, .stored = {}}},
      .nodes_elsewhere = {},
  };
  // The first page is the one of `full`, the second has changed, the third is in a node that has not.
  ImageContent incremental(const Image& before) const {
    ImageContent content = full;
    content.module_wasm = {};
    content.pages[0] = {.index = 3, .hash = sha256(first), .storage = Storage::elsewhere, .stored = {}};
    content.pages[1] = {.index = 38, .hash = sha256(second), .storage = Storage::zstd, .stored = packed};
    content.pages.erase(content.pages.begin() + 2);
    content.nodes_elsewhere = {before.nodes().at(1)};
    return content;
  }
};

std::filesystem::path testdata(std::string_view name) { return std::filesystem::path(GODWIT_TESTDATA) / name; }

Bytes copy(ByteView bytes) { return Bytes(bytes.begin(), bytes.end()); }

void expect_equal(const ImageContent& a, const ImageContent& b) {
  EXPECT_EQ(a.module_hash, b.module_hash);
  EXPECT_EQ(a.phase, b.phase);
  EXPECT_EQ(a.memory_pages, b.memory_pages);
  EXPECT_EQ(a.file_pages, b.file_pages);
  EXPECT_EQ(a.globals, b.globals);
  EXPECT_EQ(a.wasi_state, b.wasi_state);
  EXPECT_EQ(a.job_state, b.job_state);
  EXPECT_EQ(a.nodes_elsewhere, b.nodes_elsewhere);
  EXPECT_EQ(copy(a.module_wasm), copy(b.module_wasm));
  ASSERT_EQ(a.pages.size(), b.pages.size());
  for (std::size_t i = 0; i < a.pages.size(); i++) {
    EXPECT_EQ(a.pages[i].index, b.pages[i].index);
    EXPECT_EQ(a.pages[i].hash, b.pages[i].hash);
    EXPECT_EQ(a.pages[i].storage, b.pages[i].storage);
    EXPECT_EQ(copy(a.pages[i].stored), copy(b.pages[i].stored));
  }
}

constexpr std::size_t kRootOffset = 64;

std::size_t root_bytes(const Bytes& file) { return file[12] | file[13] << 8 | file[14] << 16; }

// Puts the right id over a changed root, as an attacker would.
Bytes with_right_id(Bytes file) {
  if (file.size() < kRootOffset + root_bytes(file)) return file;
  const Hash256 id = sha256(ByteView(file).subspan(kRootOffset, root_bytes(file)));
  std::ranges::copy(id.bytes, file.begin() + 24);
  return file;
}

TEST(Image, SurvivesEncoding) {
  Example example;
  auto encoded = Image::encode(example.full);
  ASSERT_TRUE(encoded) << encoded.error().detail;
  auto decoded = Image::decode(copy(encoded->encoded()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  expect_equal(decoded->content(), example.full);
  EXPECT_EQ(decoded->id(), encoded->id());
  EXPECT_TRUE(decoded->verify_pages());
  Bytes page(kPageBytes);
  EXPECT_TRUE(load_page(decoded->content().pages[1], page));
  EXPECT_EQ(page, example.second);
}

TEST(Image, RefusesEveryTruncation) {
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  for (std::size_t size = 0; size < file.size(); size += size < 1000 ? 1 : 997) {
    auto decoded = Image::decode(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_FALSE(decoded) << size;
    EXPECT_FALSE(decoded.error().detail.empty());
  }
  file.push_back(0);
  EXPECT_FALSE(Image::decode(file));
}

TEST(Image, RefusesEveryFlippedBitOfMetadata) {
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  const std::size_t metadata = file.size() - kPageBytes - example.packed.size();  // head, root, module, table and nodes
  for (std::size_t bit = 0; bit < 8 * metadata; bit++) {
    Bytes bad = file;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_FALSE(Image::decode(bad)) << bit;
  }
}

TEST(Image, FindsDamagedPages) {
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  Rng rng(1);
  for (int i = 0; i < 50; i++) {
    Bytes bad = file;
    std::size_t payload = kPageBytes + example.packed.size();
    bad[bad.size() - 1 - rng.below(payload)] ^= 0x20;
    auto decoded = Image::decode(bad);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->verify_pages().error().kind, Kind::corrupt);
  }
}

TEST(Image, SaysWhatIsWrong) {
  EXPECT_EQ(Image::decode({}).error().detail, "this is not a Godwit image");
  EXPECT_EQ(Image::decode(Bytes(500, 'x')).error().kind, Kind::invalid);
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  Bytes future = file;
  future[8] = 9;
  EXPECT_EQ(Image::decode(future).error().kind, Kind::unsupported);
  Bytes foreign = file;
  foreign[kRootOffset + 2] = 9;  // ABI version
  EXPECT_EQ(Image::decode(with_right_id(foreign)).error().kind, Kind::unsupported);
  Bytes cut(file.begin(), file.end() - 1);
  EXPECT_NE(Image::decode(cut).error().detail.find("incomplete"), std::string::npos);
}

// A valid id does not make a lie true.
TEST(Image, ChecksFieldsUnderARightId) {
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  const std::size_t globals = kRootOffset + 60 + 3 + 2, nodes = globals + 5 * 17, pack = kRootOffset + root_bytes(file) + 8;
  struct Case {
    std::size_t offset;
    std::uint8_t value;
    const char* what;
  };
  for (const Case& c : {Case{10, 1, "reserved"},
                        Case{15, 1, "large root"},
                        Case{59, 1, "large module"},
                        Case{60, 1, "reserved"},
                        Case{kRootOffset + 3, 2, "phase"},
                        Case{kRootOffset + 39, 0xff, "memory of 256 TiB"},
                        Case{kRootOffset + 36, 15, "page outside memory"},
                        Case{kRootOffset + 37, 3, "node outside memory"},
                        Case{kRootOffset + 40, 6, "page outside files"},
                        Case{kRootOffset + 43, 1, "files of 1 TiB"},
                        Case{kRootOffset + 44, 4, "WASI size"},
                        Case{kRootOffset + 48, 3, "job size"},
                        Case{kRootOffset + 51, 2, "large job state"},
                        Case{kRootOffset + 55, 1, "many globals"},
                        Case{kRootOffset + 59, 1, "many nodes"},
                        Case{globals, 0x70, "reference"},
                        Case{globals + 6, 1, "wide i32"},
                        Case{nodes, 4, "equal nodes"},
                        Case{nodes + 36 + 2, 1, "node outside"},
                        Case{nodes + 4, static_cast<std::uint8_t>(file[nodes + 4] ^ 1), "a blob that belongs to nothing"},
                        Case{pack + 7, 2, "pack of another version"},
                        Case{pack + 11, 1, "many blobs"},
                        Case{pack + 12 + 32, 2, "compressed node"},
                        Case{pack + 12 + 32, 0, "node here and elsewhere"},
                        Case{pack + 12 + 33, 1, "stored size"}}) {
    Bytes bad = file;
    ASSERT_NE(bad[c.offset], c.value) << c.what;
    bad[c.offset] = c.value;
    bad = with_right_id(bad);
    EXPECT_FALSE(Image::decode(bad)) << c.what;
  }
}

TEST(Image, LeavesUnchangedNodesAndPagesToOthers) {
  Example example;
  auto parent = Image::encode(example.full);
  ASSERT_TRUE(parent);
  auto child = Image::encode(example.incremental(*parent));
  ASSERT_TRUE(child) << child.error().detail;
  auto decoded = Image::decode(copy(child->encoded()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->content().nodes_elsewhere, std::vector{parent->nodes()[1]});
  EXPECT_EQ(decoded->nodes().size(), 3u);
  EXPECT_EQ(decoded->content().pages[0].storage, Storage::elsewhere);
  EXPECT_EQ(decoded->content().pages[0].hash, parent->content().pages[0].hash);
}

TEST(Image, RefusesAModuleWithAnotherHash) {
  Example example;
  example.full.module_hash = sha256(as_bytes("something else"));
  auto image = Image::encode(example.full);
  ASSERT_TRUE(image);
  EXPECT_FALSE(Image::decode(copy(image->encoded())));
}

TEST(Image, RefusesCompressedGarbage) {
  Bytes garbage(100, 0x28), page(kPageBytes);
  ImagePage entry{.index = 5, .hash = {}, .storage = Storage::zstd, .stored = garbage};
  EXPECT_EQ(load_page(entry, page).error().detail, "page 5 of the image does not decompress; use another copy");
}

TEST(Image, LoadsTwoPagesAtOnceAndChecksEach) {
  const Bytes ones(kPageBytes, 1), twos(kPageBytes, 2);
  const ImagePage one{.index = 1, .hash = sha256(ones), .storage = Storage::raw, .stored = ones};
  const ImagePage two{.index = 2, .hash = sha256(twos), .storage = Storage::raw, .stored = twos};
  ImagePage damaged = two;
  damaged.stored = ones;
  Bytes first(kPageBytes), second(kPageBytes);
  ASSERT_TRUE(load_both({one, first}, {two, second}));
  EXPECT_EQ(first, ones);
  EXPECT_EQ(second, twos);
  const std::string reason = "page 2 of the image has another hash than it should; use another copy";
  EXPECT_EQ(load_both({one, first}, {damaged, second}).error().detail, reason);
  EXPECT_EQ(load_both({damaged, first}, {one, second}).error().detail, reason);
}

TEST(Image, EncodesOnlyWhatItCouldDecode) {
  Example example;
  ImageContent bad = example.full;
  bad.pages[2].index = 1040;
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.nodes_elsewhere = {{.number = 0, .hash = {}}};  // its pages are listed, too
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.pages[0].storage = Storage::elsewhere;  // its bytes are given, too
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.pages[3].index = kFirstFilePage + 7;
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.globals.resize(kMaxModuleGlobals + 1);
  EXPECT_FALSE(Image::encode(bad));
}

TEST(Image, StoresEqualPagesOnceAndNoZerosAtTheirEnd) {
  Bytes page(kPageBytes);
  page[100] = 1;
  const ByteView stored = without_end_zeros(page);
  EXPECT_EQ(stored.size(), 128u);
  ImageContent content{.memory_pages = 300};
  for (const std::uint32_t index : {0u, 7u, 299u})
    content.pages.push_back({.index = index, .hash = sha256(stored), .storage = Storage::raw, .stored = stored});
  const auto image = Image::encode(content);
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(image->pack().blobs().size(), 3u) << "two nodes and a page";
  EXPECT_LT(image->encoded().size(), 700u);
  const auto decoded = Image::decode(copy(image->encoded()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  Bytes loaded(kPageBytes, 0xff);
  ASSERT_TRUE(load_page(decoded->content().pages[2], loaded));
  EXPECT_EQ(loaded, page);
  // The same page under another name would make two images of one state.
  content.pages[0].stored = ByteView(page).first(192);
  EXPECT_FALSE(Image::encode(content));
}

TEST(Image, KeepsLongStatesBesideItsRoot) {
  Example example;
  example.full.wasi_state.assign(200'000, 7);
  example.full.job_state.assign(kMaxStateInRoot, 8);
  const auto image = Image::encode(example.full);
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_LT(image->root().size(), 35'000u);
  const auto decoded = Image::decode(copy(image->encoded()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->content().wasi_state, example.full.wasi_state);
  EXPECT_EQ(decoded->content().job_state, example.full.job_state);
}

// The largest memory there is: its root is small, and its nodes are a two-thousandth of it.
TEST(Image, DescribesFourGibibytesInFewBytes) {
  ImageContent content{.memory_pages = kMaxMemoryPages};
  for (std::uint32_t index = 0; index < kMaxMemoryPages; ++index) {
    Hash256 hash;
    hash.bytes[0] = static_cast<std::uint8_t>(index), hash.bytes[1] = static_cast<std::uint8_t>(index >> 8);
    content.pages.push_back({.index = index, .hash = hash, .storage = Storage::elsewhere, .stored = {}});
  }
  const auto image = Image::encode(content);
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(image->nodes().size(), 256u);
  EXPECT_LT(image->root().size(), 10'000u);
  EXPECT_LT(image->encoded().size(), 2'200'000u);
  content.pages.clear();
  content.nodes_elsewhere = image->nodes();
  const auto root_only = Image::encode(content);
  ASSERT_TRUE(root_only);
  EXPECT_EQ(root_only->id(), image->id());
  EXPECT_LT(root_only->encoded().size(), 10'000u);
}

// The files of version 4 never change: what was saved once must stay readable.
class GoldenImage : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenImage, DecodesAndEncodesToTheSameBytes) {
  std::ifstream stream(testdata(GetParam()), std::ios::binary);
  Bytes golden{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_FALSE(golden.empty());
  auto decoded = Image::decode(golden);
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_TRUE(decoded->verify_pages());
  auto again = Image::encode(decoded->content());
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(copy(again->encoded()), golden);
}

INSTANTIATE_TEST_SUITE_P(Version4, GoldenImage, ::testing::Values("full.v4.image", "incremental.v4.image"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

TEST(GoldenImage, HoldsTheExample) {
  Example example;
  std::ifstream stream(testdata("full.v4.image"), std::ios::binary);
  auto decoded = Image::decode(Bytes{std::istreambuf_iterator<char>(stream), {}});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  // Page 1 is not compared by its bytes: another zstd may compress differently.
  example.full.pages[1].stored = decoded->content().pages[1].stored;
  expect_equal(decoded->content(), example.full);
}

}  // namespace
}  // namespace gw::wire

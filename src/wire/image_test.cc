#include "wire/image.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/rng.h"

namespace gw::wire {
namespace {

Bytes page_of(std::uint8_t seed) {
  Bytes page(kPageBytes);
  for (std::size_t i = 0; i < page.size(); i += 97) page[i] = static_cast<std::uint8_t>(seed + i / 97);
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
      .memory_pages = 40,
      .file_pages = 7,
      .globals = {global(ValueType::i32, 0x11, 4), global(ValueType::i64, 0x22, 8), global(ValueType::f32, 0x33, 4),
                  global(ValueType::f64, 0x44, 8), global(ValueType::v128, 0x55, 16)},
      .wasi_state = {1, 2, 3},
      .job_state = {4, 5},
      .parent = std::nullopt,
      .module_wasm = module,
      .pages = {{.index = 3, .hash = sha256(first), .storage = Storage::raw, .stored = first},
                {.index = 39, .hash = sha256(second), .storage = Storage::zstd, .stored = packed},
                {.index = kFirstFilePage + 6, .hash = sha256(third), .storage = Storage::elsewhere, .stored = {}}},
  };
  // Its first page is the one of `full`, its second has changed.
  ImageContent incremental(const Image& parent) const {
    ImageContent content = full;
    content.parent = parent.id();
    content.module_wasm = {};
    content.pages[0] = {.index = 3, .hash = sha256(first), .storage = Storage::elsewhere, .stored = {}};
    content.pages[1] = {.index = 38, .hash = sha256(first), .storage = Storage::raw, .stored = first};
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
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(copy(a.module_wasm), copy(b.module_wasm));
  ASSERT_EQ(a.pages.size(), b.pages.size());
  for (std::size_t i = 0; i < a.pages.size(); i++) {
    EXPECT_EQ(a.pages[i].index, b.pages[i].index);
    EXPECT_EQ(a.pages[i].hash, b.pages[i].hash);
    EXPECT_EQ(a.pages[i].storage, b.pages[i].storage);
    EXPECT_EQ(copy(a.pages[i].stored), copy(b.pages[i].stored));
  }
}

// Puts the right id over changed metadata, as an attacker would.
Bytes with_right_id(Bytes file) {
  std::size_t metadata = file[12] | file[13] << 8 | file[14] << 16 | static_cast<std::size_t>(file[15]) << 24;
  if (metadata < 56 || metadata > file.size()) return file;
  Sha256 hash;
  hash.update(ByteView(file).first(24));
  hash.update(ByteView(file).first(metadata).subspan(56));
  Hash256 id = hash.finish();
  std::copy(id.bytes.begin(), id.bytes.end(), file.begin() + 24);
  return file;
}

TEST(Image, SurvivesEncoding) {
  Example example;
  auto encoded = Image::encode(example.full);
  ASSERT_TRUE(encoded) << encoded.error().detail;
  EXPECT_EQ(encoded->encoded().size(), Image::encoded_size(example.full));
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
  std::size_t metadata = file.size() - kPageBytes - example.packed.size() - example.module.size();
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
  foreign[88] = 9;  // ABI version
  EXPECT_EQ(Image::decode(with_right_id(foreign)).error().kind, Kind::unsupported);
  Bytes cut(file.begin(), file.end() - 1);
  EXPECT_NE(Image::decode(cut).error().detail.find("incomplete"), std::string::npos);
}

// A valid id does not make a lie true.
TEST(Image, ChecksFieldsUnderARightId) {
  Example example;
  Bytes file = copy(Image::encode(example.full)->encoded());
  std::size_t globals = 152 + 3 + 2, pages = globals + 5 * 17;
  struct Case {
    std::size_t offset;
    std::uint8_t value;
    const char* what;
  };
  for (const Case& c : {Case{10, 0, "module without its flag"},
                        Case{89, 2, "phase"},
                        Case{90, 1, "reserved"},
                        Case{95, 0xff, "memory of 256 TiB"},
                        Case{92, 39, "page outside memory"},
                        Case{96, 6, "page outside files"},
                        Case{99, 1, "files of 1 TiB"},
                        Case{100, 3, "job size"},
                        Case{103, 2, "large job state"},
                        Case{104, 1, "parent"},
                        Case{140, 4, "WASI size"},
                        Case{147, 1, "many globals"},
                        Case{151, 1, "many pages"},
                        Case{globals, 0x70, "reference"},
                        Case{globals + 6, 1, "wide i32"},
                        Case{pages, 39, "equal indices"},
                        Case{pages + 4, 0, "page here and elsewhere"},
                        Case{pages + 4, 2, "plain as compressed"},
                        Case{pages + 4, 3, "storage"},
                        Case{pages + 8, 1, "stored size"}}) {
    Bytes bad = file;
    ASSERT_NE(bad[c.offset], c.value) << c.what;
    bad[c.offset] = c.value;
    bad = with_right_id(bad);
    EXPECT_FALSE(Image::decode(bad)) << c.what;
  }
}

TEST(Image, LeavesUnchangedPagesToItsParent) {
  Example example;
  auto parent = Image::encode(example.full);
  ASSERT_TRUE(parent);
  auto child = Image::encode(example.incremental(*parent));
  ASSERT_TRUE(child) << child.error().detail;
  auto decoded = Image::decode(copy(child->encoded()));
  ASSERT_TRUE(decoded) << decoded.error().detail;
  EXPECT_EQ(decoded->content().parent, parent->id());
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
  bad.pages[1].index = 40;
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.pages[0].storage = Storage::elsewhere;  // its bytes are given, too
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.pages[2].index = kFirstFilePage + 7;
  EXPECT_FALSE(Image::encode(bad));
  bad = example.full;
  bad.globals.resize(kMaxModuleGlobals + 1);
  EXPECT_FALSE(Image::encode(bad));
}

// The files of version 3 never change: what was saved once must stay readable.
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

INSTANTIATE_TEST_SUITE_P(Version3, GoldenImage, ::testing::Values("full.v3.image", "incremental.v3.image"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

TEST(GoldenImage, HoldsTheExample) {
  Example example;
  std::ifstream stream(testdata("full.v3.image"), std::ios::binary);
  auto decoded = Image::decode(Bytes{std::istreambuf_iterator<char>(stream), {}});
  ASSERT_TRUE(decoded) << decoded.error().detail;
  // Not by bytes: another zstd may compress differently.
  example.full.pages[1].stored = decoded->content().pages[1].stored;
  expect_equal(decoded->content(), example.full);
}

}  // namespace
}  // namespace gw::wire

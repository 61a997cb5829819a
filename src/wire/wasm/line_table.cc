#include "wire/wasm/line_table.h"

#include <algorithm>

#include "base/check.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::wire {
namespace {

// Small numbers of either sign become small numbers: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
std::uint64_t zigzag(std::int64_t value) { return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63); }
std::int64_t from_zigzag(std::uint64_t value) { return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1); }

// Reads the rows of a section one after the other.
class RowReader {
 public:
  RowReader(ByteReader in, std::uint32_t count, std::size_t files) : in_(in), left_(count), files_(files) {}

  // Nothing at the end.
  Result<std::optional<LineTable::Row>> next() {
    if (left_ == 0) return std::optional<LineTable::Row>();
    --left_;
    GW_TRY(auto step, in_.leb_u32());
    GW_TRY(row_.file, in_.leb_u32());
    GW_TRY(auto line_step, in_.leb_u64());
    const std::uint64_t offset = std::uint64_t{row_.offset} + step;
    const std::uint64_t line = row_.line + static_cast<std::uint64_t>(from_zigzag(line_step));
    if (row_.file >= files_ || offset > UINT32_MAX || line > UINT32_MAX)
      return fail(Kind::corrupt, "the line table of the module is damaged");
    row_.offset = static_cast<std::uint32_t>(offset);
    row_.line = static_cast<std::uint32_t>(line);
    return std::optional(row_);
  }

 private:
  ByteReader in_;
  std::uint32_t left_;
  std::size_t files_;
  LineTable::Row row_{};
};

struct Lookup {
  std::uint32_t offset;
  std::size_t index;  // of the answer
};

Result<std::vector<std::optional<SourceLine>>> look_up(ByteView section, const std::vector<Lookup>& wanted, std::size_t answers) {
  ByteReader in(section);
  GW_TRY(auto version, in.u8());
  if (version != kLinesVersion)
    return fail(Kind::unsupported, "the line table of the module has version {}, not {}", version, kLinesVersion);
  GW_TRY(auto file_count, in.leb_u32());
  std::vector<std::string_view> files;
  for (std::uint32_t i = 0; i < file_count; ++i) {
    GW_TRY(auto length, in.leb_u32());
    GW_TRY(auto name, in.bytes(length));
    files.push_back(as_text(name));
  }
  GW_TRY(auto row_count, in.leb_u32());
  RowReader rows(in, row_count, files.size());
  std::vector<std::optional<SourceLine>> found(answers);
  std::optional<LineTable::Row> current;
  GW_TRY(auto next, rows.next());
  for (const Lookup& one : wanted) {
    while (next && next->offset <= one.offset) {
      current = next;
      GW_TRY(next, rows.next());
    }
    if (current && current->line != 0) found[one.index] = SourceLine{std::string(files[current->file]), current->line};
  }
  return found;
}

}  // namespace

Bytes encode(const LineTable& table) {
  ByteWriter out;
  out.u8(kLinesVersion);
  out.leb_u32(static_cast<std::uint32_t>(table.files.size()));
  for (const std::string& file : table.files) {
    out.leb_u32(static_cast<std::uint32_t>(file.size()));
    out.bytes(as_bytes(file));
  }
  out.leb_u32(static_cast<std::uint32_t>(table.rows.size()));
  LineTable::Row before{};
  for (const LineTable::Row& row : table.rows) {
    GW_ASSERT(row.offset >= before.offset && row.file < table.files.size());
    out.leb_u32(row.offset - before.offset);
    out.leb_u32(row.file);
    out.leb_u64(zigzag(std::int64_t{row.line} - std::int64_t{before.line}));
    before = row;
  }
  return out.take();
}

Result<std::vector<std::optional<SourceLine>>> find_lines(ByteView wasm, std::span<const std::uint32_t> offsets) {
  GW_TRY(auto sections, read_sections(wasm));
  const auto code = std::ranges::find(sections, SectionId::code, &Section::id);
  const auto lines = std::ranges::find(sections, kLinesSection, &Section::name);
  if (code == sections.end() || lines == sections.end()) return fail(Kind::not_found, "the module has no line table");
  const auto code_start = static_cast<std::uint32_t>(code->payload.data() - wasm.data());
  std::vector<Lookup> wanted;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i] >= code_start) wanted.push_back({offsets[i] - code_start, i});
  std::ranges::sort(wanted, {}, &Lookup::offset);
  return look_up(lines->payload, wanted, offsets.size());
}

}  // namespace gw::wire

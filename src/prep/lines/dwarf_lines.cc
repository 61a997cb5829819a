#include "prep/lines/dwarf_lines.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "wire/wasm/wasm_binary.h"

namespace gw::prep {
namespace {

constexpr std::size_t kMaxRows = 32u << 20;
constexpr std::size_t kMaxFileName = 4096;

namespace standard {
constexpr std::uint8_t extended = 0, copy = 1, advance_pc = 2, advance_line = 3, set_file = 4, const_add_pc = 8, fixed_advance_pc = 9;
}
namespace extended {
constexpr std::uint8_t end_sequence = 1, set_address = 2;
}
namespace content {
constexpr std::uint64_t path = 1, directory = 2;
}
namespace form {
constexpr std::uint64_t data2 = 0x05, data4 = 0x06, data8 = 0x07, string = 0x08, block = 0x09, data1 = 0x0b, strp = 0x0e, udata = 0x0f,
                        data16 = 0x1e, line_strp = 0x1f;
}

struct DebugSections {
  ByteView lines, line_strings, strings;
  std::uint32_t first_body = 0, code_bytes = 0;  // what addresses of functions lie between
};

Result<std::int64_t> signed_leb(ByteReader& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    GW_TRY(auto byte, in.u8());
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) != 0) continue;
    if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
    return static_cast<std::int64_t>(value);
  }
  return fail(Kind::corrupt, "a number of the line table is too long");
}

Result<std::string_view> text_at_end(ByteReader& in) {
  std::size_t length = 0;
  ByteReader ahead = in;
  for (;; ++length) {
    GW_TRY(auto byte, ahead.u8());
    if (byte == 0) break;
  }
  GW_TRY(auto raw, in.bytes(length));
  GW_TRY_VOID(in.u8());
  return as_text(raw);
}

Result<std::string_view> text_at(ByteView section, std::uint64_t offset) {
  if (offset >= section.size()) return fail(Kind::corrupt, "a file name of the line table lies outside its section");
  ByteReader in(section.subspan(offset));
  return text_at_end(in);
}

// The entries of a header about paths: the value of each is text or a number.
struct Entry {
  std::string_view path;
  std::uint64_t directory = 0;
};

bool is_absolute(std::string_view path) { return path.starts_with('/') || (path.size() > 2 && path[1] == ':'); }

}  // namespace

// Runs the programs of the section, one per compiled source.
class DwarfLines::Reader {
 public:
  explicit Reader(const DebugSections& sections) : sections_(sections) { lines_.files_.emplace_back(); }

  Result<DwarfLines> read() {
    ByteReader in(sections_.lines);
    while (!in.at_end()) {
      GW_TRY(std::uint64_t length, in.u32());
      wide_ = length == UINT32_MAX;
      if (wide_) {
        GW_TRY(length, in.u64());
      }
      GW_TRY(auto unit, in.bytes(length));
      GW_TRY_VOID(read_unit(unit));
    }
    // There is a sequence for each function, as a rule. Of two that overlap the first counts.
    std::ranges::sort(sequences_, {}, [](const auto& sequence) { return sequence.front().offset; });
    for (const std::vector<Row>& sequence : sequences_)
      if (lines_.rows_.empty() || lines_.rows_.back().offset <= sequence.front().offset)
        lines_.rows_.insert(lines_.rows_.end(), sequence.begin(), sequence.end());
    return std::move(lines_);
  }

 private:
  struct Header {
    std::uint16_t version = 0;
    std::uint8_t minimum_length = 1, line_range = 1, opcode_base = 1;
    std::int8_t line_base = 0;
    std::vector<std::uint8_t> operand_counts;
    std::vector<std::uint32_t> files;  // our indices by the unit's
  };

  Result<std::uint64_t> offset_of(ByteReader& in) const {
    if (wide_) return in.u64();
    GW_TRY(auto value, in.u32());
    return std::uint64_t{value};
  }

  Status read_unit(ByteView unit) {
    ByteReader in(unit);
    Header header;
    GW_TRY(header.version, in.u16());
    if (header.version < 2 || header.version > 5)
      return fail(Kind::unsupported, "the line table of the module has DWARF version {}; 2 to 5 are known", header.version);
    if (header.version == 5) GW_TRY_VOID(in.u16());  // sizes of addresses and segments
    GW_TRY(auto header_bytes, offset_of(in));
    const std::size_t header_start = in.position();
    if (header_bytes > in.remaining()) return fail(Kind::corrupt, "a header of the line table is longer than the table");
    GW_TRY_VOID(read_header(in, header));
    return run(unit.subspan(header_start + header_bytes), header);
  }

  Status read_header(ByteReader& in, Header& header) {
    GW_TRY(header.minimum_length, in.u8());
    if (header.version >= 4) GW_TRY_VOID(in.u8());  // operations per instruction
    GW_TRY_VOID(in.u8());                           // whether rows begin statements
    GW_TRY(auto line_base, in.u8());
    header.line_base = static_cast<std::int8_t>(line_base);
    GW_TRY(header.line_range, in.u8());
    GW_TRY(header.opcode_base, in.u8());
    if (header.line_range == 0 || header.opcode_base == 0) return fail(Kind::corrupt, "a header of the line table is damaged");
    GW_TRY(auto counts, in.bytes(header.opcode_base - 1u));
    header.operand_counts.assign(counts.begin(), counts.end());
    return header.version == 5 ? read_entries_5(in, header) : read_entries(in, header);
  }

  Status read_entries(ByteReader& in, Header& header) {
    std::vector<std::string_view> directories{""};
    for (;;) {
      GW_TRY(auto path, text_at_end(in));
      if (path.empty()) break;
      directories.push_back(path);
    }
    header.files.push_back(0);  // files count from 1
    for (;;) {
      Entry entry;
      GW_TRY(entry.path, text_at_end(in));
      if (entry.path.empty()) return ok();
      GW_TRY(entry.directory, in.leb_u64());
      GW_TRY_VOID(in.leb_u64());  // time
      GW_TRY_VOID(in.leb_u64());  // size
      GW_TRY_VOID(add_file(entry, directories, header));
    }
  }

  Status read_entries_5(ByteReader& in, Header& header) {
    std::vector<std::string_view> directories;
    GW_TRY_VOID(read_list(in, [&](const Entry& entry) -> Status {
      // The first is the folder of the compiler, which says nothing on another machine.
      directories.push_back(directories.empty() ? "" : entry.path);
      return ok();
    }));
    return read_list(in, [&](const Entry& entry) { return add_file(entry, directories, header); });
  }

  template <class F>
  Status read_list(ByteReader& in, F&& take) {
    GW_TRY(auto formats, in.u8());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format;
    for (unsigned i = 0; i < formats; ++i) {
      GW_TRY(auto what, in.leb_u64());
      GW_TRY(auto how, in.leb_u64());
      format.emplace_back(what, how);
    }
    GW_TRY(auto count, in.leb_u64());
    if (format.empty() ? count != 0 : count > in.remaining()) return fail(Kind::corrupt, "a list of files does not fit the line table");
    for (std::uint64_t i = 0; i < count; ++i) {
      Entry entry;
      for (const auto& [what, how] : format) GW_TRY_VOID(read_value(in, what, how, entry));
      GW_TRY_VOID(take(entry));
    }
    return ok();
  }

  Status read_value(ByteReader& in, std::uint64_t what, std::uint64_t how, Entry& entry) const {
    std::string_view text;
    std::uint64_t number = 0;
    switch (how) {
      case form::string: {
        GW_TRY(text, text_at_end(in));
        break;
      }
      case form::line_strp:
      case form::strp: {
        GW_TRY(auto offset, offset_of(in));
        GW_TRY(text, text_at(how == form::strp ? sections_.strings : sections_.line_strings, offset));
        break;
      }
      case form::udata: {
        GW_TRY(number, in.leb_u64());
        break;
      }
      case form::data1: {
        GW_TRY(number, in.u8());
        break;
      }
      case form::data2: {
        GW_TRY(number, in.u16());
        break;
      }
      case form::data4: {
        GW_TRY(number, in.u32());
        break;
      }
      case form::data8: {
        GW_TRY(number, in.u64());
        break;
      }
      case form::data16:
        GW_TRY_VOID(in.bytes(16));
        break;
      case form::block: {
        GW_TRY(auto size, in.leb_u64());
        GW_TRY_VOID(in.bytes(size));
        break;
      }
      default:
        return fail(Kind::unsupported, "a file name of the line table has the unknown form {:#x}", how);
    }
    if (what == content::path) entry.path = text;
    if (what == content::directory) entry.directory = number;
    return ok();
  }

  Status add_file(const Entry& entry, const std::vector<std::string_view>& directories, Header& header) {
    std::string path(entry.path);
    if (!is_absolute(path) && entry.directory < directories.size() && !directories[entry.directory].empty())
      path = std::string(directories[entry.directory]) + "/" + path;
    if (path.size() > kMaxFileName) return fail(Kind::corrupt, "a file name of the line table has {} bytes", path.size());
    const auto [known, is_new] = indices_.emplace(path, static_cast<std::uint32_t>(lines_.files_.size()));
    if (is_new) lines_.files_.push_back(std::move(path));
    header.files.push_back(known->second);
    return ok();
  }

  struct Registers {
    std::uint64_t address = 0, file = 1;
    std::uint64_t line = 1;
  };

  Status run(ByteView program, const Header& header) {
    ByteReader in(program);
    Registers now;
    std::vector<Row> sequence;
    const std::uint64_t const_add = (255u - header.opcode_base) / header.line_range * header.minimum_length;
    while (!in.at_end()) {
      GW_TRY(auto opcode, in.u8());
      if (opcode >= header.opcode_base) {
        const unsigned adjusted = opcode - header.opcode_base;
        now.address += std::uint64_t{adjusted / header.line_range} * header.minimum_length;
        now.line += static_cast<std::uint64_t>(std::int64_t{header.line_base} + adjusted % header.line_range);
        GW_TRY_VOID(add_row(now, header, sequence));
        continue;
      }
      switch (opcode) {
        case standard::extended:
          GW_TRY_VOID(run_extended(in, now, sequence));
          break;
        case standard::copy:
          GW_TRY_VOID(add_row(now, header, sequence));
          break;
        case standard::advance_pc: {
          GW_TRY(auto step, in.leb_u64());
          now.address += step * header.minimum_length;
          break;
        }
        case standard::advance_line: {
          GW_TRY(auto step, signed_leb(in));
          now.line += static_cast<std::uint64_t>(step);
          break;
        }
        case standard::set_file: {
          GW_TRY(now.file, in.leb_u64());
          break;
        }
        case standard::const_add_pc:
          now.address += const_add;
          break;
        case standard::fixed_advance_pc: {
          GW_TRY(auto step, in.u16());
          now.address += step;
          break;
        }
        default:
          for (unsigned i = 0; i < header.operand_counts[opcode - 1u]; ++i) GW_TRY_VOID(in.leb_u64());
      }
    }
    return ok();
  }

  Status run_extended(ByteReader& in, Registers& now, std::vector<Row>& sequence) {
    GW_TRY(auto size, in.leb_u64());
    GW_TRY(auto bytes, in.bytes(size));
    if (bytes.empty()) return fail(Kind::corrupt, "the line table has an empty instruction");
    if (bytes[0] == extended::end_sequence) {
      end_sequence(now, sequence);
      now = {};
    } else if (bytes[0] == extended::set_address) {
      if (bytes.size() > 9) return fail(Kind::corrupt, "the line table has an address of {} bytes", bytes.size() - 1);
      now.address = 0;
      for (std::size_t i = 1; i < bytes.size(); ++i) now.address |= std::uint64_t{bytes[i]} << (8 * (i - 1));
    }
    return ok();
  }

  Status add_row(const Registers& now, const Header& header, std::vector<Row>& sequence) {
    if (++rows_ > kMaxRows) return fail(Kind::unsupported, "the line table has more than {} rows", kMaxRows);
    SourcePosition position;
    if (now.line != 0 && now.line <= UINT32_MAX && now.file < header.files.size())
      position = {header.files[now.file], static_cast<std::uint32_t>(now.line)};
    // An address outside the code stays so: the linker leaves one in the tables of functions that it has dropped.
    const auto offset = static_cast<std::uint32_t>(std::min<std::uint64_t>(now.address, UINT32_MAX));
    if (!sequence.empty() && offset < sequence.back().offset) return fail(Kind::corrupt, "the line table goes backwards");
    sequence.push_back({offset, position});
    return ok();
  }

  void end_sequence(const Registers& now, std::vector<Row>& sequence) {
    const bool live = !sequence.empty() && sequence.front().offset >= sections_.first_body && now.address <= sections_.code_bytes &&
                      now.address >= sequence.back().offset;
    if (live) {
      sequence.push_back({static_cast<std::uint32_t>(now.address), {}});
      sequences_.push_back(std::move(sequence));
    }
    sequence.clear();
  }

  const DebugSections& sections_;
  bool wide_ = false;  // offsets of 64 bits
  std::size_t rows_ = 0;
  std::vector<std::vector<Row>> sequences_;
  std::map<std::string, std::uint32_t> indices_;
  DwarfLines lines_;
};

Result<std::optional<DwarfLines>> DwarfLines::read(ByteView wasm) {
  GW_TRY(auto sections, wire::read_sections(wasm));
  DebugSections debug;
  for (const wire::Section& section : sections) {
    if (section.name == ".debug_line") debug.lines = section.payload;
    if (section.name == ".debug_line_str") debug.line_strings = section.payload;
    if (section.name == ".debug_str") debug.strings = section.payload;
    if (section.id != wire::SectionId::code) continue;
    ByteReader in(section.payload);
    GW_TRY_VOID(in.leb_u32());
    debug.first_body = static_cast<std::uint32_t>(in.position());
    debug.code_bytes = static_cast<std::uint32_t>(section.payload.size());
  }
  if (debug.lines.empty()) return std::optional<DwarfLines>();
  auto lines = Reader(debug).read();
  if (!lines)
    return fail(lines.error().kind, "{}: build the module without -g, or drop its debug information with llvm-strip --strip-debug",
                lines.error().detail);
  return std::optional(*std::move(lines));
}

SourcePosition DwarfLines::at(std::uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(rows_, offset, {}, &Row::offset);
  return behind == rows_.begin() ? SourcePosition{} : std::prev(behind)->position;
}

}  // namespace gw::prep

#pragma once
// The part of a guest's state that lives outside its memory: what WASI knows about it. Saved in the image.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "isolate/files/descriptors.h"
#include "isolate/files/file_tree.h"
#include "isolate/wasi/guest_random.h"

namespace gw::isolate {

inline constexpr std::size_t kMaxStrings = 65536;         // arguments, and variables of the environment
inline constexpr std::size_t kMaxStringBytes = 1u << 20;  // all of them together, each kind
inline constexpr std::size_t kMaxInputBytes = 8u << 20;   // given at the start, or read ahead

// The host call that the guest has been unwound from and that is called again when it is resumed.
enum class ParkedCall : std::uint8_t {
  none = 0,
  sleep = 1,
  input = 2,
  checkpoint = 3,
  chunk = 4,
  fork = 5,           // asked for
  forked_parent = 6,  // carried out
  forked_child = 7,
  fork_refused = 8,
  mail = 9,
  timed_mail = 10,  // until the deadline
};

// A value. Encoded as in docs/image-format.md, versioned on its own; the content of files is not in it, but in pages of the image.
struct WasiState {
  std::vector<std::string> args, env;  // no character 0 inside
  GuestRandom random;
  std::uint64_t monotonic = 0;     // the guest's clock when the state was saved; 0: never read
  std::uint64_t output_bytes = 0;  // written so far
  Bytes input;                     // read from the source, or given at the start, and not yet by the guest
  bool input_ended = false;        // the source has nothing after `input`
  ParkedCall parked = ParkedCall::none;
  std::uint64_t deadline =
      0;  // of a sleep or timed_mail, on the guest's monotonic clock; in the parent of a fork, the id of the child; else 0
  std::uint32_t sleeper = 0;         // of a sleep, which of the clocks of poll_oneoff ends it; else 0
  std::uint64_t progress = 0;        // of a read that waits for a chunk, the bytes that are in the guest's memory already; else 0
  std::vector<std::string> outputs;  // what to hand out at the end: paths as FileTreeBuilder takes them
  FileTree files;
  DescriptorTable descriptors = DescriptorTable::standard(files);
};

// The part of the state that differs between guests which begin alike: tasks of an array. Their standard input is a file, or empty.
struct GuestStart {
  std::vector<std::string> args, env;
  GuestRandom::Seed random_seed{};
  std::vector<InputEntry> inputs = {};    // beside those of all
  std::vector<std::string> outputs = {};  // likewise
  std::optional<InputEntry> standard_input = {};
};

// Kind::invalid with a sentence if one of the limits above is exceeded or a string holds a character 0.
Status check(const WasiState& state);
Status check(const GuestStart& start);

Bytes encode(const WasiState& state);
// Files have their sizes, and no content yet.
Result<WasiState> decode_wasi_state(ByteView bytes);

}  // namespace gw::isolate

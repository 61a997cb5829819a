#pragma once
// A program that stands for any guest: effects, clock readings, forks and images, all decided by its seed.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/effects/effect_gate.h"
#include "wire/image/image.h"

namespace gw::sim {

using job::Effect;
using job::ThreadId;

// The state of a guest between two steps. Its output has a part that follows from the seed alone, so that it can be compared with the
// undisturbed run, and one that names every clock reading, so that two histories mixed into one are seen.
struct GuestState {
  std::uint64_t program = 0;  // the seed
  std::uint64_t steps = 0;
  std::uint64_t step = 0;
  std::uint64_t value = 0;  // follows from program and step
  std::uint64_t chain = 0;  // over all readings
  std::uint64_t forks_left = 0;
  std::uint64_t pure = 0;            // 1: reads no clocks
  std::uint64_t reads = 0;           // 1: reads standard input
  std::uint64_t rigid = 0;           // 1: cannot be checkpointed; not saved, since it has no images
  std::uint64_t ancestor = 0;        // program of the first one: children share its pages
  std::uint64_t leaves = 0;          // 1: leaves a file
  std::uint64_t mates = 0;           // tasks that write to each other; 0: it neither sends nor receives
  std::uint64_t task = 0;            // its own number among them
  std::uint64_t sent = 0;            // messages
  std::uint64_t received = 0;        // of both writers
  std::uint64_t from_near = 0;       // of the nearer one
  std::uint64_t disorder = 0;        // 1: a message was not the next one of its writer
  std::vector<std::uint64_t> fresh;  // readings since the last output

  Bytes save() const;
  static Result<GuestState> load(ByteView bytes);
};

// The event at a step.
enum class StepKind : std::uint8_t { compute, read_clock, read_input, output, fork, checkpoint, send, receive, end };
StepKind kind_of(const GuestState& state);
void advance(GuestState& state);
// A piece of the standard input of a job, which never ends; and the change that it makes to the state of a guest.
std::string input_piece(std::uint64_t piece);
void take_input(GuestState& state, const std::string& piece);
// The message of a send step, and the change that one makes to the state of its receiver, in which it is as a clock reading: the order of
// two writers differs from run to run, and must not differ within one.
struct Note {
  std::uint64_t to;   // a task
  std::uint64_t tag;  // number among those for this receiver
};
Note note_of(const GuestState& state);
void take_note(GuestState& state, std::uint64_t from, std::uint64_t tag);
// The line that an output step writes, and the part of it that is the same in every run.
std::string output_line(const GuestState& state);
// The last line of a guest that has received messages: how many, and whether each was the next one of its writer.
std::string last_line(const GuestState& state);
std::string pure_part(const std::string& line);
// The file that a guest leaves at its end, and where it finds those of other tasks, which change its state.
inline constexpr std::string_view kGuestOutput = "out", kGuestInputs = "from/";
std::string file_content(const GuestState& end);
void take_file(GuestState& state, const std::string& hash);
// The state at the end of the thread.
GuestState end_state(GuestState state);
// The child of a fork, as it begins.
GuestState child_state(const GuestState& parent, ThreadId child);
std::uint64_t extend_chain(std::uint64_t chain, std::uint64_t reading);

// Everything the undisturbed run stores, by thread and stream: pure lines, files as "file ...", forks as "fork N", the end as "end".
using ExpectedEffects = std::map<ThreadId, std::map<job::Stream, std::vector<std::string>>>;
// Returns the number of steps, with those of its children.
std::uint64_t expected_effects(ThreadId thread, GuestState state, ExpectedEffects& out);
// How often the thread alone reads the clock.
std::uint64_t clock_readings(GuestState state);
// A stored effect in the same words.
std::string in_words(const Effect& effect);

// Image: page 0 is the state; a page beside it and one in a node of its own never change, and are elsewhere when an image before has them.
enum class StaticPage : std::uint8_t { included, elsewhere };
Bytes make_image(const GuestState& state, const job::EffectGate& gate, const Hash256& module, StaticPage page);
Result<GuestState> state_in(const wire::Image& image);

}  // namespace gw::sim

#include "fake_guest.h"

#include <fmt/format.h>

#include "base/rng.h"

namespace gw::sim {
namespace {

constexpr std::uint32_t kStaticNode = 1;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return Rng(a * 0x9e3779b97f4a7c15u + b).next(); }

std::string with_readings(const GuestState& state, std::string line) {
  line += fmt::format("|{:x}", state.chain);
  for (const std::uint64_t reading : state.fresh) line += fmt::format(",{:x}", reading);
  return line;
}

}  // namespace

Bytes GuestState::save() const {
  ByteWriter writer;
  for (const std::uint64_t word : {program, steps, step, value, chain, forks_left, pure, reads, ancestor, leaves, mates, task, sent,
                                   received, from_near, disorder, std::uint64_t{fresh.size()}})
    writer.u64(word);
  for (const std::uint64_t reading : fresh) writer.u64(reading);
  return writer.take();
}

Result<GuestState> GuestState::load(ByteView bytes) {
  ByteReader reader(bytes);
  GuestState state;
  std::uint64_t count = 0;
  for (std::uint64_t* word : {&state.program, &state.steps, &state.step, &state.value, &state.chain, &state.forks_left, &state.pure,
                              &state.reads, &state.ancestor, &state.leaves, &state.mates, &state.task, &state.sent, &state.received,
                              &state.from_near, &state.disorder, &count}) {
    GW_TRY(*word, reader.u64());
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    GW_TRY(const std::uint64_t reading, reader.u64());
    state.fresh.push_back(reading);
  }
  return state;
}

StepKind kind_of(const GuestState& state) {
  if (state.step >= state.steps) return StepKind::end;
  if (state.mates > 0) {  // a round has eight steps
    const std::uint64_t place = state.step % 8;
    if (place == 0 || place == 1) return StepKind::send;
    if (place == 4 || place == 6) return StepKind::receive;
  }
  const std::uint64_t draw = mix(state.program, state.step) % 100;
  if (draw < 40) return StepKind::output;
  if (draw < 70) return state.pure != 0 ? StepKind::compute : StepKind::read_clock;
  if (draw < 75 && state.forks_left > 0) return StepKind::fork;
  if (draw < 80) return state.rigid != 0 ? StepKind::compute : StepKind::checkpoint;
  if (draw < 90 && state.reads != 0) return StepKind::read_input;
  return StepKind::compute;
}

void advance(GuestState& state) {
  state.value = mix(state.value, state.step);
  ++state.step;
}

Note note_of(const GuestState& state) {
  const std::uint64_t distance = 1 + state.sent % 2;
  return {.to = (state.task + distance) % state.mates, .tag = state.sent / 2};
}

void take_note(GuestState& state, std::uint64_t from, std::uint64_t tag) {
  const bool near = from == (state.task + state.mates - 1) % state.mates;
  const bool far = from == (state.task + state.mates - 2) % state.mates;
  const std::uint64_t expected = near ? state.from_near : state.received - state.from_near;
  if ((!near && !far) || tag != expected) state.disorder = 1;
  ++state.received;
  state.from_near += near ? 1 : 0;
  const std::uint64_t note = mix(from + 1, tag);
  state.chain = extend_chain(state.chain, note);
  state.fresh.push_back(note);
}

std::string input_piece(std::uint64_t piece) { return fmt::format("piece {}", piece); }

// In their order and each once, else everything that follows is different.
void take_input(GuestState& state, const std::string& piece) {
  for (const char byte : piece) state.value = mix(state.value, static_cast<std::uint8_t>(byte));
}

std::string file_content(const GuestState& end) { return fmt::format("{:x} has left {:x}", end.program, end.value); }

void take_file(GuestState& state, const std::string& hash) {
  for (const char byte : hash) state.value = mix(state.value, static_cast<std::uint8_t>(byte));
}

GuestState end_state(GuestState state) {
  while (kind_of(state) != StepKind::end) {
    if (kind_of(state) == StepKind::fork) --state.forks_left;
    advance(state);
  }
  return state;
}

std::uint64_t extend_chain(std::uint64_t chain, std::uint64_t reading) { return mix(chain, reading); }

std::string last_line(const GuestState& state) {
  return with_readings(state, fmt::format("{} messages{}", state.received, state.disorder != 0 ? " in disorder" : ""));
}

std::string output_line(const GuestState& state) { return with_readings(state, fmt::format("{}:{:x}", state.step, state.value)); }

std::string pure_part(const std::string& line) { return line.substr(0, line.find('|')); }

GuestState child_state(const GuestState& parent, ThreadId child) {
  return {.program = mix(parent.program, child.value()),
          .steps = parent.steps / 2 + 1,
          .value = child.value(),
          .pure = parent.pure,
          .ancestor = parent.ancestor};
}

std::uint64_t expected_effects(ThreadId thread, GuestState state, ExpectedEffects& out) {
  std::vector<std::string>& lines = out[thread][job::kHomeStream];
  std::vector<std::string>& forks = out[thread][job::kLogStream];
  std::uint64_t pieces = 0;
  std::uint64_t steps = state.steps;
  for (;; advance(state)) {
    switch (kind_of(state)) {
      case StepKind::read_input:
        take_input(state, input_piece(pieces++));
        break;
      case StepKind::output:
        lines.push_back(pure_part(output_line(state)));
        break;
      case StepKind::fork: {
        const ThreadId child = job::child_of(thread, forks.size() + 1);
        forks.push_back(fmt::format("fork {}", child.value()));
        --state.forks_left;
        steps += expected_effects(child, child_state(state, child), out);
        break;
      }
      case StepKind::end:
        if (state.mates != 0) lines.push_back(pure_part(last_line(state)));
        if (state.leaves != 0) lines.push_back("file " + file_content(state));
        lines.push_back("end");
        return steps;
      case StepKind::compute:
      case StepKind::checkpoint:
      case StepKind::read_clock:
      case StepKind::send:
        break;
      case StepKind::receive:
        ++state.received;
        break;
    }
  }
}

std::uint64_t clock_readings(GuestState state) {
  std::uint64_t readings = 0;
  for (; kind_of(state) != StepKind::end; advance(state)) readings += kind_of(state) == StepKind::read_clock ? 1 : 0;
  return readings;
}

std::string in_words(const Effect& effect) {
  if (effect.has_spawn()) return fmt::format("fork {}", effect.spawn().child());
  if (effect.has_end()) return effect.end().reason() == Effect::End::EXITED ? "end" : "end: " + effect.end().sentence();
  if (effect.has_file()) return "file " + effect.file().bytes();
  return pure_part(effect.output().bytes());
}

Bytes make_image(const GuestState& state, const job::EffectGate& gate, const Hash256& module, StaticPage page) {
  Bytes first = state.save();
  first.resize(wire::kPageBytes);
  Bytes second(wire::kPageBytes, 0);
  for (std::size_t i = 0; i < 8; ++i) second[i] = static_cast<std::uint8_t>(state.ancestor >> (8 * i)) | 1;
  const ByteView first_stored = wire::without_end_zeros(first), second_stored = wire::without_end_zeros(second);
  const Hash256 second_hash = sha256(second_stored);
  wire::ImageContent content;
  content.module_hash = module;
  content.phase = wire::Phase::suspended;
  content.memory_pages = kStaticNode * wire::kPagesPerNode + 1;
  content.job_state = gate.save();
  content.pages.push_back({0, sha256(first_stored), wire::Storage::raw, first_stored});
  if (page == StaticPage::included) {
    content.pages.push_back({1, second_hash, wire::Storage::raw, second_stored});
    content.pages.push_back({kStaticNode * wire::kPagesPerNode, second_hash, wire::Storage::raw, second_stored});
  } else {
    const wire::PageName name{0, second_hash};
    content.pages.push_back({1, second_hash, wire::Storage::elsewhere, {}});
    content.nodes_elsewhere.push_back({kStaticNode, sha256(wire::encode_node(std::span(&name, 1)))});
  }
  const wire::Image image = wire::Image::encode(content).value();
  return {image.encoded().begin(), image.encoded().end()};
}

Result<GuestState> state_in(const wire::Image& image) {
  if (image.content().pages.size() != 3) return fail(Kind::corrupt, "an image of {} pages", image.content().pages.size());
  Bytes page(wire::kPageBytes);
  for (const std::size_t place : {2u, 1u, 0u}) GW_TRY_VOID(wire::load_page(image.content().pages[place], page));
  return GuestState::load(page);
}

}  // namespace gw::sim

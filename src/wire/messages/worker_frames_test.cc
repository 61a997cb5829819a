#include "wire/messages/worker_frames.h"

#include <gtest/gtest.h>

#include "wire/messages/streams.h"

namespace gw::wire {
namespace {

const std::string kHash(32, 'h');

template <class Frame>
Bytes raw(const Frame& frame) {
  const std::string text = frame.SerializeAsString();
  return Bytes(as_bytes(text).begin(), as_bytes(text).end());
}

bool accepted(const pb::FromWorker& frame, std::size_t descriptors = 0) { return decode_from_worker(raw(frame), descriptors).has_value(); }
bool accepted(const pb::ToWorker& frame, std::size_t descriptors = 0) { return decode_to_worker(raw(frame), descriptors).has_value(); }

pb::FromWorker output(std::uint32_t descriptor, std::size_t bytes) {
  pb::FromWorker frame;
  pb::Effect& effect = *frame.mutable_effects()->add_effects();
  effect.set_thread(1);
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_output()->set_descriptor(descriptor);
  effect.mutable_output()->set_bytes(std::string(bytes, 'x'));
  set_stream(effect);
  return frame;
}

pb::FromWorker output_file(const std::string& path, pb::Effect::OutputFile::Type type = pb::Effect::OutputFile::FILE) {
  pb::FromWorker frame = output(1, 0);
  auto& file = *frame.mutable_effects()->mutable_effects(0)->mutable_file();
  file.set_path(path);
  file.set_type(type);
  file.set_last(true);
  return frame;
}

pb::ToWorker start() {
  pb::ToWorker frame;
  frame.mutable_start()->set_thread(1);
  return frame;
}

TEST(WorkerFrames, ComeBackAsTheyWere) {
  const pb::FromWorker frame = output(2, 1000);
  auto bytes = encode(frame);
  ASSERT_TRUE(bytes);
  auto decoded = decode_from_worker(*bytes, 0);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(raw(*decoded), raw(frame));
}

TEST(WorkerFrames, AreNotTooLong) {
  pb::ToWorker frame;
  frame.mutable_input()->set_thread(1);
  frame.mutable_input()->set_bytes(std::string(kMaxFrameBytes, 'x'));
  auto bytes = encode(frame);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().kind, Kind::overloaded);
  EXPECT_FALSE(accepted(frame));
}

TEST(WorkerFrames, HaveAKind) {
  EXPECT_FALSE(decode_from_worker({}, 0));
  EXPECT_FALSE(decode_to_worker({}, 0));
  EXPECT_FALSE(decode_to_worker(as_bytes("\xff\xff\xff"), 0));
}

TEST(WorkerFrames, DescriptorsComeOnlyWhereTheyBelong) {
  pb::ToWorker load;
  load.mutable_load()->set_pool_threads(1);
  EXPECT_TRUE(accepted(load, 1));
  EXPECT_FALSE(accepted(load, 0));
  EXPECT_FALSE(accepted(load, 2));
  load.mutable_load()->set_has_code(true);
  EXPECT_TRUE(accepted(load, 2));
  EXPECT_TRUE(accepted(start(), 1));
  EXPECT_FALSE(accepted(start(), 0));
  EXPECT_FALSE(accepted(start(), 2));
  pb::FromWorker image;
  image.mutable_image()->set_thread(1);
  image.mutable_image()->set_id(kHash);
  EXPECT_TRUE(accepted(image, 1));
  EXPECT_FALSE(accepted(image, 0));
  EXPECT_FALSE(accepted(image, 2));
  EXPECT_FALSE(accepted(output(1, 1), 1));
}

TEST(WorkerFrames, OutputIsBoundedAndGoesToAStream) {
  EXPECT_TRUE(accepted(output(1, kMaxEffectBytes)));
  EXPECT_FALSE(accepted(output(1, kMaxEffectBytes + 1)));
  EXPECT_FALSE(accepted(output(0, 1)));
  EXPECT_FALSE(accepted(output(3, 1)));
}

TEST(WorkerFrames, EffectsAreNumbered) {
  pb::FromWorker frame = output(1, 1);
  frame.mutable_effects()->mutable_effects(0)->set_sequence(0);
  EXPECT_FALSE(accepted(frame));
  frame = output(1, 1);
  frame.mutable_effects()->mutable_effects(0)->set_thread(0);
  EXPECT_FALSE(accepted(frame));
  frame = output(1, 1);
  frame.mutable_effects()->mutable_effects(0)->clear_output();
  EXPECT_FALSE(accepted(frame));
}

// The parent makes files of these: nothing may lead out of the folder it chose.
TEST(WorkerFrames, OutputFilesStayInsideTheTree) {
  EXPECT_TRUE(accepted(output_file("out/file.txt")));
  EXPECT_TRUE(accepted(output_file("..hidden/...")));
  for (const char* path : {"", "/etc/passwd", "../x", "a/../../x", "a/..", ".", "a//b", "a/", "a/./b"})
    EXPECT_FALSE(accepted(output_file(path))) << path;
  EXPECT_FALSE(accepted(output_file(std::string("a\0b", 3))));
  EXPECT_FALSE(accepted(output_file(std::string(kMaxPathBytes + 1, 'a'))));
}

TEST(WorkerFrames, EnumerationsAreKnown) {
  EXPECT_FALSE(accepted(output_file("x", static_cast<pb::Effect::OutputFile::Type>(9))));
  pb::FromWorker frame;
  frame.mutable_determinants()->set_thread(1);
  frame.mutable_determinants()->add_determinants()->set_kind(static_cast<pb::Determinant::Kind>(5));
  EXPECT_FALSE(accepted(frame));
}

TEST(WorkerFrames, DeterminantsHaveNoGaps) {
  pb::FromWorker frame;
  frame.mutable_determinants()->set_thread(1);
  frame.mutable_determinants()->add_determinants()->set_index(4);
  frame.mutable_determinants()->add_determinants()->set_index(5);
  EXPECT_TRUE(accepted(frame));
  frame.mutable_determinants()->add_determinants()->set_index(7);
  EXPECT_FALSE(accepted(frame));
}

TEST(WorkerFrames, InputPiecesAreTakenWhole) {
  pb::ToWorker frame;
  frame.mutable_input()->set_thread(1);
  EXPECT_FALSE(accepted(frame));
  frame.mutable_input()->set_end(true);
  EXPECT_TRUE(accepted(frame));
  frame.mutable_input()->set_bytes(std::string(kMaxInputPiece, 'x'));
  EXPECT_FALSE(accepted(frame));
  frame.mutable_input()->set_end(false);
  EXPECT_TRUE(accepted(frame));
  frame.mutable_input()->mutable_bytes()->push_back('x');
  EXPECT_FALSE(accepted(frame));
}

TEST(WorkerFrames, InputFilesHaveAHashForEachMebibyte) {
  pb::ThreadConfig config;
  config.set_random_seed(std::string(32, 's'));
  pb::InputEntry& entry = *config.add_inputs();
  entry.set_path("data.bin");
  entry.set_size(kInputChunkBytes + 1);
  entry.add_chunks(kHash);
  EXPECT_FALSE(decode_thread_config(raw(config)));
  entry.add_chunks(kHash);
  EXPECT_TRUE(decode_thread_config(raw(config)));
  entry.set_chunks(1, "short");
  EXPECT_FALSE(decode_thread_config(raw(config)));
}

TEST(WorkerFrames, TheConfigurationOfAThreadIsChecked) {
  pb::ThreadConfig config;
  EXPECT_FALSE(decode_thread_config(raw(config)));  // no seed
  config.set_random_seed(std::string(32, 's'));
  EXPECT_TRUE(decode_thread_config(raw(config)));
  config.add_outputs("../out");
  EXPECT_FALSE(decode_thread_config(raw(config)));
  EXPECT_FALSE(decode_thread_config(as_bytes("\xff\xff")));
}

}  // namespace
}  // namespace gw::wire

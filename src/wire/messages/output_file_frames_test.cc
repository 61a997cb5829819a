#include "wire/messages/output_file_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace gw::wire {
namespace {

using OutputFile = pb::Effect::OutputFile;

OutputFile piece(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  OutputFile file;
  file.set_path(path);
  file.set_offset(offset);
  file.set_bytes(bytes);
  return file;
}

TEST(OutputFileFrames, ComeBackHoweverTheyAreCut) {
  std::vector<OutputFile> pieces{piece("a", 0, "first"), piece("folder/b", 70000, std::string(3000, 'x')), piece("c", 0, "")};
  std::string all;
  for (const OutputFile& one : pieces) {
    all += frame_output_file(one, 7);
    EXPECT_EQ(frame_output_file(one, 7).size(), output_file_frame_bytes(one, 7));
  }
  for (OutputFile& one : pieces) one.set_thread(7);  // a frame adds it
  for (const std::size_t cut : {std::size_t{1}, std::size_t{3}, std::size_t{1000}, all.size()}) {
    OutputFileReader reader;
    std::vector<std::string> found;
    for (std::size_t at = 0; at < all.size(); at += cut)
      ASSERT_TRUE(reader.add(std::string_view(all).substr(at, cut), [&](const OutputFile& one) {
        found.push_back(one.SerializeAsString());
        return ok();
      }));
    EXPECT_TRUE(reader.complete());
    ASSERT_EQ(found.size(), pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(found[i], pieces[i].SerializeAsString());
  }
}

TEST(OutputFileFrames, ASequenceThatBreaksOffIsNotComplete) {
  OutputFileReader reader;
  const std::string frame = frame_output_file(piece("a", 0, "bytes"), 7);
  ASSERT_TRUE(reader.add(std::string_view(frame).substr(0, frame.size() - 1), [](const OutputFile&) { return ok(); }));
  EXPECT_FALSE(reader.complete());
}

TEST(OutputFileFrames, MalformedPiecesAreRefused) {
  const auto add = [](const std::string& bytes) { return OutputFileReader().add(bytes, [](const OutputFile&) { return ok(); }); };
  EXPECT_EQ(add(std::string(4, '\xff')).error().kind, Kind::corrupt);                // too long
  EXPECT_EQ(add(std::string("\x02\0\0\0\xff\xff", 6)).error().kind, Kind::corrupt);  // no message
  EXPECT_EQ(add(frame_output_file(piece("../../etc/passwd", 0, ""), 7)).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::wire

#include "isolate/wasi/stdio.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "os/files/unique_fd.h"

namespace gw::isolate {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends;
    GW_ASSERT(pipe(ends.data()) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  os::UniqueFd read_end, write_end;
};

TEST(FdInput, DistinguishesNotYetFromTheEnd) {
  Pipe pipe;
  FdInput input(pipe.read_end.get());
  std::array<std::uint8_t, 10> buffer;
  EXPECT_EQ(input.read(buffer)->state, InputSource::State::not_yet);
  ASSERT_EQ(write(pipe.write_end.get(), "abc", 3), 3);
  input.wait(1s);
  auto read = input.read(buffer);
  EXPECT_EQ(read->state, InputSource::State::data);
  EXPECT_EQ(as_text(ByteView(buffer).first(read->bytes)), "abc");
  pipe.write_end.reset();
  EXPECT_EQ(input.read(buffer)->state, InputSource::State::end);
}

TEST(FdOutput, WritesMoreThanAPipeHolds) {
  Pipe pipe;
  const Bytes bytes(1u << 20, 7);
  std::size_t received = 0;
  std::thread reader([&] {
    std::array<std::uint8_t, 4096> buffer;
    for (ssize_t count = 1; received < bytes.size() && count > 0; received += static_cast<std::size_t>(count))
      count = read(pipe.read_end.get(), buffer.data(), buffer.size());
  });
  FdOutput output(pipe.write_end.get());
  EXPECT_TRUE(output.write(bytes));
  reader.join();
  EXPECT_EQ(received, bytes.size());
}

TEST(FdOutput, SaysWhyItFailed) {
  FdOutput output(-1);
  EXPECT_EQ(output.write(as_bytes("x")).error().kind, Kind::disconnected);
}

}  // namespace
}  // namespace gw::isolate

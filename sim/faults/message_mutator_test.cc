#include "faults/message_mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gw::sim {
namespace {

using Form = EncodedField::Form;

EncodedField number(std::uint32_t name, std::uint64_t value) { return {.name = name, .form = Form::number, .number = value}; }
EncodedField text(std::uint32_t name, std::string_view value) {
  return {.name = name, .form = Form::bytes, .bytes = Bytes(value.begin(), value.end())};
}
EncodedField inner(std::uint32_t name, EncodedMessage fields) { return {.name = name, .form = Form::bytes, .inner = std::move(fields)}; }

EncodedMessage sample() {
  return {number(1, 7), inner(2, {number(1, 300), text(3, "\xff\xfe no message"), inner(4, {number(9, ~std::uint64_t{0})})}), text(5, "")};
}

TEST(EncodedMessage, IsReadAsItWasWritten) {
  const Bytes bytes = write_message(sample());
  const auto read = read_message(bytes);
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[1].inner.size(), 3u);
  EXPECT_EQ((*read)[1].inner[2].inner[0].number, ~std::uint64_t{0});
  EXPECT_EQ(write_message(*read), bytes);
}

TEST(EncodedMessage, RefusesWhatItCouldNotWriteBack) {
  EXPECT_FALSE(read_message(Bytes{0x08}).has_value());              // a number is missing
  EXPECT_FALSE(read_message(Bytes{0x08, 0x80, 0x00}).has_value());  // a number longer than it needs to be
  EXPECT_FALSE(read_message(Bytes{0x0a, 0x05, 1}).has_value());     // bytes that end early
  EXPECT_FALSE(read_message(Bytes{0x0b}).has_value());              // a form that we do not have
  EXPECT_TRUE(read_message(Bytes{}).has_value());
}

TEST(MessageMutator, ChangesOneFieldAndCanBeRepeated) {
  std::set<Bytes> seen;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EncodedMessage first = sample();
    EncodedMessage second = sample();
    MessageMutator(Rng(seed)).mutate(first);
    MessageMutator(Rng(seed)).mutate(second);
    EXPECT_EQ(write_message(first), write_message(second));
    const auto differ = [&](std::size_t i) { return i >= first.size() || write_message({first[i]}) != write_message({sample()[i]}); };
    if (first.size() == sample().size()) EXPECT_LE(differ(0) + differ(1) + differ(2), 1);
    seen.insert(write_message(first));
  }
  EXPECT_GT(seen.size(), 50u);
}

TEST(MessageMutator, UsesWhatItHasSeen) {
  bool number_swapped = false;
  bool text_swapped = false;
  MessageMutator mutator(Rng(1));
  mutator.learn({number(1, 4242), text(2, "abc")});
  for (int i = 0; i < 300; ++i) {
    EncodedMessage message{number(8, 5), text(9, "xyz")};
    mutator.mutate(message);
    for (const EncodedField& field : message) {
      number_swapped = number_swapped || field.number == 4242;
      text_swapped = text_swapped || std::ranges::equal(as_text(field.bytes), std::string_view("abc"));
    }
  }
  EXPECT_TRUE(number_swapped);
  EXPECT_TRUE(text_swapped);
}

}  // namespace
}  // namespace gw::sim

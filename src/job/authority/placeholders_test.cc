#include "job/authority/placeholders.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

const std::vector<std::string> kColumns = {"", "name"};

std::string expanded(std::string_view text, const std::string& value, const std::string& name = "") {
  const auto parsed = Template::parse(text, kColumns);
  if (!parsed) return "refused: " + parsed.error().detail;
  const std::vector<std::string> values = {value, name};
  std::string out;
  EXPECT_TRUE(parsed->expand({"7", values}, 1000, out));
  return out;
}

TEST(Placeholders, StandForPartsOfTheValueAsInGnuParallel) {
  EXPECT_EQ(expanded("x {} y {#}", "a/b/c.tar.gz"), "x a/b/c.tar.gz y 7");
  EXPECT_EQ(expanded("{/}", "a/b/c.tar.gz"), "c.tar.gz");
  EXPECT_EQ(expanded("{.}", "a/b/c.tar.gz"), "a/b/c.tar");
  EXPECT_EQ(expanded("{/.}", "a/b/c.tar.gz"), "c.tar");
  EXPECT_EQ(expanded("{//}", "a/b/c.tar.gz"), "a/b");
}

TEST(Placeholders, OfPathsWithoutFolderOrExtension) {
  EXPECT_EQ(expanded("{//}|{/}|{.}|{/.}", "file"), ".|file|file|file");
  EXPECT_EQ(expanded("{.}", "a.b/file"), "a.b/file") << "the extension of a folder is none of the file";
  EXPECT_EQ(expanded("{.}", "a/.hidden"), "a/.hidden");
  EXPECT_EQ(expanded("{//}", "/file"), "/");
  EXPECT_EQ(expanded("{}{/}", ""), "");
}

TEST(Placeholders, NameColumns) {
  EXPECT_EQ(expanded("{name} {name/.}", "v", "in/p.png"), "in/p.png p");
  EXPECT_NE(expanded("{nmae}", "v").find("'{nmae}' is no placeholder"), std::string::npos);
  EXPECT_NE(expanded("{nmae}", "v").find("'{{nmae}}'"), std::string::npos);
}

TEST(Placeholders, OtherBracesStay) {
  EXPECT_EQ(expanded(R"({"a": {"b": 1}})", "v"), R"({"a": {"b": 1}})");
  EXPECT_EQ(expanded("{ } { {", "v"), "{ } { {");
  EXPECT_EQ(expanded("a{1,3}", "v"), "a{1,3}");
  EXPECT_EQ(expanded("{", "v"), "{");
  EXPECT_EQ(expanded("{{} ", "v"), "{v ");
}

TEST(Placeholders, DoubledBracesAreText) {
  EXPECT_EQ(expanded("{{}} {{/.}} {{unknown}} {}", "v"), "{} {/.} {unknown} v");
  EXPECT_EQ(expanded(R"({"a":{{}}})", "v"), R"({"a":{}})");
}

TEST(Placeholders, AValueWithBracesIsNotReadAgain) { EXPECT_EQ(expanded("<{}>", "{#}{}"), "<{#}{}>"); }

TEST(Placeholders, AreFound) {
  EXPECT_TRUE(has_placeholder("a{}"));
  EXPECT_TRUE(has_placeholder("{unknown}"));
  EXPECT_FALSE(has_placeholder("{{}} {\"a\":1} }{"));
}

TEST(Placeholders, ALimitBoundsWhatValuesMakeOfAText) {
  const Template parsed = Template::parse("{}{}{}{}", kColumns).value();
  const std::vector<std::string> values = {std::string(100, 'x'), ""};
  std::string out;
  EXPECT_FALSE(parsed.expand({"0", values}, 399, out));
  EXPECT_LE(out.size(), 400u);
  out.clear();
  EXPECT_TRUE(parsed.expand({"0", values}, 400, out));
}

}  // namespace
}  // namespace gw::job

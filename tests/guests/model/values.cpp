// Sends values of all kinds to a thread, which sends them back.
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <godwit/godwit.hpp>

namespace {

enum class Colour : unsigned char { red, green };

struct Point {
  int x;
  double y;
  bool operator==(const Point&) const = default;
};

class Tree {
 public:
  Tree() = default;
  Tree(std::string name, std::vector<Tree> branches) : name_(std::move(name)), branches_(std::move(branches)) {}
  bool operator==(const Tree&) const = default;

  template <class Archive>
  friend void travel(Archive& archive, Tree& tree) {
    archive(tree.name_, tree.branches_);
  }

 private:
  std::string name_;
  std::vector<Tree> branches_;
};

int wrong = 0;

template <class T>
void try_it(godwit::thread_id echo, const char* name, const T& value) {
  godwit::send(echo, 1, value);
  if (godwit::receive_as<T>(echo, 1) == value) return;
  std::printf("%s did not come as it was\n", name);
  wrong++;
}

}  // namespace

int main() {
  godwit::thread echo([] {
    const auto parent = godwit::this_thread::parent();
    for (;;) {
      const godwit::message got = godwit::receive(parent);
      if (got.tag == 0) return;
      godwit::detail::send_bytes(parent, got.tag, got.bytes);
    }
  });
  try_it(echo.id(), "int", -7);
  try_it(echo.id(), "enum", Colour::green);
  try_it(echo.id(), "struct", Point{3, 0.5});
  try_it(echo.id(), "empty string", std::string());
  try_it(echo.id(), "large string", std::string(3'000'000, 'x'));
  try_it(echo.id(), "vector", std::vector<double>{1, 2, 3});
  try_it(echo.id(), "vector of bool", std::vector<bool>{true, false});
  try_it(echo.id(), "vector of strings", std::vector<std::string>{"a", "", "ccc"});
  try_it(echo.id(), "deque", std::deque<int>{1, 2});
  try_it(echo.id(), "list", std::list<Point>{{1, 2}});
  try_it(echo.id(), "map", std::map<std::string, std::vector<int>>{{"a", {1}}, {"b", {}}});
  try_it(echo.id(), "unordered map", std::unordered_map<int, std::string>{{1, "one"}});
  try_it(echo.id(), "set", std::set<std::string>{"x", "y"});
  try_it(echo.id(), "pair", std::pair<int, std::string>{1, "one"});
  try_it(echo.id(), "tuple", std::tuple<int, std::string, Point>{1, "one", {2, 3}});
  try_it(echo.id(), "optional", std::optional<std::string>("there"));
  try_it(echo.id(), "no optional", std::optional<std::string>());
  try_it(echo.id(), "variant", std::variant<int, std::string>("text"));
  try_it(echo.id(), "array", std::array<std::string, 2>{"a", "b"});
  try_it(echo.id(), "own type", Tree("root", {Tree("leaf", {}), Tree("branch", {Tree("leaf", {})})}));
  godwit::send(echo.id(), 0, 0);
  echo.join();
  if (wrong == 0) std::printf("all values came as they were\n");
  return wrong;
}

// A bit of everything that ordinary C++ programs use: streams, maps, sorting, virtual calls, function objects, deep recursion.
//
//   godwit run examples/grab_bag.cpp
//   godwit run examples/grab_bag.cpp -- 200             (amount of work)
//
// Six small stations, each printing one line; a program that survives being moved at any moment here survives it anywhere.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_;
};

// Station 1: an expression tree with virtual calls, differentiated and evaluated.
struct Expression {
  virtual ~Expression() = default;
  virtual double value(double x) const = 0;
  virtual std::unique_ptr<Expression> derivative() const = 0;
  virtual std::unique_ptr<Expression> clone() const = 0;
};

using ExpressionPtr = std::unique_ptr<Expression>;

struct Constant : Expression {
  explicit Constant(double constant) : constant(constant) {}
  double value(double) const override { return constant; }
  ExpressionPtr derivative() const override { return std::make_unique<Constant>(0); }
  ExpressionPtr clone() const override { return std::make_unique<Constant>(constant); }
  double constant;
};

struct Variable : Expression {
  double value(double x) const override { return x; }
  ExpressionPtr derivative() const override { return std::make_unique<Constant>(1); }
  ExpressionPtr clone() const override { return std::make_unique<Variable>(); }
};

struct Sum : Expression {
  Sum(ExpressionPtr left, ExpressionPtr right) : left(std::move(left)), right(std::move(right)) {}
  double value(double x) const override { return left->value(x) + right->value(x); }
  ExpressionPtr derivative() const override { return std::make_unique<Sum>(left->derivative(), right->derivative()); }
  ExpressionPtr clone() const override { return std::make_unique<Sum>(left->clone(), right->clone()); }
  ExpressionPtr left, right;
};

struct Product : Expression {
  Product(ExpressionPtr left, ExpressionPtr right) : left(std::move(left)), right(std::move(right)) {}
  double value(double x) const override { return left->value(x) * right->value(x); }
  ExpressionPtr derivative() const override {
    return std::make_unique<Sum>(std::make_unique<Product>(left->derivative(), right->clone()),
                                 std::make_unique<Product>(left->clone(), right->derivative()));
  }
  ExpressionPtr clone() const override { return std::make_unique<Product>(left->clone(), right->clone()); }
  ExpressionPtr left, right;
};

ExpressionPtr random_expression(Random& random, int depth) {
  if (depth == 0)
    return random.next() % 2 == 0 ? ExpressionPtr(std::make_unique<Variable>()) : std::make_unique<Constant>(random.next() % 5);
  ExpressionPtr left = random_expression(random, depth - 1);
  ExpressionPtr right = random_expression(random, depth - 1);
  if (random.next() % 2 == 0) return std::make_unique<Sum>(std::move(left), std::move(right));
  return std::make_unique<Product>(std::move(left), std::move(right));
}

void differentiate(int work) {
  Random random(1);
  double sum = 0;
  for (int i = 0; i < work * 40; i++) {
    const ExpressionPtr slope = random_expression(random, 6)->derivative();
    for (double x = -0.5; x <= 0.5; x += 0.125) sum += 1 / (1 + slope->value(x) * slope->value(x));
  }
  std::cout << "derivatives  " << std::fixed << std::setprecision(6) << sum << '\n';
}

// Station 2: words in ordered and unordered maps.
void count_words(int work) {
  Random random(2);
  std::map<std::string, int> ordered;
  std::unordered_map<std::string, std::vector<int>> places;
  const std::string_view syllables[] = {"ka", "lo", "mi", "ten", "ru", "sa", "vel", "nor"};
  for (int i = 0; i < work * 3000; i++) {
    std::string word;
    for (std::uint32_t k = 0; k < 2 + random.next() % 3; k++) word += syllables[random.next() % 8];
    ordered[word]++;
    places[word].push_back(i);
  }
  std::int64_t spread = 0;
  for (const auto& [word, list] : places) spread += list.back() - list.front();
  const auto top = std::max_element(ordered.begin(), ordered.end(), [](auto& a, auto& b) { return a.second < b.second; });
  std::cout << "words        " << ordered.size() << " different, first " << ordered.begin()->first << ", most frequent " << top->first
            << " (" << top->second << "), spread " << spread << '\n';
}

// Station 3: sorting records by several keys through function objects.
struct Record {
  std::uint32_t key;
  std::string name;
  double weight;
};

void sort_records(int work) {
  Random random(3);
  std::vector<Record> records;
  for (int i = 0; i < work * 2000; i++)
    records.push_back({random.next() % 1000, "r" + std::to_string(random.next() % 5000), random.next() / 16.0});
  const std::function<bool(const Record&, const Record&)> orders[] = {
      [](const Record& a, const Record& b) { return a.weight < b.weight; },
      [](const Record& a, const Record& b) { return a.name > b.name; },
      [](const Record& a, const Record& b) { return a.key < b.key; },
  };
  for (const auto& order : orders) std::stable_sort(records.begin(), records.end(), order);
  std::uint64_t check = 0;
  for (const Record& record : records) check = check * 31 + record.key + record.name.size() + static_cast<std::uint64_t>(record.weight);
  std::cout << "records      " << records.size() << " sorted, check " << std::hex << check << std::dec << '\n';
}

// Station 4: deep recursion: the height of a tree that is one long branch, and Ackermann's function.
struct Branch {
  std::unique_ptr<Branch> next;
  int leaves = 0;
};

std::int64_t height(const Branch* branch) { return branch == nullptr ? 0 : 1 + height(branch->next.get()) + branch->leaves % 2; }

std::uint32_t ackermann(std::uint32_t m, std::uint32_t n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

void recurse(int work) {
  std::unique_ptr<Branch> root;
  for (int i = 0; i < 5000; i++) {
    auto above = std::make_unique<Branch>();
    above->leaves = i;
    above->next = std::move(root);
    root = std::move(above);
  }
  std::int64_t sum = 0;
  for (int i = 0; i < work * 20; i++) sum += height(root.get());
  while (root) root = std::move(root->next);
  std::cout << "recursion    height sum " << sum << ", ackermann(2, 2000) " << ackermann(2, 2000) << '\n';
}

// Station 5: breadth-first search on a graph kept in sets and a queue.
void search_graph(int work) {
  Random random(5);
  const int nodes = work * 300;
  std::vector<std::set<int>> edges(nodes);
  for (int i = 0; i < nodes * 3; i++) {
    const int a = static_cast<int>(random.next() % nodes), b = static_cast<int>(random.next() % nodes);
    edges[a].insert(b);
    edges[b].insert(a);
  }
  std::vector<int> distance(nodes, -1);
  std::deque<int> queue{0};
  distance[0] = 0;
  while (!queue.empty()) {
    const int node = queue.front();
    queue.pop_front();
    for (const int other : edges[node]) {
      if (distance[other] >= 0) continue;
      distance[other] = distance[node] + 1;
      queue.push_back(other);
    }
  }
  std::cout << "graph        farthest " << *std::max_element(distance.begin(), distance.end()) << ", reached "
            << std::count_if(distance.begin(), distance.end(), [](int d) { return d >= 0; }) << " of " << nodes << '\n';
}

// Station 6: text written to a stream and read back.
void talk_to_streams(int work) {
  std::stringstream stream;
  for (int i = 0; i < work * 1000; i++) stream << i * 7 % 1000 << ' ' << std::setw(6) << std::setfill('0') << i << ';';
  std::int64_t numbers = 0, sum = 0;
  for (std::string part; std::getline(stream, part, ';'); numbers++) {
    std::istringstream fields(part);
    std::int64_t first = 0, second = 0;
    fields >> first >> second;
    sum += first * second % 97;
  }
  std::cout << "streams      " << numbers << " lines, sum " << sum << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const int work = argc > 1 ? std::atoi(argv[1]) : 60;
  if (work < 1 || work > 1000) {
    std::cerr << "usage: grab_bag [work 1..1000]\n";
    return 2;
  }
  for (const auto station : {differentiate, count_words, sort_records, recurse, search_graph, talk_to_streams}) station(work);
  std::cout << "done" << std::endl;
  return 0;
}

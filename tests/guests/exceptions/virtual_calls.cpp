// Virtual functions that throw.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>
struct Shape {
  virtual ~Shape() = default;
  virtual double area(int k) const = 0;
};
struct Square : Shape {
  double s;
  Square(double x) : s(x) {}
  double area(int k) const override {
    if (k == 3) throw std::domain_error("square three");
    return s * s + k;
  }
};
struct Round : Shape {
  double r;
  Round(double x) : r(x) {}
  double area(int k) const override {
    if (k == 5) throw std::range_error("round five");
    return 3 * r * r + k;
  }
};
int main() {
  std::vector<std::unique_ptr<Shape>> v;
  for (int i = 0; i < 8; ++i)
    if (i % 2)
      v.push_back(std::make_unique<Square>(i));
    else
      v.push_back(std::make_unique<Round>(i));
  double sum = 0;
  int caught = 0;
  for (int k = 0; k < 8; ++k)
    for (auto& s : v) {
      try {
        sum += s->area(k);
      } catch (const std::logic_error& e) {
        ++caught;
        printf("logic %s\n", e.what());
      } catch (const std::exception& e) {
        caught += 10;
        printf("other %s\n", e.what());
      }
    }
  printf("%.3f %d\n", sum, caught);
}

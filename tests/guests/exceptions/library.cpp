// Everything in the library that throws.
#include <any>
#include <array>
#include <bitset>
#include <cstdio>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>
template <class F>
void t(const char* what, F f) {
  printf("%s: ", what);
  try {
    f();
    puts("no throw");
  } catch (std::out_of_range&) {
    puts("out_of_range");
  } catch (std::invalid_argument&) {
    puts("invalid_argument");
  } catch (std::length_error&) {
    puts("length_error");
  } catch (std::bad_array_new_length&) {
    puts("bad_array_new_length");
  } catch (std::bad_alloc&) {
    puts("bad_alloc");
  } catch (std::bad_variant_access&) {
    puts("bad_variant_access");
  } catch (std::bad_optional_access&) {
    puts("bad_optional_access");
  } catch (std::bad_any_cast&) {
    puts("bad_any_cast");
  } catch (std::bad_cast&) {
    puts("bad_cast");
  } catch (std::bad_typeid&) {
    puts("bad_typeid");
  } catch (std::bad_weak_ptr&) {
    puts("bad_weak_ptr");
  } catch (std::overflow_error&) {
    puts("overflow_error");
  } catch (std::exception& e) {
    printf("exception %s\n", e.what());
  }
}
struct B {
  virtual ~B() {}
};
struct D : B {};
struct E : B {};
char* volatile sink;
volatile size_t big = std::numeric_limits<size_t>::max() - 70000;
static void containers() {
  std::vector<int> v{1, 2, 3};
  std::string s = "hello";
  std::map<int, int> m;
  std::unordered_map<std::string, int> u;
  std::deque<int> d;
  std::array<int, 3> a{};
  volatile int seven = 7;
  t("vector::at", [&] { (void)v.at(seven); });
  t("string::at", [&] { (void)s.at(seven); });
  t("substr", [&] { (void)s.substr(seven); });
  t("insert", [&] { s.insert(seven, "x"); });
  t("erase", [&] { s.erase(seven, 1); });
  t("replace", [&] { s.replace(seven, 1, "x"); });
  t("compare", [&] { (void)s.compare(seven, 1, "x"); });
  t("string_view::at", [&] { (void)std::string_view("abc").at(seven); });
  t("map::at", [&] { (void)m.at(1); });
  t("unordered_map::at", [&] { (void)u.at("k"); });
  t("deque::at", [&] { (void)d.at(1); });
  t("array::at", [&] { (void)a.at(seven); });
  t("stoi", [] { (void)std::stoi("abc"); });
  t("stoi range", [] { (void)std::stoi("99999999999999"); });
  t("stod", [] { (void)std::stod("x"); });
  t("stoul", [] { (void)std::stoul(""); });
  t("stoll ok", [] { printf("%lld ", std::stoll("-12x")); });
  t("vector::reserve", [&] { v.reserve(big); });
  t("string::reserve", [&] { s.reserve(std::numeric_limits<size_t>::max() - 8); });
  t("string append", [&] { s.append(std::numeric_limits<size_t>::max() - 6, 'x'); });
}
static void language() {
  t("new", [] {
    char* p = new char[big];
    sink = p;
    p[0] = 1;
  });
  t("new array", [] {
    long n = -1;
    volatile long* vn = &n;
    int* p = new int[*vn];
    p[0] = 1;
  });
  t("nothrow", [] { printf("%d ", new (std::nothrow) char[big] == nullptr); });
  t("optional", [] {
    std::optional<int> o;
    (void)o.value();
  });
  t("variant", [] {
    std::variant<int, double> x = 1;
    (void)std::get<double>(x);
  });
  t("any", [] {
    std::any x = 1;
    (void)std::any_cast<double>(x);
  });
  t("dynamic_cast", [] {
    E e;
    B* b = &e;
    (void)dynamic_cast<D&>(*b);
  });
  t("typeid", [] {
    B* volatile b = nullptr;
    (void)typeid(*b).name();
  });
  t("weak_ptr", [] {
    std::weak_ptr<int> w;
    std::shared_ptr<int> x(w);
  });
  t("bitset string", [] { std::bitset<8> b(std::string("012")); });
  t("bitset to_ulong", [] {
    std::bitset<100> b;
    b.set(99);
    (void)b.to_ulong();
  });
  t("bitset test", [&] {
    std::bitset<8> b;
    (void)b.test(big);
  });
}

int main() {
  containers();
  language();
}

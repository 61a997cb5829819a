// Exceptions that the language itself throws: bad_cast, bad_typeid, bad_any_cast, bad_variant_access, bad_optional_access.
#include <any>
#include <cstdio>
#include <optional>
#include <typeinfo>
#include <variant>

struct Animal {
  virtual ~Animal() = default;
};
struct Cat : Animal {};
struct Dog : Animal {};

template <class F>
static void attempt(const char* what, F f) {
  try {
    f();
    std::printf("%s: fine\n", what);
  } catch (const std::bad_any_cast&) {
    std::printf("%s: bad_any_cast\n", what);
  } catch (const std::bad_cast&) {
    std::printf("%s: bad_cast\n", what);
  } catch (const std::bad_typeid&) {
    std::printf("%s: bad_typeid\n", what);
  } catch (const std::bad_variant_access&) {
    std::printf("%s: bad_variant_access\n", what);
  } catch (const std::bad_optional_access&) {
    std::printf("%s: bad_optional_access\n", what);
  }
}

int main() {
  Cat cat;
  Animal& animal = cat;
  attempt("to cat", [&] { (void)dynamic_cast<Cat&>(animal); });
  attempt("to dog", [&] { (void)dynamic_cast<Dog&>(animal); });
  attempt("typeid of null", [] {
    Animal* volatile none = nullptr;
    (void)typeid(*none).name();
  });
  attempt("any", [] { (void)std::any_cast<int>(std::any(2.5)); });
  attempt("variant", [] { (void)std::get<int>(std::variant<int, double>(2.5)); });
  attempt("optional", [] { (void)std::optional<int>().value(); });
}

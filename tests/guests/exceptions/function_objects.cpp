// std::function and lambdas that throw.
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
int call_it(const std::function<int(int)>& f, int n) { return f(n) + 1; }
int main() {
  std::function<int(int)> empty;
  try {
    call_it(empty, 1);
  } catch (const std::bad_function_call&) {
    puts("bad_function_call");
  }
  std::string s = "captured";
  auto thrower = [s](int n) -> int {
    if (n > 2) throw std::runtime_error(s + std::to_string(n));
    return n;
  };
  for (int i = 0; i < 5; ++i) try {
      printf("%d\n", call_it(thrower, i));
    } catch (std::exception& e) {
      puts(e.what());
    }
  std::map<std::string, std::function<void()>> table{
      {"a", [] { throw 1; }}, {"b", [] { throw 'x'; }}, {"c", [] { throw 2.5; }}, {"d", [] { throw "text"; }}};
  for (auto& [k, f] : table) {
    try {
      f();
    } catch (int v) {
      printf("%s int %d\n", k.c_str(), v);
    } catch (char v) {
      printf("%s char %c\n", k.c_str(), v);
    } catch (double v) {
      printf("%s double %g\n", k.c_str(), v);
    } catch (const char* v) {
      printf("%s text %s\n", k.c_str(), v);
    }
  }
}

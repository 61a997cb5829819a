// A recursive descent parser with errors.
#include <cctype>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
struct Error : std::runtime_error {
  size_t at;
  Error(const std::string& w, size_t a) : std::runtime_error(w), at(a) {}
};
struct Parser {
  const std::string& t;
  size_t at = 0;
  char peek() { return at < t.size() ? t[at] : 0; }
  long number() {
    if (!isdigit(peek())) throw Error(std::string("digit expected, not '") + (peek() ? peek() : '$') + "'", at);
    size_t used;
    long v = std::stol(t.substr(at), &used);
    at += used;
    return v;
  }
  long factor() {
    if (peek() == '(') {
      ++at;
      long v = sum();
      if (peek() != ')') throw Error("')' expected", at);
      ++at;
      return v;
    }
    if (peek() == '-') {
      ++at;
      return -factor();
    }
    return number();
  }
  long product() {
    long v = factor();
    for (;;) {
      if (peek() == '*') {
        ++at;
        v *= factor();
      } else if (peek() == '/') {
        ++at;
        long d = factor();
        if (!d) throw std::domain_error("division by zero");
        v /= d;
      } else
        return v;
    }
  }
  long sum() {
    long v = product();
    for (;;) {
      if (peek() == '+') {
        ++at;
        v += product();
      } else if (peek() == '-') {
        ++at;
        v -= product();
      } else
        return v;
    }
  }
  long all() {
    long v = sum();
    if (at != t.size()) throw Error("trailing text", at);
    return v;
  }
};
int main() {
  std::vector<std::string> in = {"1+2*3", "(4+5)*(6-7)", "2*(3+", "8/(4-4)", "x", "12 3", "99999999999999999999999", "((((1))))", "-(-3)"};
  for (auto& s : in) {
    try {
      printf("%s = %ld\n", s.c_str(), Parser{s}.all());
    } catch (const Error& e) {
      printf("%s: %s at %zu\n", s.c_str(), e.what(), e.at);
    } catch (const std::out_of_range&) {
      printf("%s: too large\n", s.c_str());
    } catch (const std::exception& e) {
      printf("%s: %s\n", s.c_str(), e.what());
    }
  }
}

// Streams that throw.
#include <iomanip>
#include <iostream>
#include <locale>
#include <regex>
#include <sstream>
struct Bad : std::streambuf {
  int overflow(int) override { throw 17; }
};
struct X {
  int v;
};
std::istream& operator>>(std::istream& in, X& x) {
  in >> x.v;
  if (x.v == 13) throw std::runtime_error("thirteen");
  return in;
}
int main() {
  std::istringstream in("12 x");
  in.exceptions(std::ios::failbit);
  int n = 0;
  try {
    in >> n;
    std::cout << n << "\n";
    in >> n;
    std::cout << "never\n";
  } catch (const std::ios_base::failure& e) {
    std::cout << "failure " << (e.code() == std::io_errc::stream) << "\n";
  }
  std::istringstream xs("1 13 5");
  X x;
  try {
    while (xs >> x) std::cout << x.v << "\n";
  } catch (std::exception& e) {
    std::cout << e.what() << "\n";
  }
  std::ostringstream out;
  out << std::setw(6) << std::setfill('.') << 42;
  std::cout << out.str() << "\n";
  try {
    std::regex r("([");
  } catch (const std::regex_error& e) {
    std::cout << "regex_error " << (e.code() == std::regex_constants::error_brack || e.code() == std::regex_constants::error_paren) << "\n";
  }
  std::ostream bad(new Bad);
  bad.exceptions(std::ios::badbit);
  try {
    bad << "x";
    std::cout << "swallowed\n";
  } catch (int v) {
    std::cout << "thrown " << v << "\n";
  } catch (std::ios_base::failure&) {
    std::cout << "failure\n";
  }
}

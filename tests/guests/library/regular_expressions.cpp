// std::regex, std::chrono, std::locale and stream formatting.
#include <chrono>
#include <iomanip>
#include <iostream>
#include <locale>
#include <regex>
#include <sstream>
#include <string>

static void expressions() {
  const std::string text = "alpha=1; beta=22; gamma=333; broken; delta=4";
  const std::regex pair(R"((\w+)=(\d+))");
  for (std::sregex_iterator it(text.begin(), text.end(), pair), end; it != end; ++it)
    std::cout << (*it)[1] << ':' << (*it)[2].length() << ' ';
  std::cout << std::regex_replace(text, pair, "<$2>") << "\n";
  std::cout << std::regex_match("2026-11-17", std::regex(R"(\d{4}-\d\d-\d\d)")) << std::regex_search("xyz", std::regex("a|b")) << "\n";
  try {
    std::regex bad("(unclosed");
    std::cout << "accepted\n";
  } catch (const std::regex_error& e) {
    std::cout << "regex_error " << (e.code() == std::regex_constants::error_paren) << "\n";
  }
}

static void times() {
  using namespace std::chrono;
  const sys_days day = year{2024} / February / 29;
  std::cout << day.time_since_epoch().count() << ' ' << weekday(day).c_encoding() << "\n";
  std::cout << duration_cast<milliseconds>(hours(1) + seconds(2)).count() << "\n";
  const auto start = steady_clock::now();
  std::cout << (steady_clock::now() >= start) << (system_clock::now().time_since_epoch().count() > 0) << "\n";
}

static void formats() {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << std::hex << std::showbase << 255 << ' ' << std::dec << std::setfill('*') << std::setw(8) << 42 << ' ' << std::scientific
      << 12345.678 << ' ' << std::boolalpha << true << ' ' << std::quoted("a \"b\"");
  std::cout << out.str() << "\n";
  std::cout << std::use_facet<std::ctype<char>>(std::locale::classic()).toupper('x') << "\n";
}

int main() {
  expressions();
  times();
  formats();
}

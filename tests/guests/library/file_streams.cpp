// std::fstream: text and binary, seeking both ways, appending, locale-free numbers, errors with and without exceptions.
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

static const char* const kName = "godwit-file-streams-test";

static void text() {
  {
    std::ofstream out(kName);
    for (int i = 0; i < 200; ++i) out << i << ' ' << std::setw(6) << i * i << ' ' << std::fixed << std::setprecision(3) << i / 7.0 << '\n';
  }
  std::ifstream in(kName);
  long sum = 0, lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    std::istringstream words(line);
    int a = 0, b = 0;
    double c = 0;
    words >> a >> b >> c;
    sum += a + b + static_cast<long>(c * 1000);
  }
  std::cout << lines << " lines, " << sum << "\n";
}

static void binary() {
  std::fstream file(kName, std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc);
  std::vector<char> block(10000);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * 7);
  file.write(block.data(), static_cast<std::streamsize>(block.size()));
  file.seekp(1234);
  file.put('!');
  file.seekg(1230);
  for (int i = 0; i < 8; ++i) std::cout << file.get() << ' ';
  std::cout << file.tellg() << "\n";
  file.seekg(0, std::ios::end);
  std::cout << file.tellg() << "\n";
  file.close();
  std::ofstream(kName, std::ios::app) << "tail";
  std::ifstream in(kName, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::cout << all.size() << ' ' << all.substr(10000) << "\n";
}

static void errors() {
  std::ifstream none("godwit-there-is-no-such-file");
  std::cout << none.is_open() << none.fail() << "\n";
  try {
    none.clear();
    none.exceptions(std::ios::failbit);
    none.open("godwit-there-is-no-such-file");
    std::cout << "opened\n";
  } catch (const std::ios_base::failure&) {
    std::cout << "failure\n";
  }
}

int main() {
  text();
  binary();
  errors();
  std::remove(kName);
}

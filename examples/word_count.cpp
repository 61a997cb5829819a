// The most frequent words of some files: each file is a call, which reads it where it runs.
//
//   godwit run examples/word_count.cpp --input docs --workers 4 -- docs/security.md docs/overlay.md docs/protocol.md
//
// Expected output: five lines, each a count and a word

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <godwit/godwit.hpp>

using Counts = std::map<std::string, long>;

Counts count_words(std::string path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Counts counts;
  for (std::string word; file >> word;) {
    std::erase_if(word, [](unsigned char c) { return std::isalpha(c) == 0; });
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!word.empty()) counts[word]++;
  }
  return counts;
}

int main(int argc, char** argv) {
  godwit::computer grid{{.workers = 3}};
  std::vector<godwit::future<Counts>> parts;
  for (int i = 1; i < argc; i++) parts.push_back(grid.async(count_words, std::string(argv[i])));
  Counts total;
  for (auto& part : parts) {
    try {
      for (const auto& [word, count] : part.get()) total[word] += count;
    } catch (const godwit::remote_error& error) {
      std::fprintf(stderr, "word_count: %s\n", error.what());
      return 1;
    }
  }
  std::vector<std::pair<std::string, long>> words(total.begin(), total.end());
  std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min<std::size_t>(5, words.size()); i++)
    std::printf("%6ld %s\n", words[i].second, words[i].first.c_str());
}

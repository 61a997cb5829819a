// std::filesystem: paths, directories, copies, links, walks, errors.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

static void paths() {
  const fs::path p = "/usr/local/../lib/libx.so.1";
  std::cout << p.filename() << p.stem() << p.extension() << p.parent_path() << p.lexically_normal() << "\n";
  std::cout << (fs::path("a") / "b" / "/c") << fs::path("x/y").lexically_relative("x/z") << "\n";
  for (const fs::path& part : fs::path("/one/two/three")) std::cout << part << " ";
  std::cout << "\n";
}

static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

static void files(const fs::path& root) {
  fs::create_directories(root / "a/b/c");
  write(root / "a/one.txt", "first\n");
  write(root / "a/b/two.txt", std::string(5000, 'x'));
  fs::copy_file(root / "a/one.txt", root / "a/b/c/three.txt");
  fs::create_symlink("one.txt", root / "a/link");
  std::cout << fs::exists(root / "a/link") << fs::is_symlink(root / "a/link") << fs::file_size(root / "a/b/two.txt") << "\n";
  fs::rename(root / "a/b/two.txt", root / "a/b/c/moved.txt");
  fs::resize_file(root / "a/b/c/moved.txt", 10);
  fs::copy(root / "a", root / "copy", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    std::string line = entry.path().lexically_relative(root).string();
    if (entry.is_regular_file() && !entry.is_symlink()) line += " " + std::to_string(entry.file_size());
    found.push_back(line);
  }
  std::sort(found.begin(), found.end());
  for (const std::string& line : found) std::cout << line << "\n";
  std::cout << fs::canonical(root / "a/b/../link").filename() << fs::equivalent(root / "a/link", root / "a/one.txt") << "\n";
  std::cout << fs::remove_all(root / "copy") << fs::remove(root / "none") << "\n";
}

static void errors(const fs::path& root) {
  std::error_code error;
  (void)fs::file_size(root / "none", error);
  std::cout << (error == std::errc::no_such_file_or_directory) << "\n";
  try {
    fs::create_directory(root / "none/below");
  } catch (const fs::filesystem_error& e) {
    std::cout << e.path1().filename() << (e.code() == std::errc::no_such_file_or_directory) << "\n";
  }
  try {
    for (const auto& entry : fs::directory_iterator(root / "none")) std::cout << entry.path();
  } catch (const fs::filesystem_error&) {
    std::cout << "no such directory\n";
  }
}

static void walk(const fs::path& root) {
  for (int folder = 0; folder < 20; ++folder) {
    fs::create_directories(root / std::to_string(folder));
    for (int file = 0; file < 50; ++file) write(root / std::to_string(folder) / std::to_string(file), std::to_string(folder * file));
  }
  std::uintmax_t count = 0, bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    ++count;
    bytes += entry.file_size();
  }
  std::cout << count << " files, " << bytes << " bytes\n";
}

int main() {
  const fs::path root = fs::current_path() / "godwit-filesystem-test";
  fs::remove_all(root);
  paths();
  files(root);
  errors(root);
  walk(root / "many");
  fs::remove_all(root);
}

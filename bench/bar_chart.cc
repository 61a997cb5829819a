#include "bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "os/files/file.h"

namespace gw::bench {
namespace {

constexpr int kWidth = 720, kLabels = 190, kValues = 110, kRow = 30, kTop = 48;
constexpr double kMostLinear = 50;
constexpr const char* kOurs = "#2f6f8f";
constexpr const char* kOther = "#b8c4cc";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string value_text(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

}  // namespace

std::string to_svg(const Chart& chart) {
  const auto by_value = [](const Chart::Bar& a, const Chart::Bar& b) { return a.value < b.value; };
  const auto [least, most] = std::ranges::minmax(chart.bars, by_value);
  const bool logarithmic = most.value > kMostLinear * least.value;
  const auto length = [&, least = least.value, most = most.value](double value) {
    const double part = logarithmic ? (1 + std::log10(value / least)) / (1 + std::log10(most / least)) : value / most;
    return part * (kWidth - kLabels - kValues);
  };
  const int height = kTop + kRow * static_cast<int>(chart.bars.size()) + 12;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
      "font-size=\"14\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"12\" y=\"26\" "
      "font-weight=\"bold\">{2}{3}</text>\n",
      kWidth, height, escaped(chart.title), logarithmic ? " (logarithmic)" : "");
  int y = kTop;
  for (const Chart::Bar& bar : chart.bars) {
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n"
        "<text x=\"{:.1f}\" y=\"{}\">{} {}</text>\n",
        kLabels - 8, y + 17, escaped(bar.label), kLabels, y + 3, length(bar.value), kRow - 8,
        bar.label.starts_with("Godwit") ? kOurs : kOther, kLabels + length(bar.value) + 6, y + 17, value_text(bar.value),
        escaped(chart.unit));
    y += kRow;
  }
  return svg + "</svg>\n";
}

Status write_charts(const Report& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Kind::invalid, "cannot create {}: {}", folder.string(), error.message());
  for (const Chart& chart : report.charts)
    if (!chart.bars.empty())
      GW_TRY_VOID(os::write_file_atomic(folder / (chart.name + ".svg"), as_bytes(to_svg(chart)), os::Durability::unflushed));
  return ok();
}

}  // namespace gw::bench

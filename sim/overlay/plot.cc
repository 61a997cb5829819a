#include "overlay/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/check.h"

namespace gw::sim::overlay_simulation {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 400;
constexpr double kLeft = 80;
constexpr double kRight = 24;
constexpr double kTop = 44;
constexpr double kBottom = 56;

// From zero to a little above the largest value, in steps that people like.
struct Axis {
  double step = 1;
  double end = 1;

  static Axis up_to(double most) {
    if (!(most > 0)) return {0.25, 1};
    const double power = std::pow(10, std::floor(std::log10(most)));
    for (const double digit : {0.1, 0.2, 0.25, 0.5, 1.0, 2.0}) {
      const double step = digit * power;
      if (std::ceil(most / step) <= 6) return {step, std::ceil(most / step) * step};
    }
    return {2 * power, 10 * power};
  }
};

double x_at(double share) { return kLeft + share * (kWidth - kLeft - kRight); }
double y_at(double share) { return kHeight - kBottom - share * (kHeight - kTop - kBottom); }

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor, text);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='{}'/>\n", x1, y1, x2, y2, colour);
}

std::string axes(const Picture& picture, const Axis& x, const Axis& y) {
  std::string svg;
  for (double tick = 0; tick <= x.end * 1.001; tick += x.step) {
    svg += line(x_at(tick / x.end), y_at(0), x_at(tick / x.end), y_at(0) + 5, "#444");
    svg += label(x_at(tick / x.end), y_at(0) + 20, "middle", fmt::format("{:.6g}", tick));
  }
  for (double tick = 0; tick <= y.end * 1.001; tick += y.step) {
    svg += line(x_at(0), y_at(tick / y.end), x_at(1), y_at(tick / y.end), tick == 0 ? "#444" : "#ddd");
    svg += label(x_at(0) - 8, y_at(tick / y.end) + 4, "end", fmt::format("{:.6g}", tick));
  }
  svg += line(x_at(0), y_at(0), x_at(0), y_at(1), "#444");
  svg += fmt::format("<text x='{:.1f}' y='24' text-anchor='middle' font-size='16'>{}</text>\n", kWidth / 2, picture.title);
  svg += label(x_at(0.5), kHeight - 14, "middle", picture.x_label);
  svg += fmt::format("<text transform='translate(18 {:.1f}) rotate(-90)' text-anchor='middle'>{}</text>\n", y_at(0.5), picture.y_label);
  return svg;
}

std::string curve(const Picture& picture, const Axis& x, const Axis& y) {
  std::string points;
  for (std::size_t i = 0; i < picture.xs.size(); ++i)
    points += fmt::format("{:.1f},{:.1f} ", x_at(picture.xs[i] / x.end), y_at(picture.ys[i] / y.end));
  return fmt::format("<polyline points='{}' fill='none' stroke='#1660a8' stroke-width='2'/>\n", points);
}

std::string bars(const Picture& picture, const Axis& x, const Axis& y) {
  std::string svg;
  const double width = picture.xs.size() < 2 ? 10 : (picture.xs[1] - picture.xs[0]) / x.end * (kWidth - kLeft - kRight);
  for (std::size_t i = 0; i < picture.xs.size(); ++i) {
    const double top = y_at(picture.ys[i] / y.end);
    svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='#1660a8'/>\n", x_at(picture.xs[i] / x.end), top,
                       std::max(1.0, width - 1), y_at(0) - top);
  }
  return svg;
}

// How many of the values are in each of about thirty equal ranges.
Picture histogram(const std::vector<double>& sorted) {
  Picture picture{.title = "In-degree at the end: in how many caches a peer is",
                  .x_label = "caches",
                  .y_label = "peers",
                  .shape = Picture::Shape::bars};
  if (sorted.empty()) return picture;
  const double width = std::max(1.0, std::ceil((sorted.back() + 1) / 30));
  for (double from = 0; from <= sorted.back(); from += width) {
    const auto begin = std::ranges::lower_bound(sorted, from);
    const auto end = std::ranges::lower_bound(sorted, from + width);
    picture.xs.push_back(from);
    picture.ys.push_back(static_cast<double>(end - begin));
  }
  return picture;
}

Picture convergence(const Series& series) {
  Picture picture{.title = "Convergence: peers whose leafset is exact", .x_label = "seconds since the start", .y_label = "share of peers"};
  for (const double share : series.perfect_leafsets) {
    picture.xs.push_back(static_cast<double>(picture.xs.size() + 1));
    picture.ys.push_back(share);
  }
  return picture;
}

Picture over_time(const Series& series, double Sample::* field, const std::string& title, const std::string& y_label) {
  Picture picture{.title = title, .x_label = "seconds since the start", .y_label = y_label};
  for (const Sample& sample : series.samples) {
    picture.xs.push_back(sample.seconds);
    picture.ys.push_back(sample.*field);
  }
  return picture;
}

Status write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (!stream) return fail(Kind::internal, "{} cannot be written", file.string());
  return {};
}

}  // namespace

std::string draw(const Picture& picture) {
  GW_ASSERT(picture.xs.size() == picture.ys.size());
  const Axis x = Axis::up_to(picture.xs.empty() ? 0 : std::ranges::max(picture.xs));
  const Axis y = Axis::up_to(picture.ys.empty() ? 0 : std::ranges::max(picture.ys));
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} {1}' font-family='sans-serif' font-size='12' "
      "fill='#222'>\n<rect width='{0}' height='{1}' fill='white'/>\n",
      kWidth, kHeight);
  svg += axes(picture, x, y);
  svg += picture.shape == Picture::Shape::curve ? curve(picture, x, y) : bars(picture, x, y);
  return svg + "</svg>\n";
}

Status plot(const Series& series, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Kind::internal, "the folder {} cannot be made: {}", folder.string(), error.message());
  const auto curve_of = [&](double Sample::* field, const char* file, const std::string& title, const std::string& y_label) {
    return write(folder / file, draw(over_time(series, field, title, y_label)));
  };
  GW_TRY_VOID(write(folder / "convergence.svg", draw(convergence(series))));
  GW_TRY_VOID(curve_of(&Sample::coordinate_error, "coordinate_error.svg", "Median relative error of estimated round trips", "error"));
  GW_TRY_VOID(curve_of(&Sample::dead_entries, "dead_entries.svg", "Entries of peers that are gone", "share of cache entries"));
  GW_TRY_VOID(curve_of(&Sample::bytes_per_peer_minute, "bytes_per_peer.svg", "Bytes sent by a peer per minute", "bytes"));
  return write(folder / "in_degree.svg", draw(histogram(series.in_degrees)));
}

}  // namespace gw::sim::overlay_simulation

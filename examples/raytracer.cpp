// A small ray tracer: a spiral of mirror and matt balls on a tiled floor under two lamps, as a PNG picture on standard output.
//
//   godwit run examples/raytracer.cpp > balls.png
//   godwit run examples/raytracer.cpp -- 1280 4 > balls.png     (width, samples per pixel side)
//
// As one of many tasks it draws only its strip, from the top down, as a PPM picture: the strips of all tasks one after the other are the
// whole.
//
//   godwit run examples/raytracer.cpp --workers 8 --tasks 40 -- 1280 4 > balls.ppm
//
// Only + - * / and the square root are used, so the picture is the same byte for byte on every machine.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "png.h"

namespace {

struct Vec {
  double x = 0, y = 0, z = 0;

  Vec operator+(const Vec& o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vec operator-(const Vec& o) const { return {x - o.x, y - o.y, z - o.z}; }
  Vec operator*(const Vec& o) const { return {x * o.x, y * o.y, z * o.z}; }
  Vec operator*(double s) const { return {x * s, y * s, z * s}; }
};

double dot(const Vec& a, const Vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec cross(const Vec& a, const Vec& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Vec unit(const Vec& v) { return v * (1 / std::sqrt(dot(v, v))); }
Vec mix(const Vec& a, const Vec& b, double t) { return a * (1 - t) + b * t; }

struct Ray {
  Vec origin;
  Vec direction;  // unit length

  Vec at(double t) const { return origin + direction * t; }
};

struct Material {
  Vec colour;
  double mirror;  // share of the light that is reflected
};

struct Hit {
  double distance;
  Vec point;
  Vec normal;
  Material material;
};

struct Lamp {
  Vec position;
  Vec colour;
};

constexpr double kNear = 1e-6;  // ignores the surface a ray starts on
constexpr int kMaxBounces = 6;

struct Ball {
  Vec centre;
  double radius;
  Material material;

  std::optional<double> distance(const Ray& ray) const {
    const Vec offset = ray.origin - centre;
    const double half = dot(offset, ray.direction);
    const double discriminant = half * half - dot(offset, offset) + radius * radius;
    if (discriminant < 0) return std::nullopt;
    const double root = std::sqrt(discriminant);
    if (-half - root > kNear) return -half - root;
    if (-half + root > kNear) return -half + root;
    return std::nullopt;
  }
};

class Scene {
 public:
  Scene() {
    lamps_ = {{{-6, 9, -7}, {0.95, 0.88, 0.78}}, {{9, 6, -3}, {0.28, 0.36, 0.52}}};
    balls_.push_back({{0, 1.25, 0.2}, 1.25, {{0.92, 0.92, 0.95}, 0.82}});
    place_spiral();
  }

  // The light that arrives at the origin of the ray.
  Vec trace(const Ray& ray, int bounces) const {
    const std::optional<Hit> hit = nearest(ray);
    if (!hit) return sky(ray.direction);
    const Vec matt = shade(*hit, ray.direction);
    if (bounces == kMaxBounces || hit->material.mirror == 0) return matt;
    const Vec mirrored = unit(ray.direction - hit->normal * (2 * dot(ray.direction, hit->normal)));
    return mix(matt, trace({hit->point, mirrored}, bounces + 1) * hit->material.colour, hit->material.mirror);
  }

 private:
  // Turning by a constant angle is a multiplication of complex numbers, so no sine is needed. The angle is the golden one.
  void place_spiral() {
    constexpr double kCosine = -0.7373688780783197, kSine = 0.6754902942615238;
    const Vec palette[] = {{0.90, 0.26, 0.20}, {0.97, 0.68, 0.18}, {0.20, 0.58, 0.42}, {0.16, 0.42, 0.74}, {0.62, 0.32, 0.66}};
    double re = 1, im = 0;
    for (int i = 0; i < 28; i++) {
      const double reach = 1.75 + 0.11 * i;
      const double radius = 0.24 + 0.011 * i;
      balls_.push_back({{re * reach, radius, 0.2 + im * reach}, radius, {palette[i % 5], i % 3 == 0 ? 0.45 : 0.06}});
      const double turned = re * kCosine - im * kSine;
      im = re * kSine + im * kCosine;
      re = turned;
    }
  }

  static Vec sky(const Vec& direction) {
    const double height = std::max(0.0, direction.y);
    return mix({0.93, 0.80, 0.66}, {0.24, 0.42, 0.72}, std::min(1.0, 1.6 * std::sqrt(height)));
  }

  std::optional<Hit> floor_hit(const Ray& ray) const {
    if (ray.direction.y > -kNear) return std::nullopt;
    const double distance = -ray.origin.y / ray.direction.y;
    if (distance < kNear || distance > 60) return std::nullopt;
    const Vec point = ray.at(distance);
    const bool dark = (static_cast<int>(std::floor(point.x)) + static_cast<int>(std::floor(point.z))) & 1;
    const Vec colour = dark ? Vec{0.16, 0.19, 0.24} : Vec{0.88, 0.86, 0.80};
    return Hit{distance, point, {0, 1, 0}, {colour, 0.14}};
  }

  std::optional<Hit> nearest(const Ray& ray) const {
    std::optional<Hit> best = floor_hit(ray);
    for (const Ball& ball : balls_) {
      const std::optional<double> distance = ball.distance(ray);
      if (!distance || (best && *distance >= best->distance)) continue;
      const Vec point = ray.at(*distance);
      best = Hit{*distance, point, unit(point - ball.centre), ball.material};
    }
    return best;
  }

  bool in_shadow(const Ray& to_lamp, double lamp_distance) const {
    return std::any_of(balls_.begin(), balls_.end(), [&](const Ball& ball) {
      const std::optional<double> distance = ball.distance(to_lamp);
      return distance && *distance < lamp_distance;
    });
  }

  // Ambient light, Lambert's law and a highlight for each lamp that is seen from the point.
  Vec shade(const Hit& hit, const Vec& view) const {
    Vec light = hit.material.colour * sky(hit.normal) * 0.22;
    for (const Lamp& lamp : lamps_) {
      const Vec offset = lamp.position - hit.point;
      const Vec to_lamp = unit(offset);
      const double slant = dot(hit.normal, to_lamp);
      if (slant <= 0 || in_shadow({hit.point, to_lamp}, std::sqrt(dot(offset, offset)))) continue;
      double highlight = std::max(0.0, dot(hit.normal, unit(to_lamp - view)));
      for (int doubling = 0; doubling < 6; doubling++) highlight *= highlight;
      light = light + hit.material.colour * lamp.colour * slant + lamp.colour * (0.5 * highlight);
    }
    return light;
  }

  std::vector<Lamp> lamps_;
  std::vector<Ball> balls_;
};

class Camera {
 public:
  Camera(int width, int height) : width_(width), height_(height) {
    forward_ = unit(Vec{0, 0.75, 0} - position_);
    right_ = unit(cross({0, 1, 0}, forward_));
    up_ = cross(forward_, right_);
  }

  // The ray through the point (x, y) of the picture, in pixels from its upper left corner.
  Ray ray(double x, double y) const {
    const double across = (2 * x - width_) / width_;
    const double down = (2 * y - height_) / width_;
    return {position_, unit(forward_ * 1.7 + right_ * across - up_ * down)};
  }

 private:
  int width_;
  int height_;
  Vec position_{1.2, 3.6, -9.0};
  Vec forward_, right_, up_;
};

// Light to screen value; the square root stands for the usual gamma of 2.2.
std::uint8_t screen_value(double light) { return static_cast<std::uint8_t>(std::sqrt(std::clamp(light, 0.0, 1.0)) * 255 + 0.5); }

void render_row(const Scene& scene, const Camera& camera, int y, int side, std::vector<std::uint8_t>& rgb) {
  for (std::size_t x = 0; x < rgb.size() / 3; x++) {
    Vec sum;
    for (int sample = 0; sample < side * side; sample++) {
      const double dx = (sample % side + 0.5) / side, dy = (sample / side + 0.5) / side;
      sum = sum + scene.trace(camera.ray(static_cast<double>(x) + dx, y + dy), 0);
    }
    sum = sum * (1.0 / (side * side));
    rgb[3 * x] = screen_value(sum.x);
    rgb[3 * x + 1] = screen_value(sum.y);
    rgb[3 * x + 2] = screen_value(sum.z);
  }
}

int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

void draw_png(const Scene& scene, int width, int height, int side) {
  const Camera camera(width, height);
  std::vector<std::uint8_t> rgb(3 * static_cast<std::size_t>(width));
  PngWriter png;
  png_begin(&png, stdout, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height));
  for (int y = 0; y < height; y++) {
    render_row(scene, camera, y, side, rgb);
    png_row(&png, rgb.data());
  }
  png_end(&png);
}

void draw_strip(const Scene& scene, int width, int height, int side, int task, int tasks) {
  const Camera camera(width, height);
  std::vector<std::uint8_t> rgb(3 * static_cast<std::size_t>(width));
  if (task == 0) std::printf("P6\n%d %d\n255\n", width, height);
  for (int y = height * task / tasks; y < height * (task + 1) / tasks; y++) {
    render_row(scene, camera, y, side, rgb);
    std::fwrite(rgb.data(), 1, rgb.size(), stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 480;
  const int side = argc > 2 ? std::atoi(argv[2]) : 2;
  if (width < 2 || width > kPngMaxWidth || side < 1 || side > 16) {
    std::fprintf(stderr, "usage: raytracer [width 2..%d] [samples per pixel side 1..16]\n", kPngMaxWidth);
    return 2;
  }
  const int height = std::max(1, width * 5 / 8);
  const int task = number_from("GODWIT_TASK", 0), tasks = number_from("GODWIT_TASKS", 0);
  const Scene scene;
  if (tasks > 0) {
    draw_strip(scene, width, height, side, task, tasks);
  } else {
    draw_png(scene, width, height, side);
  }
  return 0;
}

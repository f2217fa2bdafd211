#include <pagoda/base/error.h>
#include <pagoda/data/builtin_images.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/random_streams.h"

// All arithmetic is in integers, because the last bit of sin() or of a fused multiply-add differs
// between machines. Lengths inside an image are in 1/64 pixel (kPixel). A shape is described in its
// own frame, where it fits into a circle of radius 1024 (kRadius).

namespace pagoda {
namespace {

constexpr int kSide = 32;
constexpr int kPlane = kSide * kSide;
constexpr int kPixel = 64;
constexpr int kRadius = 1024;

using Colour = std::array<int, 3>;
/// One image, pixel by pixel, before noise.
using Canvas = std::array<Colour, kPlane>;

/// Uniform in low .. high, both included. Draw in separate statements: compilers differ in the
/// order in which they evaluate the arguments of a function.
int between(SplitMix64& random, int low, int high) {
  const auto choices = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
  return low + static_cast<int>(random.below(choices));
}

enum class Shape { disc, ring, square, frame, triangle, star, cross, crescent, stripes, hourglass };

constexpr std::array<std::string_view, kBuiltinClasses> kClassNames = {
    "disc", "ring",  "square",   "frame",   "triangle",
    "star", "cross", "crescent", "stripes", "hourglass"};

bool within_circle(int u, int v, int radius) { return u * u + v * v <= radius * radius; }

/// A five-pointed star: the points outside at most one of five half-planes. The circle cuts its
/// tips, which leaves arms broad enough to be seen at this size.
bool within_star(int u, int v) {
  static constexpr int kNormals[5][2] = {
      {0, 1024}, {974, 316}, {602, -828}, {-602, -828}, {-974, 316}};
  int outside = 0;
  for (const auto& normal : kNormals) {
    outside += u * normal[0] + v * normal[1] > 390 * kRadius ? 1 : 0;
  }
  return outside <= 1 && within_circle(u, v, kRadius);
}

/// Whether the point (u, v) of the shape's frame is on the shape.
bool within(Shape shape, int u, int v) {
  const int across = std::abs(u);
  const int along = std::abs(v);
  const int reach = std::max(across, along);
  switch (shape) {
    case Shape::disc:
      return within_circle(u, v, 900);
    case Shape::ring:
      return within_circle(u, v, 960) && !within_circle(u, v, 560);
    case Shape::square:
      return reach <= 724;
    case Shape::frame:
      return reach <= 724 && reach > 400;
    case Shape::triangle:
      return v <= 512 && 1774 * across <= kRadius * (v + kRadius);
    case Shape::star:
      return within_star(u, v);
    case Shape::cross:
      return reach <= 960 && std::min(across, along) <= 280;
    case Shape::crescent:
      return within_circle(u, v, 1000) && !within_circle(u - 480, v, 800);
    case Shape::stripes:
      return reach <= 724 && (across <= 180 || across > 480);
    case Shape::hourglass:
      return along <= 724 && across <= along;
  }
  return false;
}

/// Where a shape lies: centre and radius in 1/64 pixel, angle in 1/64 turn.
struct Pose {
  int x, y, radius, angle;
};

/// Sine of `angle` 64ths of a turn, times 16384.
int sine(int angle) {
  static constexpr int kQuarter[17] = {0,     1606,  3196,  4756,  6270,  7723,
                                       9102,  10394, 11585, 12665, 13623, 14449,
                                       15137, 15679, 16069, 16305, 16384};
  const int phase = angle & 31;
  const int value = kQuarter[phase <= 16 ? phase : 32 - phase];
  return (angle & 32) != 0 ? -value : value;
}

/// Maps points of the image into the frame of a shape.
class ShapeFrame {
 public:
  explicit ShapeFrame(const Pose& pose)
      : x_(pose.x),
        y_(pose.y),
        cosine_(sine(pose.angle + 16) * kRadius / pose.radius),
        sine_(sine(pose.angle) * kRadius / pose.radius) {}

  bool covers(Shape shape, int x, int y) const {
    const int dx = x - x_;
    const int dy = y - y_;
    return within(shape, (cosine_ * dx + sine_ * dy) >> 14, (cosine_ * dy - sine_ * dx) >> 14);
  }

 private:
  int x_, y_, cosine_, sine_;
};

/// How many of the 4x4 points of pixel (column, row) are on the shape.
int coverage(const ShapeFrame& frame, Shape shape, int column, int row) {
  int covered = 0;
  for (int y = kPixel / 8; y < kPixel; y += kPixel / 4) {
    for (int x = kPixel / 8; x < kPixel; x += kPixel / 4) {
      covered += frame.covers(shape, column * kPixel + x, row * kPixel + y) ? 1 : 0;
    }
  }
  return covered;
}

void paint_shape(Canvas& canvas, Shape shape, const Pose& pose, const Colour& colour) {
  const ShapeFrame frame(pose);
  const auto first = [&](int centre) { return std::max((centre - pose.radius) / kPixel, 0); };
  const auto last = [&](int centre) {
    return std::min((centre + pose.radius) / kPixel, kSide - 1);
  };
  for (int row = first(pose.y); row <= last(pose.y); ++row) {
    for (int column = first(pose.x); column <= last(pose.x); ++column) {
      const int covered = coverage(frame, shape, column, row);
      Colour& pixel = canvas[row * kSide + column];
      for (int c = 0; c < 3; ++c) {
        pixel[c] += (colour[c] - pixel[c]) * covered / 16;
      }
    }
  }
}

/// A middling colour, with room for contrast on both sides.
Colour background_colour(SplitMix64& random) {
  return {between(random, 64, 191), between(random, 64, 191), between(random, 64, 191)};
}

/// Brighter or darker than `background` by an even chance, so that the mean colour of a place says
/// nothing about the class.
Colour contrasting_colour(SplitMix64& random, const Colour& background) {
  const int sign = between(random, 0, 1) == 0 ? 1 : -1;
  Colour colour{};
  for (int c = 0; c < 3; ++c) {
    colour[c] = std::clamp(background[c] + sign * between(random, 40, 110), 0, 255);
  }
  return colour;
}

/// Clouds: random shades at every eighth pixel, blended linearly between them.
void paint_background(Canvas& canvas, SplitMix64& random, const Colour& colour) {
  constexpr int kStep = 8;
  constexpr int kKnots = kSide / kStep + 1;
  std::array<std::array<Colour, kKnots>, kKnots> knots{};
  for (int k = 0; k < kKnots * kKnots; ++k) {
    Colour& knot = knots[k / kKnots][k % kKnots];
    const int shade = between(random, -24, 24);
    for (int c = 0; c < 3; ++c) {
      knot[c] = colour[c] + shade + between(random, -8, 8);
    }
  }
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const Colour* above = &knots[row / kStep][column / kStep];
      const Colour* below = &knots[row / kStep + 1][column / kStep];
      const int right = column % kStep;
      const int down = row % kStep;
      for (int c = 0; c < 3; ++c) {
        const int top = above[0][c] * (kStep - right) + above[1][c] * right;
        const int bottom = below[0][c] * (kStep - right) + below[1][c] * right;
        canvas[row * kSide + column][c] = (top * (kStep - down) + bottom * down) / (kStep * kStep);
      }
    }
  }
}

/// Small discs, squares and triangles in colours of their own; they belong to no class.
void paint_specks(Canvas& canvas, SplitMix64& random, const Colour& background, int count) {
  static constexpr Shape kSpecks[] = {Shape::disc, Shape::square, Shape::triangle};
  for (int i = 0; i < count; ++i) {
    const Pose pose{.x = between(random, 0, kSide * kPixel - 1),
                    .y = between(random, 0, kSide * kPixel - 1),
                    .radius = between(random, kPixel, 5 * kPixel / 2),
                    .angle = between(random, 0, 63)};
    const Shape shape = kSpecks[between(random, 0, 2)];
    const Colour colour = contrasting_colour(random, background);
    paint_shape(canvas, shape, pose, colour);
  }
}

/// A pose for the class's shape: upright within a sixteenth of a turn, in the centre 28x28 pixels.
Pose random_pose(SplitMix64& random) {
  const int radius = between(random, 7 * kPixel, 12 * kPixel);
  const int nearest = 2 * kPixel + radius;
  const int farthest = 30 * kPixel - radius;
  return {.x = between(random, nearest, farthest),
          .y = between(random, nearest, farthest),
          .radius = radius,
          .angle = between(random, -4, 4)};
}

/// Writes the three colour planes, with noise between -kNoise and kNoise, small values likelier.
void store_planes(const Canvas& canvas, SplitMix64& random, std::uint8_t* planes) {
  constexpr int kNoise = 20;
  for (int i = 0; i < kPlane; ++i) {
    std::uint64_t bits = random();
    for (int c = 0; c < 3; ++c, bits >>= 20) {
      const int sum = static_cast<int>(bits & 1023) + static_cast<int>((bits >> 10) & 1023);
      const int value = canvas[i][c] + (((sum - 1023) * kNoise) >> 10);
      planes[c * kPlane + i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  }
}

void draw_sample(std::uint64_t seed, std::int64_t sample, std::uint8_t* record) {
  SplitMix64 random(SplitMix64(seed)() + static_cast<std::uint64_t>(sample));
  const auto label = static_cast<std::uint8_t>(sample % kBuiltinClasses);
  const Colour background = background_colour(random);
  const Colour foreground = contrasting_colour(random, background);

  Canvas canvas;
  paint_background(canvas, random, background);
  paint_specks(canvas, random, background, between(random, 2, 5));
  paint_shape(canvas, static_cast<Shape>(label), random_pose(random), foreground);
  paint_specks(canvas, random, background, between(random, 0, 1));

  record[0] = label;
  store_planes(canvas, random, record + 1);
}

void check_range(std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 0) {
    throw UsageError("built-in images: first sample " + std::to_string(first) + " and count " +
                     std::to_string(count) + " must not be negative");
  }
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (count > kLargest / static_cast<std::int64_t>(kImageRecordBytes) || count > kLargest - first) {
    throw UsageError("built-in images: " + std::to_string(count) + " samples from number " +
                     std::to_string(first) + " are too many; ask for fewer at a time");
  }
}

}  // namespace

std::vector<std::uint8_t> draw_builtin_images(std::uint64_t seed, std::int64_t first,
                                              std::int64_t count) {
  check_range(first, count);
  std::vector<std::uint8_t> records(static_cast<std::size_t>(count) * kImageRecordBytes);
  for (std::int64_t i = 0; i < count; ++i) {
    draw_sample(seed, first + i, records.data() + static_cast<std::size_t>(i) * kImageRecordBytes);
  }
  return records;
}

std::string_view builtin_class_name(int label) {
  if (label < 0 || label >= kBuiltinClasses) {
    throw UsageError("built-in images: label " + std::to_string(label) +
                     " is not a class; use 0 to " + std::to_string(kBuiltinClasses - 1));
  }
  return kClassNames[static_cast<std::size_t>(label)];
}

}  // namespace pagoda

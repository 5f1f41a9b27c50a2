// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The choices of a search: points in a space of named integer dimensions, without those that a
/// model rules out. The meaning of the numbers is unknown here.
namespace hpl::tune {

/// One choice: a value for each of its names. Points with the same values are equal in any order.
class Point {
 public:
  using Entry = std::pair<std::string, std::int64_t>;

  Point() = default;
  Point(std::initializer_list<Entry> entries) : entries_(entries) {}

  /// The value of `name`, or `otherwise` where the point has none.
  std::int64_t value(std::string_view name, std::int64_t otherwise = 0) const noexcept;
  /// Changes the value of `name`, or appends it.
  void set(std::string_view name, std::int64_t value);
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// "lanes 16, jam 4"; "default" for the point without entries.
  std::string toString() const;

  friend bool operator==(const Point& a, const Point& b) noexcept;

 private:
  std::vector<Entry> entries_;
};

/// The points of all combinations of values that meet every requirement.
class Space {
 public:
  /// Adds a dimension. Throws ArgumentError when it has no values, a value twice, or the name of
  /// another one.
  Space& dimension(std::string name, std::vector<std::int64_t> values);

  /// Keeps only points for which `holds` is true. `what` is a phrase for people: "registers
  /// suffice". A requirement sees all dimensions, also those that are added later.
  Space& require(std::string what, std::function<bool(const Point&)> holds);

  /// Combinations before any requirement.
  std::size_t combinations() const noexcept;

  /// The points that remain; the first dimension varies slowest, values in the order given.
  std::vector<Point> points() const;

  /// The first requirement that `point` fails, or the dimension whose values it leaves. Empty if
  /// the point is in the space.
  std::string violatedBy(const Point& point) const;

 private:
  struct Dimension {
    std::string name;
    std::vector<std::int64_t> values;
  };
  struct Requirement {
    std::string what;
    std::function<bool(const Point&)> holds;
  };
  std::vector<Dimension> dimensions_;
  std::vector<Requirement> requirements_;
};

}  // namespace hpl::tune

// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hpl/error.h"

namespace hpl::tune {

std::int64_t Point::value(std::string_view name, std::int64_t otherwise) const noexcept {
  for (const Entry& entry : entries_)
    if (entry.first == name) return entry.second;
  return otherwise;
}

void Point::set(std::string_view name, std::int64_t value) {
  for (Entry& entry : entries_) {
    if (entry.first != name) continue;
    entry.second = value;
    return;
  }
  entries_.emplace_back(name, value);
}

bool operator==(const Point& a, const Point& b) noexcept {
  if (a.entries_.size() != b.entries_.size()) return false;
  return std::all_of(a.entries_.begin(), a.entries_.end(), [&](const Point::Entry& entry) {
    return std::find(b.entries_.begin(), b.entries_.end(), entry) != b.entries_.end();
  });
}

std::string Point::toString() const {
  if (entries_.empty()) return "default";
  std::string text;
  for (const auto& [name, value] : entries_)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text;
}

Space& Space::dimension(std::string name, std::vector<std::int64_t> values) {
  if (values.empty())
    throw ArgumentError(
        fmt::format("tune::Space: dimension '{}' has no values; give it at least one", name));
  if (std::set<std::int64_t>(values.begin(), values.end()).size() != values.size())
    throw ArgumentError(fmt::format(
        "tune::Space: dimension '{}' has a value twice; each point would be measured twice", name));
  for (const Dimension& other : dimensions_)
    if (other.name == name)
      throw ArgumentError(fmt::format("tune::Space: there are two dimensions '{}'", name));
  dimensions_.push_back({std::move(name), std::move(values)});
  return *this;
}

Space& Space::require(std::string what, std::function<bool(const Point&)> holds) {
  requirements_.push_back({std::move(what), std::move(holds)});
  return *this;
}

std::size_t Space::combinations() const noexcept {
  std::size_t product = 1;
  for (const Dimension& dimension : dimensions_) product *= dimension.values.size();
  return product;
}

std::vector<Point> Space::points() const {
  std::vector<Point> found;
  for (std::size_t number = 0; number < combinations(); ++number) {
    Point point;
    std::size_t block = combinations();
    for (const Dimension& dimension : dimensions_) {
      block /= dimension.values.size();
      point.set(dimension.name, dimension.values[number / block % dimension.values.size()]);
    }
    const bool holds = std::all_of(requirements_.begin(), requirements_.end(),
                                   [&](const Requirement& r) { return r.holds(point); });
    if (holds) found.push_back(std::move(point));
  }
  return found;
}

std::string Space::violatedBy(const Point& point) const {
  for (const auto& [name, value] : point.entries()) {
    const auto known = std::find_if(dimensions_.begin(), dimensions_.end(),
                                    [&](const Dimension& d) { return d.name == name; });
    if (known == dimensions_.end()) return fmt::format("there is no dimension '{}'", name);
  }
  for (const Dimension& dimension : dimensions_) {
    const auto isOwn = [&](const Point::Entry& e) { return e.first == dimension.name; };
    const auto own = std::find_if(point.entries().begin(), point.entries().end(), isOwn);
    if (own == point.entries().end()) return fmt::format("'{}' has no value", dimension.name);
    if (std::find(dimension.values.begin(), dimension.values.end(), own->second) ==
        dimension.values.end())
      return fmt::format("'{}' cannot be {}", dimension.name, own->second);
  }
  for (const Requirement& requirement : requirements_)
    if (!requirement.holds(point)) return requirement.what;
  return "";
}

}  // namespace hpl::tune

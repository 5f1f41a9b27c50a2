// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/distribution.h"

#include <algorithm>

#include "hpl/geometry/ownership.h"

namespace hpl::memory::detail {

using geometry::Box;
using runtime::DeviceState;

const DistributedPart* Distribution::partOn(const DeviceState& device, const Box& box) const {
  for (const DistributedPart& part : parts) {
    if (part.device == &device && part.full.contains(box)) return &part;
  }
  return nullptr;
}

bool Distribution::areNeighbours(const DistributedPart& a, const DistributedPart& b) const {
  if (a.device == b.device) return false;
  return origin == Origin::Annotated || geometry::areGhostNeighbours({a.full, 0}, {b.full, 1});
}

namespace {

std::shared_ptr<const Distribution> makeDistribution(Distribution::Origin origin,
                                                     std::vector<DistributedPart> parts) {
  auto result = std::make_shared<Distribution>();
  result->origin = origin;
  result->parts = std::move(parts);
  result->hasGhosts =
      std::any_of(result->parts.begin(), result->parts.end(), Distribution::needsOwnBuffer);
  return result;
}

}  // namespace

std::shared_ptr<const Distribution> annotatedDistribution(std::vector<DistributedPart> parts) {
  std::erase_if(parts, [](const DistributedPart& part) { return part.full.empty(); });
  return makeDistribution(Distribution::Origin::Annotated, std::move(parts));
}

bool ExplicitParts::isKnown(const Part& view) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.device == view.device && part.box.contains(view.box);
  });
}

bool ExplicitParts::isCutAnewBy(const Part& view) const {
  return !isKnown(view) && std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.device == view.device && part.box.intersects(view.box);
  });
}

std::shared_ptr<const Distribution> ExplicitParts::distributionOf(const std::vector<Part>& parts) {
  std::vector<geometry::DeviceView> views;
  std::vector<const DeviceState*> numbers;
  for (const Part& part : parts) {
    auto number = std::find(numbers.begin(), numbers.end(), part.device);
    if (number == numbers.end()) number = numbers.insert(number, part.device);
    views.push_back({part.box, static_cast<int>(number - numbers.begin())});
  }
  const std::vector<geometry::Ownership> ownership = geometry::cutOwnership(views);
  std::vector<DistributedPart> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result.push_back({parts[i].device, parts[i].box, ownership[i].core});
  }
  return makeDistribution(Distribution::Origin::Explicit, std::move(result));
}

void ExplicitParts::add(std::span<const Part> written) {
  const auto known = [&](const Part& view) { return isKnown(view); };
  if (std::all_of(written.begin(), written.end(), known)) return;
  const auto cuts = [&](const Part& view) { return isCutAnewBy(view); };
  if (std::any_of(written.begin(), written.end(), cuts)) parts_.clear();
  for (const Part& view : written) {
    if (isKnown(view)) continue;
    std::erase_if(parts_, [&](const Part& part) { return part.box == view.box; });
    parts_.push_back(view);
  }
  current_ = distributionOf(parts_);
}

void ExplicitParts::clear() noexcept {
  parts_.clear();
  current_.reset();
}

}  // namespace hpl::memory::detail

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

bool ExplicitParts::isKnown(const DeviceState& device, const Box& box) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.device == &device && part.box.contains(box);
  });
}

std::vector<ExplicitParts::Part> ExplicitParts::partsWith(DeviceState& device,
                                                          const Box& box) const {
  const bool cutAnew = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.device == &device && part.box.intersects(box);
  });
  std::vector<Part> parts;
  if (!cutAnew) {
    parts = parts_;
    std::erase_if(parts, [&](const Part& part) { return part.box == box; });
  }
  parts.push_back({&device, box});
  return parts;
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

std::shared_ptr<const Distribution> ExplicitParts::with(DeviceState& device, const Box& box) const {
  return isKnown(device, box) ? current_ : distributionOf(partsWith(device, box));
}

void ExplicitParts::add(DeviceState& device, const Box& box) {
  if (isKnown(device, box)) return;
  parts_ = partsWith(device, box);
  current_ = distributionOf(parts_);
}

void ExplicitParts::clear() noexcept {
  parts_.clear();
  current_.reset();
}

}  // namespace hpl::memory::detail

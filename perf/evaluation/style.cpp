// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "samples/common/plan_choice.h"

namespace evaluation {
namespace {

constexpr std::pair<const char*, Style> kNames[] = {{"single", Style::Single},
                                                    {"subarrays", Style::Subarrays},
                                                    {"annotations", Style::Annotations},
                                                    {"sync", Style::Sync},
                                                    {"auto", Style::Auto},
                                                    {"stencil", Style::Stencil},
                                                    {"template", Style::Template}};

void checkWeights(Style style, const samples::RunOptions& options) {
  const bool updatesByHand = style == Style::Subarrays || style == Style::Annotations;
  if (options.measuredWeights && updatesByHand)
    throw std::invalid_argument(
        fmt::format("measured weights: style {} updates ghosts by hand and needs numbers to know "
                    "where they are; styles sync and auto can measure",
                    styleName(style)));
  if (style == Style::Template && (options.measuredWeights || !options.weights.empty()))
    throw std::invalid_argument("weights: style template prepares equal shares");
}

}  // namespace

const char* styleName(Style style) {
  const auto* named =
      std::find_if(std::begin(kNames), std::end(kNames),
                   [style](const auto& candidate) { return candidate.second == style; });
  if (named == std::end(kNames)) throw std::invalid_argument("no such style");
  return named->first;
}

Style styleOf(const std::string& name) {
  for (const auto& [known, style] : kNames) {
    if (name == known) return style;
  }
  throw std::invalid_argument(
      fmt::format("style {}: expected single, subarrays, annotations, sync, auto, stencil or "
                  "template",
                  name));
}

bool hasGhosts(Style style) {
  return style != Style::Single && style != Style::Auto && style != Style::Stencil;
}

int ghostWidth(const Way& way, int radius) {
  if (way.ghostWidth == 0 || way.ghostWidth >= radius) return std::max(way.ghostWidth, radius);
  throw std::invalid_argument(
      fmt::format("ghosts of width {}: the stencil reads {} rows up and down; give {} or more",
                  way.ghostWidth, radius, radius));
}

hpl::ExecutionPlan planOf(const Way& way, samples::RunOptions options) {
  if (way.style == Style::Single) {
    options.devices = 0;
    return samples::choosePlan(options);
  }
  checkWeights(way.style, options);
  if (options.devices == 0) options.devices = samples::kAllDevices;
  return samples::choosePlan(options);
}

}  // namespace evaluation

// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hpl/runtime/version.h"
#include "hpl/topology/graph_mapping.h"

namespace hpl::ranks {
namespace {

template <class E, std::size_t N>
std::string wordFor(E value, const std::array<std::string_view, N>& words) {
  return std::string(words.at(static_cast<std::size_t>(value)));
}

std::string checksOf(const runtime::Settings& settings) {
  if (settings.checkBounds && settings.checkGhosts) return "all";
  if (settings.checkBounds) return "bounds";
  return settings.checkGhosts ? "ghosts" : "none";
}

std::string strategyOf(const runtime::Settings& settings) {
  if (settings.persistent) return "persistent";
  return wordFor<runtime::Strategy, 6>(settings.strategy,
                                       {"auto", "direct", "rows", "tile", "stream", "columns"});
}

std::string transportOf(const runtime::Transports& transport) {
  std::vector<std::string> words;
  const auto add = [&](runtime::Use use, std::string_view name) {
    if (use != runtime::Use::Auto)
      words.push_back(fmt::format("{}{}", use == runtime::Use::Never ? "-" : "", name));
  };
  add(transport.self, "self");
  add(transport.direct, "direct");
  add(transport.window, "window");
  add(transport.inPlace, "inplace");
  return words.empty() ? "auto" : fmt::format("{}", fmt::join(words, ","));
}

std::optional<std::string> valueOf(const Terms& terms, const std::string& name) {
  const auto it = std::ranges::find(terms, name, [](const auto& term) { return term.first; });
  if (it == terms.end()) return {};
  return it->second;
}

/// "rank 2", "ranks 1, 2".
std::string listOf(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

std::string describe(const std::string& name, std::span<const Terms> all) {
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string value = valueOf(all[rank], name).value_or("unknown");
    auto it = std::ranges::find(groups, value, [](const auto& group) { return group.first; });
    if (it == groups.end()) it = groups.insert(it, {value, {}});
    it->second.push_back(static_cast<int>(rank));
  }
  std::vector<std::string> parts;
  for (const auto& [value, ranks] : groups)
    parts.push_back(fmt::format("\"{}\" on {}", value, listOf(ranks)));
  return fmt::format("{} is not the same on all ranks: {}", name, fmt::join(parts, ", "));
}

constexpr std::string_view kVersion = "The version of HPL";

/// "0.1.0 with Scotch"
std::string versionOfBuild() {
  return std::string(version) + (topology::hasScotch() ? " with Scotch" : "");
}

}  // namespace

Terms termsOf(const runtime::Settings& s) {
  return {{std::string(kVersion), versionOfBuild()},
          {"HPL_CHECK", checksOf(s)},
          {"HPL_FP", wordFor<FpMode, 3>(s.fp, {"default", "strict", "fast"})},
          {"HPL_GROUPS_WAIT", wordFor<runtime::GroupsWait, 2>(s.groupsWait, {"neighbours", "all"})},
          {"HPL_MESSAGES",
           wordFor<runtime::Messages, 4>(s.messages, {"ranks", "nodes", "devices", "fields"})},
          {"HPL_OVERLAP", wordFor<runtime::Overlap, 3>(s.overlap, {"auto", "on", "off"})},
          {"HPL_PATIENCE", s.patience == 0 ? "auto" : std::to_string(s.patience)},
          {"HPL_PLACEMENT", wordFor<runtime::PlaceBlocks, 2>(s.placement, {"auto", "off"})},
          {"HPL_STRATEGY", strategyOf(s)},
          {"HPL_TRANSPORT", transportOf(s.transport)},
          {"HPL_TUNE", wordFor<runtime::TuneMode, 3>(s.tune, {"off", "quick", "full"})}};
}

std::string disagreement(std::span<const Terms> all) {
  for (const auto& [name, value] : all.empty() ? Terms{} : all.front()) {
    const bool same =
        std::ranges::all_of(all, [&](const Terms& terms) { return valueOf(terms, name) == value; });
    if (same) continue;
    const std::string what = describe(name, all);
    if (name == kVersion) return what + ". Start the same program on all nodes";
    return fmt::format(
        "{}. Every rank plans the work of all, so give all of them the same value (mpirun -x {})",
        what, name);
  }
  return {};
}

std::string pack(const Terms& terms) {
  std::string text;
  for (const auto& [name, value] : terms) text += name + '\n' + value + '\n';
  return text;
}

Terms unpackTerms(const std::string& packed) {
  Terms terms;
  std::size_t at = 0;
  const auto line = [&] {
    const std::size_t end = std::min(packed.find('\n', at), packed.size());
    const std::string text = packed.substr(at, end - at);
    at = end + 1;
    return text;
  };
  while (at < packed.size()) {
    const std::string name = line();
    terms.emplace_back(name, line());
  }
  return terms;
}

}  // namespace hpl::ranks

// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/detail/kept_links.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/private_folder.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/version.h"

namespace hpl::topology {
namespace {

using nlohmann::json;

/// Empty if nothing is to be kept.
std::filesystem::path keptFolder() {
  if (runtime::settings().cache == runtime::DiskCache::Off) return {};
  return runtime::BinaryStore::defaultFolder();
}

std::string fileNameOf(const std::string& key) {
  return "links-" + runtime::hexHash(key) + ".json";
}

}  // namespace

std::string subjectOf(const std::vector<DeviceProperties>& devices, const std::string& node) {
  std::string key = fmt::format("{}\n{}\n", version, node);
  for (const DeviceProperties& device : devices)
    key += fmt::format("{}\n{}\n{}\n", device.name, device.driverVersion, device.pciAddress);
  return key;
}

std::string subjectOf(const std::vector<std::string>& nodes) {
  return fmt::format("{}\nbetween nodes\n{}\n", version, fmt::join(nodes, "\n"));
}

std::optional<NodeLinks> keptLinks(const std::string& subject, std::size_t size) {
  const std::filesystem::path folder = keptFolder();
  if (folder.empty()) return std::nullopt;
  std::string reason;
  const runtime::KeptFile file = runtime::PrivateFolder(folder).open(fileNameOf(subject), reason);
  if (!file) return std::nullopt;
  std::string text(file.size(), '\0');
  try {
    if (!file.read(text.data(), text.size())) return std::nullopt;
    const json kept = json::parse(text);
    if (kept.at("key").get<std::string>() != subject) return std::nullopt;
    return NodeLinks{geometry::SquareMatrix(static_cast<int>(size),
                                            kept.at("bandwidths").get<std::vector<double>>()),
                     "measured earlier"};
  } catch (const std::exception& problem) {
    runtime::log::warn(
        fmt::format("bandwidths are measured again: the file of the last time is damaged ({})",
                    problem.what()));
    return std::nullopt;
  }
}

void keepLinks(const std::string& subject, const NodeLinks& links) {
  const std::filesystem::path folder = keptFolder();
  if (folder.empty()) return;
  const int size = links.bandwidths.size();
  std::vector<double> values;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) values.push_back(links.bandwidths(i, j));
  const std::string text = json{{"key", subject}, {"bandwidths", values}}.dump() + "\n";
  std::string problem;
  if (!runtime::PrivateFolder(folder).replace(fileNameOf(subject), {text}, problem))
    runtime::log::info("bandwidths are not kept: " + problem);
}

}  // namespace hpl::topology

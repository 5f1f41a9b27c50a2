// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/tell_all.h"

#include <cstdint>
#include <span>
#include <string>

namespace hpl::ranks {

using geometry::SquareMatrix;
using nlohmann::json;

std::vector<json> tellAll(World& world, const json& own) {
  const std::vector<std::uint8_t> packed = json::to_cbor(own);
  std::vector<json> all;
  for (const auto& blob : world.courier().allgather(std::as_bytes(std::span(packed)))) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(blob.data());
    all.push_back(json::from_cbor(begin, begin + blob.size()));
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const json& said = all[rank];
    if (!said.contains("failure")) continue;
    world.gatherBeforeError();
    const std::string text =
        world.describe(static_cast<int>(rank)) + ": " + said.at("failure").get<std::string>();
    if (said.at("isSetting").get<bool>()) throw SettingsError(text);
    throw DeviceError(text);
  }
  return all;
}

json failureOf(const Error& error) {
  return {{"failure", error.what()},
          {"isSetting", dynamic_cast<const SettingsError*>(&error) != nullptr}};
}

std::vector<double> valuesOf(const SquareMatrix& matrix) {
  std::vector<double> values;
  for (int i = 0; i < matrix.size(); ++i)
    for (int j = 0; j < matrix.size(); ++j) values.push_back(matrix(i, j));
  return values;
}

SquareMatrix matrixOf(const json& values, std::size_t size) {
  return {static_cast<int>(size), values.get<std::vector<double>>()};
}

SquareMatrix sumOfAll(World& world, const SquareMatrix& own) {
  SquareMatrix all(own.size());
  for (const json& said : tellAll(world, {{"values", valuesOf(own)}})) {
    const SquareMatrix some = matrixOf(said.at("values"), static_cast<std::size_t>(own.size()));
    for (int i = 0; i < all.size(); ++i)
      for (int j = 0; j < all.size(); ++j) all(i, j) += some(i, j);
  }
  return all;
}

}  // namespace hpl::ranks

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "hpl/error.h"
#include "hpl/geometry/placement.h"
#include "hpl/ranks/world.h"

namespace hpl::ranks {

/// Allgather of JSON. Throws on all ranks if one of them reports a failure (failureOf()):
/// SettingsError or DeviceError, with the rank and its text.
std::vector<nlohmann::json> tellAll(World& world, const nlohmann::json& own);

/// A rank's message in place of its values, if something failed there.
nlohmann::json failureOf(const Error& error);

/// The values of a matrix, row after row, and the matrix of such values.
std::vector<double> valuesOf(const geometry::SquareMatrix& matrix);
geometry::SquareMatrix matrixOf(const nlohmann::json& values, std::size_t size);

/// The sum of what all ranks have measured; each has zeros where it measured nothing.
geometry::SquareMatrix sumOfAll(World& world, const geometry::SquareMatrix& own);

}  // namespace hpl::ranks

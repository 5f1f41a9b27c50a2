// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/partition_checks.h"

#include <fmt/format.h>

#include <cmath>

#include "hpl/error.h"

namespace hpl::geometry {
namespace {

void checkField(const PartitionProblem& problem, std::size_t number) {
  const HaloOfField& field = problem.fields[number];
  const int rank = problem.domain.rank();
  if (field.before.rank() != rank || field.after.rank() != rank)
    throw ArgumentError(fmt::format(
        "partition: field {} has halos for {} and {} dimensions, but the domain has {}; "
        "give one number per dimension",
        number, field.before.rank(), field.after.rank(), rank));
  for (int d = 0; d < rank; ++d)
    if (field.before[d] < 0 || field.after[d] < 0)
      throw ArgumentError(fmt::format(
          "partition: field {} has a halo of {} and {} cells in dimension {}; halos are 0 or more",
          number, field.before[d], field.after[d], d));
  if (field.bytesPerCell < 1)
    throw ArgumentError(fmt::format("partition: field {} has {} bytes per cell; 1 or more", number,
                                    field.bytesPerCell));
}

}  // namespace

void checkProblem(const PartitionProblem& problem) {
  const int rank = problem.domain.rank();
  if (rank == 0) throw ArgumentError("partition: the domain has no dimensions");
  for (const Index extent : problem.domain)
    if (extent < 1)
      throw ArgumentError(fmt::format("partition: the domain {} has no cells",
                                      Box::ofExtents(problem.domain).toString()));
  if (!problem.periodic.empty() && problem.periodic.size() != static_cast<std::size_t>(rank))
    throw ArgumentError(fmt::format(
        "partition: {} dimensions are said to be periodic or not, but the domain has {}",
        problem.periodic.size(), rank));
  for (std::size_t i = 0; i < problem.fields.size(); ++i) checkField(problem, i);
  if (problem.nodes.empty()) throw ArgumentError("partition: no node; name at least one");
  for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
    if (problem.nodes[n].empty())
      throw ArgumentError(fmt::format("partition: node {} has no devices", n));
    for (const double weight : problem.nodes[n])
      if (!std::isfinite(weight) || weight <= 0)
        throw ArgumentError(fmt::format(
            "partition: node {} has a device of weight {}; weights are positive", n, weight));
  }
}

}  // namespace hpl::geometry

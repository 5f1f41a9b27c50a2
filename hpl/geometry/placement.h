// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

/// Chooses the device of each block: a quadratic assignment problem (node-aware communication,
/// III-B). The flow between blocks is the bytes that they exchange, the distance between devices
/// the time that a byte takes from one to the other.
namespace hpl::geometry {

/// A square matrix of numbers, row after row.
class SquareMatrix {
 public:
  explicit SquareMatrix(int size) : size_(size), values_(cells(size), 0.0) {}
  /// Throws ArgumentError unless there are `size` times `size` values.
  SquareMatrix(int size, std::vector<double> values);

  int size() const noexcept { return size_; }
  double operator()(int row, int column) const noexcept { return values_[place(row, column)]; }
  double& operator()(int row, int column) noexcept { return values_[place(row, column)]; }

 private:
  static std::size_t cells(int size) {
    return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  }
  std::size_t place(int row, int column) const noexcept {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(column);
  }

  int size_;
  std::vector<double> values_;
};

/// A device for each block.
struct Placement {
  std::vector<int> deviceOf;
  /// The sum of flow times distance over all pairs of blocks.
  double cost = 0;
  /// No other placement costs less.
  bool isExact = false;
};

/// The most blocks whose best placement is searched for among all.
inline constexpr int kMostPlacedExactly = 9;

/// The sum over all pairs (i, j) of flow(i, j) * distance(deviceOf[i], deviceOf[j]).
double placementCost(const SquareMatrix& flow, const SquareMatrix& distance,
                     std::span<const int> deviceOf);

/// The cheapest placement of as many blocks as devices: among all up to kMostPlacedExactly (branch
/// and bound with the bound of Gilmore and Lawler), beyond that the best that exchanging pairs
/// leads to, from the identity and from other beginnings that are the same in each run. Among
/// equally cheap placements the identity, if it is one of them. `beginnings` are placements that
/// another method found: exchanges improve them as well, and fewer of the library's own are tried.
/// Infinite distances are devices without a path: a placement that needs none is found where there
/// is one. Throws ArgumentError for matrices of different or no size, for negative values and for
/// values that are no numbers, and for beginnings that are no permutations.
Placement place(const SquareMatrix& flow, const SquareMatrix& distance,
                std::span<const std::vector<int>> beginnings = {});

}  // namespace hpl::geometry

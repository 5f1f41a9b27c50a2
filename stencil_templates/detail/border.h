// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "stencil_templates/detail/recipe.h"

/// How cells around the work-item's own are read in the generated kernel.
namespace hpl::stencils {

/// The parameters of the kernel under capture.
struct KernelSymbols {
  std::vector<Symbol> inputs;
  std::vector<Symbol> outputs;
  /// Per input; null where there are none.
  std::vector<Symbol> firstSlices;
  std::vector<Symbol> lastSlices;
  std::vector<Symbol> scalars;
};

/// The work-item's position and the size of the domain along a dimension.
Expr<std::size_t> positionOf(int dims, int dim);
Expr<std::size_t> sizeOf(int dims, int dim);

/// Reads at own index plus offset: right where all neighbours are inside the domain, or among the
/// ghosts beyond its ends. Without `inputs` there are none.
class InteriorReader final : public CellReader {
 public:
  InteriorReader(int dims, const KernelSymbols& symbols,
                 const std::vector<InputPlan>* inputs = nullptr)
      : dims_(dims), symbols_(symbols), inputs_(inputs) {}
  Node read(int input, const Offset* offsets) override;

 private:
  int dims_;
  const KernelSymbols& symbols_;
  const std::vector<InputPlan>* inputs_;
};

/// Reads with boundaries. Indices along x are chains of where() on comparisons of idx with values
/// that are the same for the whole row, never arithmetic on -idx: rows can then be vectorised.
class BorderReader final : public CellReader {
 public:
  BorderReader(const StencilRecipe& recipe, const KernelSymbols& symbols);
  Node read(int input, const Offset* offsets) override;

 private:
  /// One dimension of one read.
  struct Step {
    Expr<std::size_t> own;
    Expr<std::size_t> size;
    /// How far before or after the own position; set where the offset may lead there.
    std::optional<Expr<std::size_t>> back;
    std::optional<Expr<std::size_t>> ahead;
    Expr<std::size_t> plain;
    BoundaryKind low;
    BoundaryKind high;
    std::int64_t before;
    std::int64_t after;
    /// The ends are joined: cells beyond them are read where they are, `shift` cells further on.
    bool isJoined = false;
    std::int64_t shift = 0;

    Expr<int> insideLow() const { return own >= *back; }
    Expr<int> insideHigh() const;
  };

  Step stepOf(int input, int dim, const Offset& offset) const;
  Expr<std::size_t> mirroredLow(const Step& step, int dim) const;
  Expr<std::size_t> mirroredHigh(const Step& step, int dim) const;
  /// `bySlices`: what lies beyond the dimension's faces is read elsewhere; any index will do.
  Expr<std::size_t> beyondLow(const Step& step, int dim, bool bySlices) const;
  Expr<std::size_t> beyondHigh(const Step& step, int dim, bool bySlices) const;
  /// The position in the domain, and the index in the array.
  Expr<std::size_t> positionIn(const Step& step, int dim, bool bySlices) const;
  Expr<std::size_t> indexOf(const Step& step, int dim, bool bySlices) const;
  Expr<std::size_t> knownIndex(int dim, const Offset& offset, const Step& step);
  /// Whether values beyond the dimension's faces come from slices.
  bool usesSlices(const Step& step, int dim) const {
    return recipe_.slices && dim == 0 && !step.isJoined;
  }
  Node load(int input, const std::vector<Step>& steps, const std::vector<Node>& indices) const;
  Node valueBeyond(int input, int dim, bool high, const std::vector<Step>& steps,
                   const std::vector<Node>& indices, const Offset* offsets) const;

  const StencilRecipe& recipe_;
  const KernelSymbols& symbols_;
  int dims_;
  /// Index variables by dimension, offset, the kinds of the two faces, and the ghosts before the
  /// domain (-1: the ends are not joined).
  using Key = std::tuple<int, std::int64_t, BoundaryKind, BoundaryKind, std::int64_t>;
  static Key keyOf(int dim, std::int64_t offset, const Step& step) {
    return {dim, offset, step.low, step.high, step.isJoined ? step.shift : -1};
  }
  std::map<Key, Node> variables_;
};

}  // namespace hpl::stencils

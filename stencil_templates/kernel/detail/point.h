// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "hpl/ir/kernel.h"
#include "stencil_templates/kernel/detail/offsets.h"
#include "stencil_templates/kernel/detail/request.h"

/// How the point function gets at its neighbours.
namespace hpl::kernel_stencils {

/// Where the elements of a neighbourhood come from.
class Cells {
 public:
  Cells() = default;
  virtual ~Cells() = default;
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  /// The value of the input's element at these offsets from the work-item's own.
  virtual Node read(std::size_t input, const Offsets& offsets) = 0;
};

/// The point function as recorded around arrays that do not exist, to find out which neighbours it
/// reads. Nothing of it is part of the kernel until write() is called.
class RecordedPoint {
 public:
  /// Calls the point function. Throws KernelError when it provably reads beyond the extents, or
  /// writes to its input.
  explicit RecordedPoint(const Request& request);

  /// Whether each neighbour is read at offsets that are known in each dimension. Not so when an
  /// alias is handed on to a function that is called, or bound anew, or when the stride is used for
  /// something else.
  bool isExplicit() const { return isExplicit_; }

  /// Writes the function into the kernel, with `cells` for the neighbours; the results are written
  /// to the work-item's element of each output at `place`.
  void write(Cells& cells, const std::vector<Node>& place);

 private:
  void recordBody();
  void visit(const ir::Block& block);
  void visit(const ir::Expr& expr);
  void check(std::size_t input, const Offsets& offsets, const ir::SourceLocation& where) const;
  /// Position of a stand-in among the inputs, -1: it is none.
  int inputOf(const ir::Variable* variable) const;

  const Request& request_;
  std::vector<Symbol> aliases_;
  std::vector<Symbol> strides_;
  ir::Block* body_ = nullptr;
  std::vector<Node> results_;
  std::unordered_map<const ir::Expr*, Offsets> offsets_;
  std::unordered_map<const ir::Expr*, bool> visited_;
  std::vector<StrideAlgebra> algebra_;
  bool isExplicit_ = true;
};

/// Writes the point function into the kernel as a whole, on a private copy of each neighbourhood.
void writeOnCopies(const Request& request, Cells& cells, const std::vector<Node>& place);

/// The better of the two.
void writePoint(const Request& request, Cells& cells, const std::vector<Node>& place);

/// `results` become the outputs' elements at `place`.
void writeResults(const Request& request, const std::vector<Node>& place,
                  const std::vector<Node>& results);

}  // namespace hpl::kernel_stencils

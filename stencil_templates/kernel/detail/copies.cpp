// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "hpl/array/scalar.h"
#include "hpl/ir/node.h"
#include "hpl/lang/control.h"
#include "stencil_templates/kernel/detail/point.h"

namespace hpl::kernel_stencils {
namespace {

/// Neighbourhoods up to this size are copied without loops: device compilers then keep them in
/// registers. Larger ones would make them slow to compile.
constexpr std::int64_t kUnrolled = 128;

/// The copies of all inputs have the same shape, so that they share the strides.
struct Neighbourhood {
  int rank;
  Reach reach;
  std::int64_t stride[3] = {1, 1, 1};
  std::int64_t size = 1;

  Neighbourhood(int dims, const Reach& r) : rank(dims), reach(r) {
    for (int d = rank - 1; d >= 0; --d) {
      stride[d] = size;
      size *= reach.before[d] + reach.after[d] + 1;
    }
  }
  std::int64_t center() const {
    std::int64_t position = 0;
    for (int d = 0; d < rank; ++d) position += reach.before[d] * stride[d];
    return position;
  }
};

Node element(Symbol array, Node index) { return hpl::detail::accessNode(array, &index, 1); }

/// Copies what the input declares, each element by a statement of its own.
void copyUnrolled(const Neighbourhood& all, const Reach& reach, std::size_t input, Symbol copy,
                  Cells& cells, Offsets& at, int d, std::int64_t position) {
  if (d == all.rank) {
    const Node index = hpl::detail::hostConstant(static_cast<int>(position));
    hpl::detail::assignNode(element(copy, index), cells.read(input, at));
    return;
  }
  for (int k = -reach.before[d]; k <= reach.after[d]; ++k) {
    at.of[d] = {k, nullptr};
    copyUnrolled(all, reach, input, copy, cells, at, d + 1, position + k * all.stride[d]);
  }
}

/// The same in loops of the kernel.
void copyInLoops(const Neighbourhood& all, const Reach& reach, std::size_t input, Symbol copy,
                 Cells& cells, Offsets& at, int d, const Int& position) {
  if (d == all.rank) {
    hpl::detail::assignNode(element(copy, position.node()), cells.read(input, at));
    return;
  }
  for_(Int k = -reach.before[d], k <= reach.after[d], k++) {
    at.of[d] = {0, cast<std::int64_t>(k).node()};
    Int next = position + k * static_cast<int>(all.stride[d]);
    copyInLoops(all, reach, input, copy, cells, at, d + 1, next);
  }
}

Symbol copyOf(const Request& request, const Neighbourhood& all, std::size_t input, Cells& cells) {
  const ir::Type type = request.inputs[input].array->type;
  const Symbol copy = hpl::detail::declareVariable(type, ir::Space::Private, 1, &all.size, nullptr);
  Offsets at;
  if (all.size <= kUnrolled) {
    copyUnrolled(all, request.inputs[input].reach, input, copy, cells, at, 0, all.center());
  } else {
    Int center = static_cast<int>(all.center());
    copyInLoops(all, request.inputs[input].reach, input, copy, cells, at, 0, center);
  }
  const Node center = hpl::detail::hostConstant(static_cast<int>(all.center()));
  return hpl::detail::declareAlias(type, element(copy, center));
}

}  // namespace

void writeOnCopies(const Request& request, Cells& cells, const std::vector<Node>& place) {
  const Neighbourhood all(request.rank, request.reach());
  std::vector<Symbol> aliases, strides;
  for (std::size_t i = 0; i < request.inputCount; ++i)
    aliases.push_back(copyOf(request, all, i, cells));
  for (int d = request.rank - 2; d >= 0; --d)
    strides.push_back(
        hpl::detail::declareVariable(ir::Type{ir::Scalar::Int}, ir::Space::Private, 0, nullptr,
                                     hpl::detail::hostConstant(static_cast<int>(all.stride[d]))));
  std::vector<Node> results(request.outputCount);
  request.point.call(request.point.closure, aliases.data(), strides.data(), results.data());
  writeResults(request, place, results);
}

}  // namespace hpl::kernel_stencils

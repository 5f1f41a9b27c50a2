// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/lang/capture_state.h"
#include "hpl/memory/root.h"
#include "stencil_templates/detail/boxed_arguments.h"
#include "stencil_templates/detail/stencil_state.h"

namespace hpl::stencils {
namespace {

using launch::Argument;

std::string plural(std::size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string describeKind(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::Array:
      return fmt::format("a {}-dimensional array of {}", argument.rank,
                         ir::describe(argument.type));
    case Argument::Kind::LocalArray:
      return "an array in local memory";
    case Argument::Kind::PerDevice:
      return "a std::vector";
    default:
      return fmt::format("a scalar of type {}", ir::describe(argument.type));
  }
}

void checkArray(const std::string& stencil, const PointSignature& signature,
                const StencilArgument* arguments, std::size_t i, const ir::Type* type) {
  const Argument& argument = arguments[i].argument;
  const auto name = [&] { return nameOfArgument(signature, arguments, i); };
  if (argument.annotation().count > 0)
    throw ArgumentError(fmt::format(
        "{}: {} is annotated with PART; stencils are spread over devices with .devices(...), "
        "without annotations",
        stencil, name()));
  const bool fits = argument.kind == Argument::Kind::Array && argument.rank == signature.dims &&
                    (type == nullptr || argument.type == *type);
  if (fits) return;
  throw ArgumentError(fmt::format(
      "{}: {} must be a {}-dimensional array{}, but is {}", stencil, name(), signature.dims,
      type == nullptr ? "" : " of " + ir::describe(*type), describeKind(argument)));
}

/// The value that a point function returns becomes an element of output 1, as C converts.
void checkReturned(const std::string& stencil, const PointSignature& signature,
                   const StencilArgument* arguments) {
  const std::size_t output = signature.inputs.size();
  const ir::Type& from = signature.outputs.front();
  const ir::Type& to = arguments[output].argument.type;
  const bool structs = from.isStruct() || to.isStruct();
  const bool spreads = from.isScalar() && !structs;
  const bool laneByLane = from.lanes == to.lanes && from.complex == to.complex && !structs;
  if (from == to || spreads || laneByLane) return;
  throw ArgumentError(fmt::format(
      "{}: the point function returns a value of type {}, which does not convert to {}, the type "
      "of the elements of {}",
      stencil, ir::describe(from), ir::describe(to), nameOfArgument(signature, arguments, output)));
}

void checkScalar(const std::string& stencil, const PointSignature& signature,
                 const StencilArgument* arguments, std::size_t i, const ir::Type& type) {
  const Argument& argument = arguments[i].argument;
  const bool scalar = argument.kind == Argument::Kind::Scalar;
  const bool converts = argument.type == type || (argument.type.isScalar() && type.isScalar());
  if (scalar && converts) return;
  throw ArgumentError(fmt::format("{}: {} must be a scalar of type {}, but is {}", stencil,
                                  nameOfArgument(signature, arguments, i), ir::describe(type),
                                  describeKind(argument)));
}

void checkShapes(const std::string& stencil, const PointSignature& signature,
                 const StencilArgument* arguments, std::size_t arrays) {
  const geometry::Extents& first = programsView(arguments[0]).extents;
  for (std::size_t i = 1; i < arrays; ++i) {
    const geometry::Extents& own = programsView(arguments[i]).extents;
    if (own == first) continue;
    throw ShapeError(fmt::format(
        "{}: {} has the shape {}, but {} has {}; all inputs and outputs of a stencil have the "
        "same shape",
        stencil, nameOfArgument(signature, arguments, i), own.toString(),
        nameOfArgument(signature, arguments, 0), first.toString()));
  }
}

void checkOverlaps(const std::string& stencil, const PointSignature& signature,
                   const StencilArgument* arguments, bool mayUpdate) {
  const std::size_t inputs = signature.inputs.size();
  const std::size_t arrays = inputs + signature.outputs.size();
  for (std::size_t out = inputs; out < arrays; ++out) {
    for (std::size_t other = 0; other < out; ++other) {
      const memory::View& written = programsView(arguments[out]);
      const memory::View& own = programsView(arguments[other]);
      if (!shareCells(written, own)) continue;
      const bool isSame = &written == &own || (written.map() == nullptr && own.map() == nullptr &&
                                               written.box() == own.box());
      if (mayUpdate && other < inputs && isSame) continue;
      throw ArgumentError(fmt::format(
          "{}: {} and {} are the same cells{}; pass another array, or let iterate(n) exchange two",
          stencil, nameOfArgument(signature, arguments, out),
          nameOfArgument(signature, arguments, other),
          other < inputs ? ", which would be overwritten while neighbours still read them" : ""));
    }
  }
}

void checkPeriodic(const std::string& stencil, const StencilRecipe& recipe, std::size_t input,
                   int dim) {
  const InputPlan& plan = recipe.inputs[input];
  const bool low = plan.kind(recipe.dims(), dim, false) == BoundaryKind::Periodic;
  const bool high = plan.kind(recipe.dims(), dim, true) == BoundaryKind::Periodic;
  if (low == high) return;
  throw ArgumentError(fmt::format(
      "{}: the boundary of input {} is periodic at face {} but not at {}; what leaves a periodic "
      "domain at one face enters at the other, so state Periodic() for both",
      stencil, input + 1, nameOf(faceOf(recipe.dims(), dim, !low)),
      nameOf(faceOf(recipe.dims(), dim, low))));
}

void checkFaceValue(const std::string& stencil, const StencilRecipe& recipe, std::size_t input,
                    int dim, bool high) {
  const InputPlan& plan = recipe.inputs[input];
  const BoundaryKind kind = plan.kind(recipe.dims(), dim, high);
  const char* face = nameOf(faceOf(recipe.dims(), dim, high));
  if (kind == BoundaryKind::MirrorOdd &&
      (!plan.type.isSigned() || plan.type.complex || plan.type.isStruct()))
    throw ArgumentError(fmt::format(
        "{}: the boundary of input {} at face {} changes signs (MirrorOdd), which elements of type "
        "{} do not have",
        stencil, input + 1, face, ir::describe(plan.type)));
  if (kind != BoundaryKind::Fixed && kind != BoundaryKind::Computed) return;
  detail::Capture capture({});
  const std::vector<Node> origin(3, detail::hostConstant(0));
  const Node value = plan.value(recipe.dims(), dim, high)->at(origin.data(), recipe.dims());
  try {
    detail::convertNode(value, plan.type);
  } catch (const KernelError&) {
    throw ArgumentError(fmt::format(
        "{}: the boundary of input {} at face {} is of type {}, which does not convert to {}, the "
        "type of its elements",
        stencil, input + 1, face, ir::describe(value->type), ir::describe(plan.type)));
  }
}

}  // namespace

std::string nameOfArgument(const PointSignature& signature, const StencilArgument* arguments,
                           std::size_t number) {
  const std::size_t inputs = signature.inputs.size();
  const std::size_t arrays = inputs + signature.outputs.size();
  if (number >= arrays) return fmt::format("parameter {}", number - arrays + 1);
  const Argument& argument = arguments[number].argument;
  const std::string label = argument.view != nullptr ? argument.view->root().label() : "";
  const bool input = number < inputs;
  return fmt::format("{} {}{}", input ? "input" : "output",
                     input ? number + 1 : number - inputs + 1,
                     label.empty() ? "" : fmt::format(" ('{}')", label));
}

void checkStencilArguments(const std::string& stencil, const PointSignature& signature,
                           const StencilArgument* arguments, std::size_t count, bool mayUpdate) {
  if (count != signature.count())
    throw ArgumentError(fmt::format(
        "{} takes {}, {} and {}, in this order, but was called with {}", stencil,
        plural(signature.inputs.size(), "input"), plural(signature.outputs.size(), "output"),
        plural(signature.parameters.size(), "parameter"), plural(count, "argument")));
  std::size_t i = 0;
  for (const ir::Type& type : signature.inputs)
    checkArray(stencil, signature, arguments, i++, &type);
  for (const ir::Type& type : signature.outputs) {
    checkArray(stencil, signature, arguments, i, signature.returns ? nullptr : &type);
    if (arguments[i].exchange == nullptr)
      throw ArgumentError(
          fmt::format("{}: {} is const, but the stencil writes to it; pass an array "
                      "that is not const",
                      stencil, nameOfArgument(signature, arguments, i)));
    ++i;
  }
  if (signature.returns) checkReturned(stencil, signature, arguments);
  const std::size_t arrays = i;
  for (const ir::Type& type : signature.parameters)
    checkScalar(stencil, signature, arguments, i++, type);
  checkShapes(stencil, signature, arguments, arrays);
  checkOverlaps(stencil, signature, arguments, mayUpdate);
}

void checkBoundaries(const std::string& stencil, const StencilRecipe& recipe) {
  const int dims = recipe.dims();
  bool anyStated = false;
  for (const InputPlan& input : recipe.inputs)
    for (const auto& face : input.faces) anyStated = anyStated || face.has_value();
  for (std::size_t i = 0; i < recipe.inputs.size(); ++i) {
    const InputPlan& input = recipe.inputs[i];
    for (int d = 0; d < dims; ++d) {
      checkPeriodic(stencil, recipe, i, d);
      for (const bool high : {false, true}) {
        checkFaceValue(stencil, recipe, i, d, high);
        const Face face = faceOf(dims, d, high);
        const std::int64_t reach = input.reach.beyond(d, high);
        if (!anyStated || reach == 0) continue;
        if (input.faces[static_cast<std::size_t>(face)]) continue;
        throw ArgumentError(fmt::format(
            "{}: input {} is read {} cell{} beyond face {}, for which no boundary is stated, "
            "though others are; add .boundary({}, Face::{}, ...), where Untouched() leaves the "
            "output cells alone that would need one",
            stencil, i + 1, reach, reach == 1 ? "" : "s", nameOf(face), i + 1, nameOf(face)));
      }
    }
  }
}

void checkReach(const std::string& stencil, const StencilRecipe& recipe,
                const StencilArgument* arguments) {
  for (std::size_t i = 0; i < recipe.inputs.size(); ++i) {
    const geometry::Extents& extents = arguments[i].argument.view->extents;
    for (int d = 0; d < recipe.dims(); ++d) {
      for (const bool high : {false, true}) {
        const std::int64_t reach = recipe.inputs[i].reach.beyond(d, high);
        if (reach <= extents[d]) continue;
        throw ShapeError(fmt::format(
            "{}: {} is read {} cells beyond face {}, but has only {} in that direction (shape {}); "
            "use larger arrays or a stencil that reaches less far",
            stencil, nameOfArgument(recipe.point->signature(), arguments, i), reach,
            nameOf(faceOf(recipe.dims(), d, high)), extents[d], extents.toString()));
      }
    }
  }
}

}  // namespace hpl::stencils

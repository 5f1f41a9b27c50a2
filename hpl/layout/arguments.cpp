// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/arguments.h"

#include <cmath>
#include <string>

#include "hpl/error.h"
#include "hpl/ir/half.h"
#include "hpl/memory/root.h"

namespace hpl::layout {
namespace {

std::string arrayName(const ir::Type& type, int rank, bool local) {
  return "Array<" + ir::describe(type) + ", " + std::to_string(rank) + (local ? ", Local>" : ">");
}

std::string parameterName(const Parameter& parameter) {
  if (parameter.isScalar()) return "a scalar of type " + ir::describe(parameter.type);
  return arrayName(parameter.type, parameter.rank, parameter.isLocal());
}

std::string argumentName(const Argument& argument) {
  if (argument.kind == Argument::Kind::Scalar)
    return "a scalar of type " + ir::describe(argument.type);
  std::string name =
      arrayName(argument.type, argument.rank, argument.kind == Argument::Kind::LocalArray);
  if (argument.view != nullptr && !argument.view->root().label().empty())
    name += " ('" + argument.view->root().label() + "')";
  return name;
}

bool fits(const Parameter& parameter, const Argument& argument) {
  if (parameter.isScalar()) return argument.kind == Argument::Kind::Scalar;
  const bool local = argument.kind == Argument::Kind::LocalArray;
  return argument.kind != Argument::Kind::Scalar && local == parameter.isLocal() &&
         argument.rank == parameter.rank && argument.type == parameter.type;
}

template <class T>
T load(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// Calls `visit` with the value of a scalar in its C++ type.
template <class Visit>
void visitScalar(ir::Scalar scalar, const void* p, Visit visit) {
  switch (scalar) {
    case ir::Scalar::Bool:
      return visit(load<bool>(p));
    case ir::Scalar::Char:
      return visit(load<signed char>(p));
    case ir::Scalar::Uchar:
      return visit(load<unsigned char>(p));
    case ir::Scalar::Short:
      return visit(load<short>(p));
    case ir::Scalar::Ushort:
      return visit(load<unsigned short>(p));
    case ir::Scalar::Int:
      return visit(load<int>(p));
    case ir::Scalar::Uint:
      return visit(load<unsigned>(p));
    case ir::Scalar::Long:
      return visit(load<std::int64_t>(p));
    case ir::Scalar::Ulong:
      return visit(load<std::uint64_t>(p));
    case ir::Scalar::Half:
      return visit(ir::halfToFloat(load<std::uint16_t>(p)));
    case ir::Scalar::Float:
      return visit(load<float>(p));
    case ir::Scalar::Double:
      return visit(load<double>(p));
    case ir::Scalar::Void:
      return;
  }
}

template <class To, class From>
bool store(From value, std::byte* out) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    // C leaves out-of-range conversions undefined; here they are an error of the caller.
    const double limit = std::ldexp(1.0, static_cast<int>(8 * sizeof(To)) - std::is_signed_v<To>);
    const double low = std::is_signed_v<To> ? -limit : 0.0;
    if (!(std::trunc(static_cast<double>(value)) >= low && static_cast<double>(value) < limit))
      return false;
  }
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): values of `char` are numbers here
  const To converted = static_cast<To>(value);
  std::memcpy(out, &converted, sizeof converted);
  return true;
}

template <class From>
bool storeAs(ir::Scalar to, From value, std::byte* out) {
  switch (to) {
    case ir::Scalar::Bool:
      return store<bool>(value, out);
    case ir::Scalar::Char:
      return store<signed char>(value, out);
    case ir::Scalar::Uchar:
      return store<unsigned char>(value, out);
    case ir::Scalar::Short:
      return store<short>(value, out);
    case ir::Scalar::Ushort:
      return store<unsigned short>(value, out);
    case ir::Scalar::Int:
      return store<int>(value, out);
    case ir::Scalar::Uint:
      return store<unsigned>(value, out);
    case ir::Scalar::Long:
      return store<std::int64_t>(value, out);
    case ir::Scalar::Ulong:
      return store<std::uint64_t>(value, out);
    case ir::Scalar::Half:
      return store<std::uint16_t>(ir::doubleToHalf(static_cast<double>(value)), out);
    case ir::Scalar::Float:
      return store<float>(value, out);
    case ir::Scalar::Double:
      return store<double>(value, out);
    case ir::Scalar::Void:
      return false;
  }
  return false;
}

}  // namespace

void checkCount(const std::string& kernelName, std::size_t parameters, std::size_t count) {
  if (parameters == count) return;
  throw ArgumentError("kernel '" + kernelName + "' takes " + std::to_string(parameters) +
                      (parameters == 1 ? " argument, but " : " arguments, but ") +
                      std::to_string(count) + (count == 1 ? " was given" : " were given"));
}

void checkArguments(const KernelVersion& version, Arguments arguments) {
  checkCount(version.name, version.params.size(), arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (fits(version.params[i], arguments[i])) continue;
    throw ArgumentError("argument " + std::to_string(i + 1) + " of kernel '" + version.name +
                        "' must be " + parameterName(version.params[i]) + ", but it is " +
                        argumentName(arguments[i]));
  }
}

void convertScalar(const Argument& argument, const ir::Type& to, std::byte* out,
                   const std::string& kernelName, std::size_t position) {
  if (argument.type == to) {
    std::memcpy(out, argument.value(), ir::sizeOf(to));
    return;
  }
  bool converted = argument.type.isScalar() && to.isScalar();
  if (converted)
    visitScalar(argument.type.scalar, argument.value(),
                [&](auto value) { converted = storeAs(to.scalar, value, out); });
  if (!converted)
    throw ArgumentError("argument " + std::to_string(position + 1) + " of kernel '" + kernelName +
                        "' must be a scalar of type " + ir::describe(to) +
                        ", and the given value of type " + ir::describe(argument.type) +
                        " cannot be represented in it");
}

std::vector<std::string> labelsOf(Arguments arguments) {
  std::vector<std::string> labels(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].kind == Argument::Kind::Array) labels[i] = arguments[i].view->root().label();
  return labels;
}

const geometry::Extents* firstArray(Arguments arguments) {
  for (const Argument& argument : arguments)
    if (argument.kind == Argument::Kind::Array) return &argument.view->extents;
  return nullptr;
}

}  // namespace hpl::layout

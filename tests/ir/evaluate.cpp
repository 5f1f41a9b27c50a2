// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/evaluate.h"

#include <string>

namespace hpl::ir::test {
namespace {

std::vector<A> declareParameters(IrBuilder& b, const std::vector<TypedValue>& args) {
  std::vector<A> parameters;
  for (const TypedValue& arg : args) {
    parameters.push_back(b.scalar("p" + std::to_string(parameters.size()), arg.type));
  }
  return parameters;
}

std::vector<Argument> withScalars(std::vector<Argument> arrays,
                                  const std::vector<TypedValue>& args) {
  for (const TypedValue& arg : args) arrays.push_back(arg.argument);
  return arrays;
}

}  // namespace

std::vector<std::byte> evaluateBytes(Type result, const std::vector<TypedValue>& args,
                                     const Build& build) {
  IrBuilder b("evaluate");
  auto out = b.array("out", result, 1);
  std::vector<E> values;
  for (const A& parameter : declareParameters(b, args)) values.push_back(*parameter);
  b.stmt(Assign{out(0), build(values)});
  std::vector<std::byte> bytes(sizeOf(result));
  interpret(b.finish(), NDRange{}, withScalars({arrayArgument(bytes.data(), {1})}, args));
  return bytes;
}

std::vector<std::byte> evaluateBytes(BinaryOp op, Type result,
                                     const std::vector<TypedValue>& args) {
  return evaluateBytes(result, args, [&](const std::vector<E>& p) {
    return p[0].b->expr(result, Binary{op, p[0], p[1]});
  });
}

std::vector<std::byte> evaluateBytes(UnaryOp op, Type result, const std::vector<TypedValue>& args) {
  return evaluateBytes(result, args, [&](const std::vector<E>& p) {
    return p[0].b->expr(result, Unary{op, p[0]});
  });
}

std::vector<std::byte> evaluateBytes(Builtin f, Type result, const std::vector<TypedValue>& args) {
  return evaluateBytes(result, args, [&](const std::vector<E>& p) {
    return p[0].b->builtin(f, result, std::vector<const Expr*>(p.begin(), p.end()));
  });
}

std::vector<std::byte> convertBytes(Type result, const TypedValue& value) {
  return evaluateBytes(result, {value},
                       [&](const std::vector<E>& p) { return p[0].b->cast(result, p[0]); });
}

std::pair<std::vector<std::byte>, std::vector<std::byte>> evaluateOutBytes(
    Builtin f, Type result, Type out, const std::vector<TypedValue>& args) {
  IrBuilder b("out");
  auto results = b.array("results", result, 1);
  auto outs = b.array("outs", out, 1);
  std::vector<const Expr*> values;
  for (const A& parameter : declareParameters(b, args)) values.push_back(*parameter);
  auto first = b.var("first", result);
  auto second = b.var("second", out);
  b.stmt(BuiltinCall{first.v, second.v, f, values});
  b.set(results(0), *first);
  b.set(outs(0), *second);
  std::pair bytes{std::vector<std::byte>(sizeOf(result)), std::vector<std::byte>(sizeOf(out))};
  interpret(
      b.finish(), NDRange{},
      withScalars({arrayArgument(bytes.first.data(), {1}), arrayArgument(bytes.second.data(), {1})},
                  args));
  return bytes;
}

}  // namespace hpl::ir::test

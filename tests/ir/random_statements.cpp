// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/random_statements.h"

namespace hpl::ir::test {

void RandomStatements::declare() {
  const Type type = random_.type();
  addVariable(b.var(random_.fresh("v"), type, random_.value(type, options_.depth)));
}

void RandomStatements::assign() {
  if (assignable_.empty()) return declare();
  const A v = random_.pick(assignable_);
  const Type type = v.v->type;
  if (!type.isVector() || random_.chance(60)) {
    b.set(v, random_.value(type, options_.depth));
    return;
  }
  const auto lane = static_cast<std::uint8_t>(random_.below(type.lanes));
  if (random_.chance(60)) {
    b.set((*v).lane({lane}), random_.value(type.element(), options_.depth));
    return;
  }
  const auto other = static_cast<std::uint8_t>((lane + 1) % type.lanes);
  b.set((*v).lane({lane, other}), random_.value(vec(type.element(), 2), options_.depth));
}

void RandomStatements::privateArray() {
  const Type type = random_.type();
  const std::vector<std::int64_t> extents{2 + random_.below(4)};
  const ReadableArray array{b.local(random_.fresh("mine"), type, extents, Space::Private), extents};
  b.count(random_.fresh("i"), kInt, 0, extents[0],
          [&](A i) { b.set(array.array(i), random_.value(type, 1)); });
  random_.arrays.push_back(array);
  privateArrays_.push_back(array);
}

void RandomStatements::body(int statements, int depth) {
  scoped([&] {
    for (int k = 0; k < statements; ++k) statement(depth);
  });
}

void RandomStatements::branch(int depth) {
  const E condition = random_.condition(2);
  const int inside = 1 + random_.below(2);
  if (random_.chance(50)) {
    b.if_(condition, [&] { body(inside, depth); });
  } else {
    b.if_(
        condition, [&] { body(inside, depth); }, [&] { body(1, depth); });
  }
}

void RandomStatements::jump() {
  const E condition = random_.condition(1);
  b.if_(condition, [&] {
    if (random_.chance(50)) {
      b.break_();
    } else {
      b.continue_();
    }
  });
}

void RandomStatements::loop(int depth) {
  const auto inside = [&] {
    scoped([&] {
      statement(depth);
      if (random_.chance(40)) jump();
      statement(depth);
    });
  };
  const int rounds = 1 + random_.below(4);
  // Loop counters are read, never assigned by others: every loop ends.
  const A counter = b.var(random_.fresh("i"), kInt, 0);
  switch (random_.below(3)) {
    case 0:
      b.for_(
          *counter < b.lit(rounds), [&] { b.set(counter, counter + 1); },
          [&] {
            random_.readable.push_back(counter);
            inside();
            random_.readable.pop_back();
          });
      break;
    case 1:
      b.while_(*counter < b.lit(rounds), [&] {
        b.set(counter, counter + 1);
        inside();
      });
      break;
    default:
      b.doWhile(*counter < b.lit(rounds), [&] {
        b.set(counter, counter + 1);
        inside();
      });
  }
}

void RandomStatements::store() {
  if (outputs.empty()) return assign();
  const E cell = random_.pick(outputs);
  b.set(cell, random_.value(cell.type(), options_.depth));
}

void RandomStatements::storeAll() {
  for (const E& cell : outputs) b.set(cell, random_.value(cell.type(), options_.depth));
}

void RandomStatements::readBack() {
  if (outputs.empty()) return assign();
  const E cell = random_.pick(outputs);
  addVariable(b.var(random_.fresh("v"), cell.type(), cell));
}

void RandomStatements::updateCounter() {
  if (counter.array.v == nullptr) return assign();
  const E index = random_.wrapped(random_.expr(kInt, 1), counter.extents[0]);
  std::vector<const Expr*> operands;
  if (counterOp != AtomicOp::Inc && counterOp != AtomicOp::Dec) {
    operands.push_back(random_.expr(counter.array.v->type, 2));
  }
  b.atomic(counterOp, counter.array(index), operands);
}

/// Reads an input through an alias that is bound to some element in the middle.
void RandomStatements::throughAlias() {
  if (inFunction_ || random_.arrays.empty()) return assign();
  const ReadableArray from = random_.pick(random_.arrays);
  const Variable& v = *from.array.v;
  std::int64_t cells = 1;
  std::vector<const Expr*> middle;
  std::int64_t base = 0;
  for (const std::int64_t extent : from.extents) {
    const int at = random_.below(static_cast<int>(extent));
    middle.push_back(b.lit(at));
    base = base * extent + at;
    cells *= extent;
  }
  const A alias = b.alias(random_.fresh("p"), v.type, v.space, true);
  b.bind(alias, b.element(&v, middle));
  const E index =
      b.cast(kInt, random_.wrapped(random_.expr(kInt, 1), cells)) - b.lit(static_cast<int>(base));
  addVariable(b.var(random_.fresh("v"), v.type, alias(index)));
}

/// frexp and modf: exact, and with a second result.
void RandomStatements::takeApart() {
  const Type type = options_.vectors && random_.chance(40) ? vec(kFloat, 4) : kFloat;
  const bool whole = random_.chance(50);
  const Type outType = whole ? type : type.withScalar(Scalar::Int);
  const A part = b.var(random_.fresh("part"), type);
  const A out = b.var(random_.fresh("whole"), outType);
  b.stmt(BuiltinCall{part.v,
                     out.v,
                     whole ? Builtin::modf_ : Builtin::frexp_,
                     {random_.value(type, options_.depth)}});
  // Their zeros may have a sign and their fractions may be small: calculate on.
  addVariable(b.var(random_.fresh("v"), type, *part + b.cast(type, b.real(kFloat, 1.5))));
  if (whole) {
    addVariable(b.var(random_.fresh("v"), outType, *out + b.cast(type, b.real(kFloat, 0.5))));
  } else {
    addVariable(out);
  }
}

void RandomStatements::callFunction() {
  std::vector<FunctionInfo> callable;
  for (const FunctionInfo& f : functions_) {
    if (f.input < 0 || !inFunction_) callable.push_back(f);
  }
  if (callable.empty()) return assign();
  const FunctionInfo f = random_.pick(callable);
  std::vector<const Expr*> args;
  for (const Type& type : f.scalars) args.push_back(random_.value(type, options_.depth));
  if (f.input >= 0) args.push_back(b.whole(entryInputs[static_cast<std::size_t>(f.input)]));
  const Type type = f.function->result;
  const A result = b.var(random_.fresh("r"), type, random_.literal(type));
  b.call(f.function, args, result);
  addVariable(result);
}

void RandomStatements::function(const std::vector<RandomArgument>& inputs) {
  FunctionInfo info{nullptr, {}, -1};
  const Type result = random_.type();
  for (int k = 1 + random_.below(3); k > 0; --k) info.scalars.push_back(random_.type());
  if (random_.chance(50)) info.input = random_.below(static_cast<int>(inputs.size()));
  inFunction_ = true;
  assignable_.clear();
  privateArrays_.clear();
  random_.readable.clear();
  random_.arrays.clear();
  info.function = b.function(random_.fresh("f"), result, [&] {
    for (const Type& type : info.scalars) addVariable(b.scalar(random_.fresh("a"), type));
    if (info.input >= 0) {
      const RandomArgument& input = inputs[static_cast<std::size_t>(info.input)];
      const Space space = input.constant ? Space::Constant : Space::Global;
      const A array =
          b.array(random_.fresh("in"), input.type, static_cast<int>(input.extents.size()),
                  {.space = space, .readOnly = true});
      random_.arrays.push_back({array, input.extents});
    }
    for (int k = random_.below(3); k > 0; --k) statement(1);
    if (random_.chance(50)) {
      const E condition = random_.condition(2);
      b.if_(condition, [&] { b.ret(random_.value(result, options_.depth)); });
    }
    b.ret(random_.value(result, options_.depth));
  });
  functions_.push_back(info);
  inFunction_ = false;
  assignable_.clear();
  privateArrays_.clear();
}

void RandomStatements::statement(int depth) {
  if (depth > 0 && random_.chance(30)) {
    if (random_.chance(50)) {
      branch(depth - 1);
    } else {
      loop(depth - 1);
    }
    return;
  }
  switch (random_.below(12)) {
    case 0:
      return declare();
    case 1:
      return store();
    case 2:
      return readBack();
    case 3:
      return callFunction();
    case 4:
      return updateCounter();
    case 5:
      return throughAlias();
    case 6:
      return takeApart();
    case 7:
      if (!privateArrays_.empty()) {
        const ReadableArray array = random_.pick(privateArrays_);
        const E index = random_.wrapped(random_.expr(kInt, 1), array.extents[0]);
        b.set(array.array(index), random_.value(array.array.v->type, options_.depth));
        return;
      }
      return assign();
    default:
      return assign();
  }
}

}  // namespace hpl::ir::test

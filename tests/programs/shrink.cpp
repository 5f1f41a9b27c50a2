// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "program.h"

namespace programs {

namespace {

bool fails(const Program& program) { return !run(program).empty(); }

Program without(const Program& program, std::size_t first, std::size_t count) {
  Program shorter = program;
  const auto begin = shorter.ops.begin() + static_cast<std::ptrdiff_t>(first);
  shorter.ops.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  return shorter;
}

// Leaves out operations, many at once first.
bool dropOps(Program& program) {
  bool dropped = false;
  for (std::size_t count = std::max<std::size_t>(1, program.ops.size() / 2); count > 0; count /= 2)
    for (std::size_t first = 0; first + count <= program.ops.size();) {
      Program shorter = without(program, first, count);
      if (fails(shorter)) {
        program = std::move(shorter);
        dropped = true;
      } else {
        ++first;
      }
    }
  return dropped;
}

std::string textOf(const Program& program) {
  std::string text = showHead(program);
  for (const Op& op : program.ops) text += show(op, program) + "\n";
  return text;
}

// Plainer arguments and settings.
bool simplify(Program& program) {
  bool simpler = false;
  const auto attempt = [&](auto change) {
    Program plain = program;
    change(plain);
    if (textOf(plain) == textOf(program) || !fails(plain)) return;
    program = std::move(plain);
    simpler = true;
  };
  attempt([](Program& p) { p.userMemory = false; });
  attempt([](Program& p) { p.overlaps = false; });
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    attempt([&](Program& p) { p.ops[i].c = {1, {}, 0}; });
    attempt([&](Program& p) { p.ops[i].d = {1, {}, 0}; });
    attempt([&](Program& p) { p.ops[i].weights.clear(); });
    attempt([&](Program& p) { p.ops[i].inCuts = p.ops[i].cuts; });
    attempt(
        [&](Program& p) { p.ops[i].work = hasInput(p.ops[i].work) ? Work::Copy : Work::Number; });
    attempt([&](Program& p) { p.ops[i].box = p.ops[i].from = p.whole; });
  }
  return simpler;
}

}  // namespace

Program shrink(Program program) {
  bool changed = true;
  while (changed) {
    changed = dropOps(program);
    changed = simplify(program) || changed;
  }
  return program;
}

}  // namespace programs

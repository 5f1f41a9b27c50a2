// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/access.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/ir/ir_builder.h"

namespace access_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

/// A kernel over in[][] (read-only), out[][] and v[] (read-write), scalar n.
struct Fixture {
  IrBuilder b{"k"};
  A in = b.array("in", kFloat, 2, {.readOnly = true});
  A out = b.array("out", kFloat, 2);
  A v = b.array("v", kFloat, 1);
  A n = b.scalar("n", kInt);
  E x = b.idx(), y = b.idy();

  E own() { return out(y, x); }
};

struct Case {
  std::string name;
  std::function<void(Fixture&)> build;
  /// Arrays that the kernel does not touch are left out.
  std::string expected;
};

std::string summarise(const std::function<void(Fixture&)>& build) {
  Fixture f;
  build(f);
  const AccessSummary summary = analyze(f.b.finish());
  std::string text;
  for (const ArrayAccess& access : summary.arrays) {
    if (!access.read && !access.written) continue;
    text += (text.empty() ? "" : "; ") + toString(access);
  }
  return text;
}

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK(summarise(c.build) == c.expected);
  }
}

}  // namespace

TEST_CASE("index forms join to the smallest form that contains both") {
  const IndexForm x = IndexForm::affine(0, -1, 0);
  CHECK((join(x, IndexForm::affine(0, 2, 3)) == IndexForm::affine(0, -1, 3)));
  CHECK(join(x, IndexForm::affine(1, 0, 0)).isUnknown());
  CHECK((join(IndexForm::constant(7, 7), IndexForm::constant(0, 1)) == IndexForm::constant(0, 7)));
  CHECK(join(x, IndexForm::unknown()).isUnknown());
  const IndexForm even = IndexForm::bounded(0, 2, 1, {0, 0});
  CHECK((join(even, IndexForm::bounded(0, 2, 1, {1, 3})) == IndexForm::bounded(0, 2, 1, {0, 3})));
  for (const IndexForm& other :
       {x, IndexForm::bounded(1, 2, 1, {0, 0}), IndexForm::bounded(0, 3, 1, {0, 0}),
        IndexForm::bounded(0, 2, 2, {0, 0}), IndexForm::unknown()})
    CHECK((join(even, other) == IndexForm::unknown()));
  CHECK((join(x, IndexForm::bounded(0, 1, 1, {2, 2})) == IndexForm::bounded(0, 1, 1, {-1, 2})));
}

TEST_CASE("an index form and a number, or another edge, join to a form with edges") {
  const IndexForm x = IndexForm::affine(0, -1, 0);
  const Interval none = Interval::none();
  const IndexForm first = IndexForm::wrapped(0, {-1, 0}, {0, 2}, none);
  CHECK((join(x, IndexForm::constant(0, 2)) == first));
  CHECK((join(IndexForm::constant(0, 2), x) == first));
  CHECK((join(first, IndexForm::constant(5, 5)) == IndexForm::wrapped(0, {-1, 0}, {0, 5}, none)));
  CHECK((join(first, IndexForm::affine(0, 3, 3)) == IndexForm::wrapped(0, {-1, 3}, {0, 2}, none)));
  CHECK((join(first, IndexForm::wrapped(0, {1, 1}, none, {-1, -1})) ==
         IndexForm::wrapped(0, {-1, 1}, {0, 2}, {-1, -1})));
  CHECK((join(first, IndexForm::affine(1, 0, 0)) == IndexForm::unknown()));
  CHECK((join(first, IndexForm::bounded(0, 2, 1, {0, 0})) == IndexForm::unknown()));
  CHECK((join(first, IndexForm::unknown()) == IndexForm::unknown()));
}

TEST_CASE("index forms print as they are read") {
  CHECK(toString(IndexForm::affine(0, 0, 0)) == "[idx]");
  CHECK(toString(IndexForm::affine(1, -2, -2)) == "[idy-2]");
  CHECK(toString(IndexForm::affine(2, 3, 3)) == "[idz+3]");
  CHECK(toString(IndexForm::affine(1, -1, 1)) == "[idy+{-1..1}]");
  CHECK(toString(IndexForm::constant(3, 3)) == "[3]");
  CHECK(toString(IndexForm::constant(0, 7)) == "[{0..7}]");
  CHECK(toString(IndexForm::unknown()) == "[?]");
  CHECK(toString(IndexForm::bounded(0, 2, 1, {1, 1})) == "[in 2*idx+1]");
  CHECK(toString(IndexForm::bounded(1, 1, 2, {0, 1})) == "[in (idy+{0..1})/2]");
  CHECK(toString(IndexForm::bounded(0, 1, 1, {-1, 0})) == "[in idx+{-1..0}]");
  CHECK(toString(IndexForm::wrapped(0, {1, 1}, {0, 0}, Interval::none())) == "[idx+1 or 0]");
  CHECK(toString(IndexForm::wrapped(1, {-2, -1}, Interval::none(), {-2, -1})) ==
        "[idy+{-2..-1} or szy+{-2..-1}]");
  CHECK(toString(IndexForm::wrapped(2, {-1, 1}, {0, 0}, {-1, -1})) ==
        "[idz+{-1..1} or 0 or szz-1]");
}

TEST_CASE("accesses at the thread's own index plus constants are affine") {
  check({
      {"copy", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x)); },
       "in: read [idy][idx]; out: written [idy][idx] covering"},
      {"five points",
       [](Fixture& f) {
         f.b.set(f.own(), f.in(f.y - 1, f.x) + f.in(f.y + 1, f.x) + f.in(f.y, f.x - 1) +
                              f.in(f.y, f.x + 1) + f.in(f.y, f.x));
       },
       "in: read [idy+{-1..1}][idx+{-1..1}]; out: written [idy][idx] covering"},
      {"transposed", [](Fixture& f) { f.b.set(f.out(f.x, f.y), f.in(f.y, f.x)); },
       "in: read [idy][idx]; out: written [idx][idy] covering"},
      {"diagonal does not cover", [](Fixture& f) { f.b.set(f.out(f.x, f.x), 0); },
       "out: written [idx][idx]"},
      {"shifted does not cover", [](Fixture& f) { f.b.set(f.out(f.y, f.x + 1), 0); },
       "out: written [idy][idx+1]"},
      {"a fixed row", [](Fixture& f) { f.b.set(f.out(3, f.x), 0); }, "out: written [3][idx]"},
      {"axes that disagree", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x) + f.in(f.x, f.y)); },
       "in: read [?][?]; out: written [idy][idx] covering"},
      {"scaled index", [](Fixture& f) { f.b.set(f.v(f.x * 2), f.v(f.x / 2)); },
       "v: read [in idx/2], written [in 2*idx]"},
      {"uniform parameter", [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.x + f.n)); },
       "in: read [idy][?]; out: written [idy][idx] covering"},
      {"index from memory", [](Fixture& f) { f.b.set(f.v(f.x), f.v(f.b.cast(kInt, f.v(f.x)))); },
       "v: read [?], written [idx] covering"},
      {"extra writes widen the form but keep the cover",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.v(f.x + 1), 2);
       },
       "v: written [idx+{0..1}] covering"},
      {"the ternary operator unites both branches",
       [](Fixture& f) { f.b.set(f.own(), f.in(f.y, f.b.select(f.x > 3, f.x - 1, f.x + 1))); },
       "in: read [idy][idx+{-1..1}]; out: written [idy][idx] covering"},
      {"local ids are not global ids", [](Fixture& f) { f.b.set(f.v(f.b.lidx()), 0); },
       "v: written [?]"},
  });
}

TEST_CASE("a kernel that goes round its domain reads beside its cell, or at an edge") {
  const auto reading = [](auto index) {
    return [index](Fixture& f) { f.b.set(f.out(f.y, f.x), f.in(f.y, index(f))); };
  };
  const auto read = [](const std::string& form) {
    return "in: read [idy]" + form + "; out: written [idy][idx] covering";
  };
  const auto size = [](Fixture& f) { return f.b.query(Query::GlobalSize, 0); };
  const auto next = reading([&](Fixture& f) { return (f.x + 1) % size(f); });
  check({
      {"the next one by a remainder", next, read("[idx+1 or 0]")},
      {"the one before, beyond the size first",
       reading([&](Fixture& f) { return (f.x + size(f) - 2) % size(f); }),
       read("[idx-2 or szx+{-2..-1}]")},
      {"the one before, which is no number for a while",
       reading([&](Fixture& f) { return (f.x - 1 + size(f)) % size(f); }),
       read("[idx-1 or szx-1]")},
      {"a choice that stays at the first one", reading([&](Fixture& f) {
         const E x = f.b.cast(kInt, f.x) - 1;
         return f.b.select(x >= 0, x, f.b.lit(0));
       }),
       read("[in idx+{-1..0}]")},
      {"a choice that stays at the last one", reading([&](Fixture& f) {
         const E x = f.b.cast(kInt, f.x) + 2, last = f.b.cast(kInt, size(f)) - 1;
         return f.b.select(x <= last, x, last);
       }),
       read("[in idx+{0..2}]")},
      {"a choice of sums with the size", reading([&](Fixture& f) {
         const E x = f.b.cast(kInt, f.x), width = f.b.cast(kInt, size(f));
         return f.b.select(x < 2, x + width - 2, x - 2);
       }),
       read("[idx-2 or szx+{-2..-1}]")},
      {"a choice of differences", reading([&](Fixture& f) {
         const E x = f.b.cast(kInt, f.x), width = f.b.cast(kInt, size(f));
         return f.b.select(x + 3 < width, x + 3, x + 3 - width);
       }),
       read("[idx+3 or {0..2}]")},
      {"a number below 0 that is none in its type", reading([&](Fixture& f) {
         return (f.x + size(f) + f.b.cast(kUlong, f.b.lit(-1))) % size(f);
       }),
       read("[idx-1 or szx-1]")},
      {"the same, added to the size", reading([&](Fixture& f) {
         return (f.x + (size(f) + f.b.cast(kUlong, f.b.lit(-1)))) % size(f);
       }),
       read("[idx-1 or szx-1]")},
      {"a choice", reading([&](Fixture& f) { return f.b.select(f.x == 0, size(f) - 1, f.x - 1); }),
       read("[idx-1 or szx-1]")},
      {"the size of another axis says nothing",
       reading([&](Fixture& f) { return (f.x + 1) % f.b.query(Query::GlobalSize, 1); }),
       read("[?]")},
      {"nor does one with an offset",
       reading([&](Fixture& f) { return (f.x + 1) % (size(f) - 1); }), read("[?]")},
      {"a number below 0 in 32 bits is none in 64", reading([&](Fixture& f) {
         return (f.b.cast(kUlong, f.b.cast(kUint, f.x) - 1) + size(f)) % size(f);
       }),
       read("[?]")},
      {"a number below 0 has no remainder of its own",
       reading([&](Fixture& f) { return (f.x - 1) % size(f); }), read("[?]")},
      {"a branch that sets it right",
       [&](Fixture& f) {
         A i = f.b.var("i", kInt, f.b.cast(kInt, f.x) + 1);
         f.b.if_(i == f.b.cast(kInt, size(f)), [&] { f.b.set(i, 0); });
         f.b.set(f.out(f.y, f.x), f.in(f.y, *i));
       },
       read("[idx+1 or 0]")},
  });
}

TEST_CASE("private variables are looked through where their value is certain") {
  check({
      {"int of idx",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x), j = f.b.var("j", kInt, f.y);
         f.b.set(f.out(j, i), f.in(j - 1, i + 1));
       },
       "in: read [idy-1][idx+1]; out: written [idy][idx] covering"},
      {"reassigned on the way",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.set(f.v(i), 1);
         f.b.set(i, i + 2);
         f.b.set(f.v(i), 1);
       },
       "v: written [idx+{0..2}] covering"},
      {"a value that a branch may change",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.if_(f.n > 0, [&] { f.b.set(i, i + 1); });
         f.b.set(f.v(i), 1);
       },
       "v: written [idx+{0..1}]"},
      {"a value that a branch makes unknown",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.if_(f.n > 0, [&] { f.b.set(i, *f.n); });
         f.b.set(f.v(i), 1);
       },
       "v: written [?]"},
      {"a value that a loop changes",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         f.b.while_(f.v(i) > 0, [&] { f.b.set(i, i + 1); });
         f.b.set(f.v(i), 1);
       },
       "v: read [?], written [?]"},
      {"casts to narrow types lose the value",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.x)), 1); }, "v: written [?]"},
      {"casts of small constants do not",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.b.lit(7))), 1); }, "v: written [7]"},
      {"a constant that a narrow type cannot hold",
       [](Fixture& f) { f.b.set(f.v(f.b.cast(kUchar, f.b.lit(300))), 1); }, "v: written [?]"},
      {"a negative offset in unsigned arithmetic",
       [](Fixture& f) {
         A d = f.b.var("d", kInt, -1);
         f.b.set(f.v(f.x), f.v(f.x + f.b.cast(kUlong, *d)));
       },
       "v: read [idx-1], written [idx] covering"},
      {"the result of an atomic",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, f.x);
         A counter = f.b.array("counter", kInt, 1);
         f.b.atomic(AtomicOp::Inc, counter(0), {}, i);
         f.b.set(f.v(i), 1);
       },
       "v: written [?]; counter: read [0], written [0] atomic"},
  });
}

TEST_CASE("loops with constant bounds become intervals") {
  check({
      {"two nested loops",
       [](Fixture& f) {
         A sum = f.b.var("sum", kFloat, f.b.lit(kFloat, 0));
         f.b.count("dy", kInt, -1, 2, [&](A dy) {
           f.b.count("dx", kInt, -2, 3,
                     [&](A dx) { f.b.set(sum, sum + f.in(f.y + dy, f.x + dx)); });
         });
         f.b.set(f.own(), *sum);
       },
       "in: read [idy+{-1..1}][idx+{-2..2}]; out: written [idy][idx] covering"},
      {"descending with a stride",
       [](Fixture& f) {
         f.b.count(
             "i", kInt, 10, 0, [&](A i) { f.b.set(f.v(i), 0); }, -3);
       },
       "v: written [{1..10}]"},
      {"the stride sharpens the last value",
       [](Fixture& f) {
         f.b.count(
             "i", kInt, 0, 10, [&](A i) { f.b.set(f.v(f.x + i), 0); }, 4);
       },
       "v: written [idx+{0..8}]"},
      {"triangular",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 4, [&](A i) {
           A j = f.b.var("j", kInt, *i);
           f.b.for_(
               j <= i + 2, [&] { f.b.set(j, j + 1); }, [&] { f.b.set(f.v(j), 0); });
         });
       },
       "v: written [{0..5}]"},
      {"bound on the left, !=",
       [](Fixture& f) {
         A i = f.b.var("i", kUint, 2);
         f.b.for_(
             6 != i, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [{2..5}]"},
      {"two conditions",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(
             f.n > 3 && i < 6, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [{0..5}]"},
      {"a parameter as bound",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(
             i < f.n, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [?]"},
      {"the body changes the variable",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 8, [&](A i) {
           f.b.set(f.v(i), 0);
           f.b.set(i, i * 2);
         });
       },
       "v: written [?]"},
      {"the bound changes inside",
       [](Fixture& f) {
         A end = f.b.var("end", kInt, 8), i = f.b.var("i", kInt, 0);
         f.b.for_(
             i < end, [&] { f.b.set(i, i + 1); },
             [&] {
               f.b.set(f.v(i), 0);
               f.b.set(end, end + f.n);
             });
       },
       "v: written [?]"},
      {"unsigned countdown that wraps",
       [](Fixture& f) {
         A i = f.b.var("i", kUint, 3);
         f.b.for_(
             i >= 0, [&] { f.b.set(i, i - 1); }, [&] { f.b.set(f.v(i), 0); });
       },
       "v: written [?]"},
      {"the value after the loop",
       [](Fixture& f) {
         A i = f.b.count("i", kInt, 0, 4, [](A) {});
         f.b.set(f.v(i), 0);
       },
       "v: written [{0..4}]"},
      {"a do loop runs over unknown values",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.doWhile(i < 4, [&] {
           f.b.set(f.v(i), 0);
           f.b.set(i, i + 1);
         });
       },
       "v: written [?]"},
  });
}

TEST_CASE("only unconditional writes of whole elements cover") {
  check({
      {"under an if", [](Fixture& f) { f.b.if_(f.n > 0, [&] { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx]"},
      {"in both branches",
       [](Fixture& f) {
         f.b.if_(
             f.n > 0, [&] { f.b.set(f.own(), 0); }, [&] { f.b.set(f.own(), 1); });
       },
       "out: written [idy][idx] covering"},
      {"after a possible return",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] { f.b.ret(); });
         f.b.set(f.own(), 0);
       },
       "out: written [idy][idx]"},
      {"before a possible return",
       [](Fixture& f) {
         f.b.set(f.own(), 0);
         f.b.if_(f.n > 0, [&] { f.b.ret(); });
         f.b.set(f.v(f.x), 0);
       },
       "out: written [idy][idx] covering; v: written [idx]"},
      {"before a return in one branch, after it in the other",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] {
           f.b.set(f.own(), 0);
           f.b.ret();
         });
         f.b.set(f.own(), 1);
       },
       "out: written [idy][idx] covering"},
      {"in a loop that runs at least once",
       [](Fixture& f) { f.b.count("i", kInt, 0, 2, [&](A) { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx] covering"},
      {"in a loop that may not run",
       [](Fixture& f) {
         A i = f.b.var("i", kInt, 0);
         f.b.for_(
             i < f.n, [&] { f.b.set(i, i + 1); }, [&] { f.b.set(f.own(), 0); });
       },
       "out: written [idy][idx]"},
      {"in a do loop", [](Fixture& f) { f.b.doWhile(f.n > 0, [&] { f.b.set(f.own(), 0); }); },
       "out: written [idy][idx] covering"},
      {"after a possible break",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
           f.b.set(f.own(), 0);
         });
       },
       "out: written [idy][idx]"},
      {"after a possible continue",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.if_(f.n > 0, [&] { f.b.continue_(); });
           f.b.set(f.own(), 0);
         });
       },
       "out: written [idy][idx]"},
      {"before a break",
       [](Fixture& f) {
         f.b.count("i", kInt, 0, 2, [&](A) {
           f.b.set(f.own(), 0);
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
         });
       },
       "out: written [idy][idx] covering"},
      {"an endless loop left by break",
       [](Fixture& f) {
         f.b.while_(E{}, [&] {
           f.b.set(f.own(), 0);
           f.b.if_(f.n > 0, [&] { f.b.break_(); });
         });
       },
       "out: written [idy][idx] covering"},
      {"dead code is not executed",
       [](Fixture& f) {
         f.b.ret();
         f.b.set(f.own(), 0);
       },
       ""},
  });
}

TEST_CASE("reads of what the work-item has just written need no old contents") {
  check({
      {"write, then read",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.v(f.x), f.v(f.x) + 1);
       },
       "v: read [idx], written [idx] covering before reading"},
      {"read, then write", [](Fixture& f) { f.b.set(f.v(f.x), f.v(f.x) + 1); },
       "v: read [idx], written [idx] covering"},
      {"read of a neighbour",
       [](Fixture& f) {
         f.b.set(f.v(f.x), 1);
         f.b.set(f.own(), f.v(f.x + 1));
       },
       "out: written [idy][idx] covering; v: read [idx+1], written [idx] covering"},
      {"read of a fixed element that was written",
       [](Fixture& f) {
         f.b.set(f.v(0), 1);
         f.b.set(f.own(), f.v(0));
       },
       "out: written [idy][idx] covering; v: read [0], written [0] before reading"},
      {"written in one branch only",
       [](Fixture& f) {
         f.b.if_(f.n > 0, [&] { f.b.set(f.v(f.x), 1); });
         f.b.set(f.v(f.x), f.v(f.x) + 1);
       },
       "v: read [idx], written [idx] covering"},
      {"accumulation in a loop after initialisation",
       [](Fixture& f) {
         f.b.set(f.own(), 0);
         f.b.count("i", kInt, 0, 8, [&](A i) { f.b.set(f.own(), f.own() + f.in(f.y, i)); });
       },
       "in: read [idy][{0..7}]; out: read [idy][idx], written [idy][idx] covering before reading"},
  });
}

}  // namespace access_tests

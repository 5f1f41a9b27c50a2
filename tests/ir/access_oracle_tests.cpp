// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "tests/ir/ir_builder.h"
#include "tests/ir/touch_evaluator.h"

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

constexpr std::int64_t kExtent = 24;
/// Ids begin here, so that small negative offsets stay inside the arrays.
constexpr std::int64_t kFirstId = 6;

/// Makes small kernels whose indices are mostly ids, loop variables and constants.
class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {
    helper_ = b_.function("helper", kInt, [&] {
      A a = b_.array("ha", kInt, 2), p = b_.aliasParam("hp", kInt);
      A i = b_.scalar("hi", kInt);
      swapIn({{a}, {i}, {p}, {i}});
      statements(2, 2);
      b_.ret(b_.convert(index(), kInt));
      swapIn({});
    });
    matrix = b_.array("m", kInt, 2);
    vector = b_.array("v", kInt, 1);
    other = b_.array("w", kInt, 2);
    n = b_.scalar("n", kInt);
    swapIn({{matrix, vector, other}, {n}, {}, {n}});
    statements(5, 3);
    kernel = b_.finish();
  }

  A matrix, vector, other, n;
  Kernel kernel;

 private:
  struct Names {
    std::vector<A> arrays, ints, aliases, assignable;
  };

  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  bool chance(int percent) { return pick(100) < percent; }
  template <class T>
  const T& oneOf(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(pick(static_cast<int>(items.size())))];
  }
  void swapIn(Names names) { names_ = std::move(names); }
  std::string fresh(const char* stem) { return stem + std::to_string(counter_++); }

  E id() { return b_.query(Query::GlobalId, pick(3)); }
  E size() { return b_.query(Query::GlobalSize, pick(3)); }
  E index(int depth = 2) {
    const int kind = depth == 0 ? pick(4) : pick(14);
    switch (kind) {
      case 0:
        return id();
      case 1:
        return b_.lit(pick(8) - 1);
      case 2:
        return names_.ints.empty() ? id() : *oneOf(names_.ints);
      case 3:
        return b_.cast(chance(50) ? kInt : kUint, id());
      case 4:
      case 5:
      case 6:
        return index(depth - 1) + (pick(7) - 3);
      case 7:
        return index(depth - 1) - index(0);
      case 8:
        return b_.select(condition(), index(depth - 1), index(depth - 1));
      case 9: {
        static const std::vector<Type> kTypes{kInt, kUint, kLong, kUlong, kUchar};
        return b_.cast(oneOf(kTypes), index(depth - 1));
      }
      case 10: {
        static const std::vector<BinaryOp> kOps{BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem,
                                                BinaryOp::Shr, BinaryOp::Shl};
        return b_.binary(oneOf(kOps), index(depth - 1), b_.lit(1 + pick(3)));
      }
      case 11: {
        E a = index(depth - 1);
        E other = chance(50) ? b_.lit(pick(9) - 1) : size() - pick(3);
        std::vector<const Expr*> args{a, b_.convert(other, a.type())};
        if (chance(30)) std::swap(args[0], args[1]);
        return b_.builtin(chance(50) ? Builtin::min_ : Builtin::max_, a.type(), args);
      }
      case 12:
        return b_.unary(chance(50) ? UnaryOp::Plus : UnaryOp::Negate, index(0));
      default:
        return element() & 7;
    }
  }
  E element() {
    if (!names_.aliases.empty() && chance(30)) return oneOf(names_.aliases)(index(1));
    const A& array = oneOf(names_.arrays);
    if (array.v->rank == 1) return array(subscript());
    return array(subscript(), subscript());
  }
  /// Biased towards the forms that matter, so that many kernels are legal and known.
  E subscript() {
    if (chance(50)) return id() + (pick(3) - 1);
    if (chance(40)) return id();
    if (chance(50)) return bounded();
    return index();
  }
  /// As coarse and fine grids, and hand-written edges, have them.
  E bounded() {
    E own = b_.cast(chance(50) ? kInt : kUlong, id());
    // What wraps in 32 bits is no smaller number in 64.
    if (chance(20)) own = b_.cast(chance(50) ? kLong : kUlong, b_.cast(kUint, id() - pick(4)));
    const Type type = own.type();
    switch (pick(6)) {
      case 0:
        return own * (1 + pick(2)) + (pick(5) - 2);
      case 1:
        return b_.binary(chance(50) ? BinaryOp::Div : BinaryOp::Shr, own + pick(3),
                         b_.convert(b_.lit(1 + pick(2)), type)) +
               (pick(3) - 1);
      case 2:
        return b_.builtin(Builtin::min_, type,
                          {own + pick(3), b_.convert(size() - (1 + pick(2)), type)});
      case 3:
        return b_.builtin(Builtin::max_, type, {own - pick(3), b_.convert(b_.lit(pick(3)), type)});
      case 4:
        return b_.binary(BinaryOp::Rem, own + pick(2), b_.convert(b_.lit(2 + pick(3)), type)) + own;
      default:
        return own / 2 * 2 + pick(2);
    }
  }
  E condition() {
    if (chance(20) && !names_.arrays.empty()) return (element() & 1) == 1;
    static const std::vector<BinaryOp> kOps{BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    return b_.binary(oneOf(kOps), index(0), index(0));
  }

  void statements(int count, int depth) {
    const Names outer = names_;
    for (int i = 0; i < count; ++i) statement(depth);
    names_ = outer;
  }
  void statement(int depth) {
    switch (depth == 0 ? pick(6) : pick(15)) {
      case 0:
      case 1:
      case 2:
        return b_.set(element(), b_.convert(index(), kInt));
      case 3: {
        const E init = index();
        names_.ints.push_back(b_.var(fresh("i"), chance(70) ? kInt : kUlong, init));
        names_.assignable.push_back(names_.ints.back());
        return;
      }
      case 4:
        if (!names_.assignable.empty()) b_.set(oneOf(names_.assignable), index());
        return;
      case 5:
        return alias();
      case 6:
      case 7:
        return branch(depth);
      case 8:
      case 9:
      case 10:
        return loop(depth);
      case 11:
        return doLoop(depth);
      case 12:
        if (loops_ > 0) return jump();
        if (chance(15)) b_.if_(condition(), [&] { leave(); });
        return;
      case 13:
        return call();
      default:
        return whileLoop(depth);
    }
  }
  void alias() {
    if (!names_.aliases.empty() && chance(40)) {
      return b_.bind(oneOf(names_.aliases), element());
    }
    const E target = element();
    A p = b_.alias(fresh("p"), kInt);
    b_.bind(p, target);
    names_.aliases.push_back(p);
  }
  void leave() { inHelper() ? b_.ret(b_.convert(index(1), kInt)) : b_.ret(); }
  bool inHelper() const { return helper_ == nullptr; }
  void jump() {
    b_.if_(condition(), [&] {
      if (chance(15)) return leave();
      chance(50) ? b_.break_() : b_.continue_();
    });
  }
  void branch(int depth) {
    const E c = condition();
    if (chance(50)) {
      b_.if_(c, [&] { statements(2, depth - 1); });
    } else {
      b_.if_(
          c, [&] { statements(2, depth - 1); }, [&] { statements(1, depth - 1); });
    }
  }
  void loop(int depth) {
    static const std::vector<Type> kTypes{kInt, kInt, kUint, kUlong, kLong, kUchar};
    const Type type = oneOf(kTypes);
    const bool up = chance(70);
    const int start = pick(4) + (up ? -1 : 3);
    A i = b_.var(fresh("k"), type,
                 chance(80) || names_.ints.empty() ? b_.lit(start) : *oneOf(names_.ints));
    static const std::vector<BinaryOp> kUp{BinaryOp::Lt, BinaryOp::Le, BinaryOp::Ne};
    static const std::vector<BinaryOp> kDown{BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Ne};
    const E bound = chance(80) || names_.ints.empty() ? b_.lit(up ? pick(7) : pick(4) - 1)
                                                      : *oneOf(names_.ints);
    E test = b_.binary(oneOf(up ? kUp : kDown), *i, bound);
    if (chance(15)) test = condition() && test;
    const int stride = 1 + (chance(30) ? pick(3) : 0);
    ++loops_;
    b_.for_(
        test, [&] { b_.set(i, b_.binary(up ? BinaryOp::Add : BinaryOp::Sub, *i, b_.lit(stride))); },
        [&] {
          const Names outer = names_;
          if (chance(90)) names_.ints.push_back(i);
          // Mostly the loop variable itself stays as it is.
          if (chance(15)) names_.assignable.push_back(i);
          statements(1 + pick(2), depth - 1);
          names_ = outer;
        });
    --loops_;
    names_.ints.push_back(i);
  }
  void whileLoop(int depth) {
    A i = b_.var(fresh("t"), kInt, b_.lit(pick(4)));
    ++loops_;
    b_.while_(i < 4, [&] {
      b_.set(i, i + 1);
      statements(1 + pick(2), depth - 1);
    });
    --loops_;
  }
  void doLoop(int depth) {
    A i = b_.var(fresh("d"), kInt, b_.lit(pick(3)));
    ++loops_;
    b_.doWhile(i < 3, [&] {
      b_.set(i, i + 1);
      names_.ints.push_back(i);
      statements(1, depth - 1);
    });
    --loops_;
    names_.ints.push_back(i);
  }
  void call() {
    if (inHelper()) return;
    std::vector<A> matrices;
    for (const A& a : names_.arrays) {
      if (a.v->rank == 2) matrices.push_back(a);
    }
    const A pointed =
        names_.aliases.empty() || chance(50) ? oneOf(names_.arrays) : oneOf(names_.aliases);
    A result = b_.var(fresh("r"), kInt, 0);
    b_.call(helper_, {b_.whole(oneOf(matrices)), b_.whole(pointed), b_.convert(index(1), kInt)},
            result);
    names_.ints.push_back(result);
  }

  std::mt19937 random_;
  IrBuilder b_{"random"};
  Names names_;
  const Function* helper_ = nullptr;
  int counter_ = 0;
  int loops_ = 0;
};

bool holds(const IndexForm& form, std::int64_t index, const std::vector<std::int64_t>& ids) {
  if (form.isBounded()) {
    const std::int64_t id = ids[static_cast<std::size_t>(form.axis)];
    const auto at = [&](std::int64_t offset) {
      return static_cast<std::int64_t>(std::floor(static_cast<double>(form.times * id + offset) /
                                                  static_cast<double>(form.over)));
    };
    return at(form.range.lo) <= index && index <= at(form.range.hi);
  }
  if (form.isUnknown()) return true;
  const std::int64_t offset =
      form.isAffine() ? index - ids[static_cast<std::size_t>(form.axis)] : index;
  return form.range.lo <= offset && offset <= form.range.hi;
}

/// What was seen over all work-items of one kernel.
struct Report {
  bool legal = true;
  int known = 0;
  int bounded = 0;
  int covering = 0;
  int freshReads = 0;
  std::string failure;
};

void compare(const ArrayAccess& access, const std::vector<Touch>& touches,
             const std::vector<std::int64_t>& ids, Report& report) {
  bool readOld = false;
  bool covered = false;
  for (const Touch& touch : touches) {
    if (touch.array != access.array) continue;
    const std::vector<IndexForm>& forms = touch.write ? access.writes : access.reads;
    if (!(touch.write ? access.written : access.read)) {
      report.failure = "access not noticed";
      return;
    }
    for (std::size_t d = 0; d < touch.index.size(); ++d) {
      if (!holds(forms[d], touch.index[d], ids)) report.failure = "index outside its form";
      report.known += forms[d].isUnknown() ? 0 : 1;
      report.bounded += forms[d].isBounded() ? 1 : 0;
    }
    readOld = readOld || (!touch.write && !touch.own);
    bool mine = access.coversThreads && touch.write;
    for (std::size_t d = 0; mine && d < touch.index.size(); ++d) {
      mine = touch.index[d] == ids[static_cast<std::size_t>(access.coverAxes[d])];
    }
    covered = covered || mine;
  }
  if (access.coversThreads && !covered) report.failure = "covering write missing";
  if (readOld && !access.readsOldContents) report.failure = "old contents read";
  report.covering += access.coversThreads ? 1 : 0;
  report.freshReads += access.read && !access.readsOldContents ? 1 : 0;
}

Report examine(const RandomKernel& random, const AccessSummary& summary, unsigned seed) {
  Report report;
  std::mt19937 values(seed);
  for (int item = 0; item < 8 && report.failure.empty(); ++item) {
    TouchEvaluator evaluator;
    for (const A& array : {random.matrix, random.vector, random.other}) {
      auto& storage = evaluator.arrays[array.v];
      storage.extents.assign(static_cast<std::size_t>(array.v->rank), kExtent);
      std::int64_t size = 1;
      for (const std::int64_t extent : storage.extents) size *= extent;
      for (std::int64_t i = 0; i < size; ++i) {
        storage.cells.push_back(static_cast<std::int64_t>(values() % 16));
      }
    }
    evaluator.scalars[random.n.v] = static_cast<std::int64_t>(values() % 12);
    std::vector<std::int64_t> ids, sizes;
    const std::int64_t first = item % 4 == 0 ? 0 : kFirstId;
    for (int d = 0; d < 3; ++d) {
      ids.push_back(first + static_cast<std::int64_t>(values() % 4));
      sizes.push_back(ids.back() + 1 + static_cast<std::int64_t>(values() % 3));
    }
    try {
      evaluator.run(*random.kernel.entry, ids, sizes);
    } catch (const TouchEvaluator::Illegal&) {
      report.legal = false;
      continue;
    }
    for (const ArrayAccess& access : summary.arrays) {
      compare(access, evaluator.touches, ids, report);
    }
  }
  return report;
}

}  // namespace

TEST_CASE("random kernels touch only what the analysis says") {
  const char* first = std::getenv("HPL_TEST_SEED");
  const char* wanted = std::getenv("HPL_TEST_KERNELS");
  const auto seed0 = static_cast<unsigned>(first == nullptr ? 1 : std::atoi(first));
  const auto count = static_cast<unsigned>(wanted == nullptr ? 1500 : std::atoi(wanted));
  int legal = 0, known = 0, bounded = 0, covering = 0, freshReads = 0;
  for (unsigned seed = seed0; seed < seed0 + count; ++seed) {
    const RandomKernel random(seed);
    INFO("seed " << seed << " (HPL_TEST_SEED=" << seed << " HPL_TEST_KERNELS=1)");
    REQUIRE_NOTHROW(verify(random.kernel));
    const AccessSummary summary = analyze(random.kernel);
    const Report report = examine(random, summary, seed);
    if (!report.failure.empty()) {
      FAIL(report.failure << "\n" << toString(summary) << "\n" << print(random.kernel));
    }
    legal += report.legal ? 1 : 0;
    known += report.known > 0 ? 1 : 0;
    bounded += report.bounded > 0 ? 1 : 0;
    covering += report.covering;
    freshReads += report.freshReads;
  }
  MESSAGE("seeds " << seed0 << ".." << seed0 + count - 1 << ": " << legal << " legal, " << known
                   << " with known indices, " << bounded << " with bounded ones, " << covering
                   << " covered arrays, " << freshReads << " arrays read only after writing");
  // The comparison must not be vacuous.
  if (count >= 1000) {
    CHECK(legal > static_cast<int>(count / 20));
    CHECK(known > static_cast<int>(count / 4));
    CHECK(bounded > static_cast<int>(count / 10));
    CHECK(covering > static_cast<int>(count / 50));
    CHECK(freshReads > 0);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/launch/random_functor.h"

#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace hpl::test {
namespace {

using U = Expr<unsigned>;
using F = Expr<float>;

/// Records the statements of one kernel.
class KernelWriter {
 public:
  KernelWriter(const RandomFunctor& functor, Array<unsigned, 2>& out, Array<float, 2>& state,
               Array<unsigned, 1>& counters, const Array<unsigned, 2>& in,
               const Array<float, 1>& table, const Uint& s, Float& t)
      : functor_(functor),
        out_(out),
        state_(state),
        counters_(counters),
        in_(in),
        table_(table),
        s_(s),
        parameter_(t),
        random_(functor.seed) {
    mirrored_ = chance(25) && functor.sideBySide == 0;
    counterOp_ = below(4);
    declare(U(s.node()));
    declare(F(t.node()));
    declare(cast<unsigned>(idx) + 3u * cast<unsigned>(idy));
  }

  void write() {
    const bool exchanging = functor_.groupRows > 0;
    if (exchanging) {
      tile_.emplace(functor_.groupRows, functor_.groupColumns);
      realTile_.emplace(functor_.groupRows, functor_.groupColumns);
      exchange();
    }
    if (chance(60)) declareBag();
    for (int k = 3 + below(4); k > 0; --k) {
      if (exchanging && chance(40)) {
        uniformly();
      } else {
        statement(2, false);
      }
    }
    // A kernel that ends here for some work-items leaves their cells as they were.
    if (!exchanging && chance(25)) {
      if_(condition(1)) {
        return_();
      }
    }
    if (chance(70)) {
      ownOut() = u(2);
    } else {
      scoped([&] {
        if_(condition(1)) {
          ownOut() = u(2);
        }
      });
    }
    ownState() = real(2);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  // ---- variables ------------------------------------------------------------------------------

  void declare(const U& value) { integers_.push_back(std::make_unique<Uint>(value)); }
  void declare(const F& value) { reals_.push_back(std::make_unique<Float>(value)); }
  Uint& integer() { return *integers_[static_cast<std::size_t>(below(size(integers_)))]; }
  /// The parameter, too, which is the work-item's own.
  Float& floating() {
    const int k = below(size(reals_) + 1);
    return k == 0 ? parameter_ : *reals_[static_cast<std::size_t>(k - 1)];
  }
  template <class V>
  static int size(const std::vector<V>& list) {
    return static_cast<int>(list.size());
  }
  /// Forgets the variables that `body` declares.
  template <class Body>
  void scoped(Body body) {
    const std::size_t integers = integers_.size();
    const std::size_t reals = reals_.size();
    const std::size_t bags = bags_.size();
    const std::size_t realBags = realBags_.size();
    body();
    integers_.resize(integers);
    reals_.resize(reals);
    bags_.resize(bags);
    realBags_.resize(realBags);
  }

  // ---- arrays of a work-item's own ------------------------------------------------------------

  static constexpr int kBag = 4;
  using Bag = Array<unsigned, 1>;
  using RealBag = Array<float, 1>;

  Bag& bag() { return *bags_[static_cast<std::size_t>(below(size(bags_)))]; }
  RealBag& realBag() { return *realBags_[static_cast<std::size_t>(below(size(realBags_)))]; }
  bool hasBags() const { return !bags_.empty() && !realBags_.empty(); }

  void declareBag() {
    auto whole = std::make_unique<Bag>(kBag);
    auto real = std::make_unique<RealBag>(kBag);
    if (chance(50)) {
      Uint i;
      for_(i = 0u, i < static_cast<unsigned>(kBag), i++) {
        (*whole)[i] = chance(50) ? U(+i * 3u) : u(1);
        (*real)[i] = cast<float>(+i) + 0.5f;
      }
    } else {
      for (int i = 0; i < kBag; ++i) {
        (*whole)[i] = u(1);
        (*real)[i] = this->real(1);
      }
    }
    bags_.push_back(std::move(whole));
    realBags_.push_back(std::move(real));
  }

  /// An index of a bag: the same for all work-items, or computed, through other elements and types.
  Expr<int> place(int depth) {
    const int mask = kBag - 1;
    switch (below(depth > 0 ? 9 : 3)) {
      case 0:
      case 1:
      case 2:
        return Expr<int>(detail::hostConstant(below(kBag)));
      case 3:
        return cast<int>(bag()[place(depth - 1)]) & mask;
      case 4:
        return cast<int>(floor(fabs(realBag()[place(depth - 1)]))) & mask;
      case 5:
        return cast<int>(floor(fabs(cast<float>(bag()[place(depth - 1)])) * 0.0001f)) & mask;
      case 6:
        if (functor_.floatDivision == 0) return cast<int>(u(1)) & mask;
        return cast<int>(sqrt(fabs(cast<float>(bag()[place(depth - 1)])))) & mask;
      case 7:
        return cast<int>(cast<unsigned char>(u(1))) & mask;
      default:
        return where(condition(0), place(depth - 1), place(depth - 1));
    }
  }

  void changeBag(int depth) {
    if (!hasBags()) return declareBag();
    switch (below(7)) {
      case 0:
        bag()[place(2)] = u(depth);
        return;
      case 1:
        bag()[place(2)] += u(1);
        return;
      case 2:
        realBag()[place(2)] = real(depth);
        return;
      case 3:
        bag()[place(1)] = bag()[place(2)];
        return;
      case 4: {
        const AliasArray<unsigned> alias(bag()[place(1)]);
        alias[0] = u(1);
        return;
      }
      case 5: {
        const AliasArray<float> alias(realBag()[0]);
        alias[place(1)] = real(1);
        return;
      }
      default:
        scoped([&] {
          if_(condition(1)) {
            bag()[place(2)] = u(depth);
          }
        });
    }
  }

  // ---- places ---------------------------------------------------------------------------------

  // A bijection, so that each cell belongs to one work-item.
  auto row() {
    return mirrored_ ? U(cast<unsigned>(functor_.rows - 1 - idy)) : U(cast<unsigned>(idy));
  }
  auto column() {
    return mirrored_ ? U(cast<unsigned>(functor_.columns - 1 - idx)) : U(cast<unsigned>(idx));
  }
  Ref<unsigned> ownOut() { return mirrored_ ? out_[row()][column()] : out_[idy][idx]; }
  Ref<float> ownState() { return mirrored_ ? state_[row()][column()] : state_[idy][idx]; }
  static U wrapped(const U& index, std::int64_t extent) {
    return index % static_cast<unsigned>(extent);
  }

  // ---- expressions ----------------------------------------------------------------------------

  U literal() {
    const auto bits = static_cast<unsigned>(random_());
    return U(detail::hostConstant(chance(60) ? bits % 32 : bits));
  }

  U load() {
    if (hasBags() && chance(40)) return +bag()[place(2)];
    if (functor_.sideBySide != 0) return chance(50) ? U(+in_[idy][idx]) : U(+ownOut());
    switch (below(4)) {
      case 0:
        // The cell of the work-item and its neighbours, where the domain has them.
        return +in_[min(cast<unsigned>(idy) + static_cast<unsigned>(below(3)),
                        static_cast<unsigned>(functor_.inRows - 1))]
                   [min(cast<unsigned>(idx) + static_cast<unsigned>(below(3)),
                        static_cast<unsigned>(functor_.inColumns - 1))];
      case 1:
        return +ownOut();
      default:
        return +in_[wrapped(u(1), functor_.inRows)][wrapped(u(1), functor_.inColumns)];
    }
  }

  U u(int depth) {
    if (depth <= 0 || chance(10)) return chance(30) ? literal() : +integer();
    switch (below(18)) {
      case 0:
        return u(depth - 1) + u(depth - 1);
      case 1:
        return u(depth - 1) - u(depth - 1);
      case 2:
        return u(depth - 1) * u(depth - 1);
      case 3:
        if (functor_.sideBySide != 0) return u(depth - 1) / 5u;
        return u(depth - 1) / (u(depth - 1) | 1u);
      case 4:
        if (functor_.sideBySide != 0) return u(depth - 1) % 7u;
        return u(depth - 1) % (u(depth - 1) | 1u);
      case 5:
        return u(depth - 1) ^ u(depth - 1);
      case 6:
        return u(depth - 1) & ~u(depth - 1);
      case 7:
        return u(depth - 1) << (u(depth - 1) & 31u);
      case 8:
        return u(depth - 1) >> (u(depth - 1) & 31u);
      case 9:
        return max(u(depth - 1), u(depth - 1));
      case 10:
        return rotate(u(depth - 1), u(depth - 1));
      case 11:
        return mul_hi(u(depth - 1), u(depth - 1));
      case 12:
        return where(condition(depth - 1), u(depth - 1), u(depth - 1));
      case 13:
        return cast<unsigned>(cast<unsigned char>(u(depth - 1)));
      case 14:
        return cast<unsigned>(cast<long>(cast<short>(u(depth - 1))) * 3);
      case 15:
        return cast<unsigned>(fabs(real(depth - 1)) * 16.0f);
      case 16:
        return -u(depth - 1);
      default:
        return load();
    }
  }

  Expr<int> condition(int depth) {
    switch (below(6)) {
      case 0:
        return u(depth) < u(depth);
      case 1:
        return real(depth) < real(depth);
      case 2:
        return (u(depth) & 1u) == 0u && u(depth) > literal();
      case 3:
        return real(depth) > 0.0f || u(depth) != u(depth);
      case 4:
        return !(u(depth) >= u(depth));
      default:
        return u(depth) % 3u == 1u;
    }
  }

  /// Far from overflow and from what devices flush to zero.
  F tame(const F& value) {
    declare(value);
    Float& kept = *reals_.back();
    kept = where(fabs(kept) < 0.001f, 0.5f, clamp(kept, -1000.0f, 1000.0f));
    return +kept;
  }

  F real(int depth) {
    if (depth <= 0 || chance(10)) return +floating();
    switch (below(12)) {
      case 0:
        return tame(real(depth - 1) + real(depth - 1));
      case 1:
        return tame(real(depth - 1) - real(depth - 1));
      case 2:
        return tame(real(depth - 1) * real(depth - 1));
      case 3:
        return tame(fma(real(depth - 1), real(depth - 1), real(depth - 1)));
      case 4:
        return fmin(real(depth - 1), real(depth - 1));
      case 5:
        return where(condition(depth - 1), real(depth - 1), real(depth - 1));
      case 6:
        return tame(cast<float>(u(depth - 1) % 4096u) * 0.0625f);
      case 7:
        return tame(floor(real(depth - 1)));
      case 8:
        if (functor_.floatDivision == 0) return +floating();
        return tame(real(depth - 1) / real(depth - 1));
      case 9:
        if (functor_.floatDivision == 0) return +floating();
        return tame(sqrt(fabs(real(depth - 1))));
      case 10:
        return +ownState();
      default:
        if (hasBags() && chance(50)) return +realBag()[place(2)];
        if (functor_.sideBySide != 0) return +table_[below(static_cast<int>(functor_.tableSize))];
        return +table_[wrapped(u(depth - 1), functor_.tableSize)];
    }
  }

  // ---- statements -----------------------------------------------------------------------------

  void statement(int depth, bool inLoop) {
    if (depth > 0 && chance(40)) return chance(50) ? branch(depth - 1, inLoop) : loop(depth - 1);
    if (chance(25)) return changeBag(2);
    switch (below(10)) {
      case 0:
        declare(u(2));
        return;
      case 1:
        declare(real(2));
        return;
      case 2:
        integer() ^= u(2);
        return;
      case 3:
        integer() += u(2);
        return;
      case 4:
        integer() = u(3);
        return;
      case 5:
        floating() = real(3);
        return;
      case 6:
        ownOut() = u(2);
        return;
      case 7:
        ownOut() += u(1);
        return;
      case 8:
        ownState() = real(2);
        return;
      default:
        count();
        return;
    }
  }

  void block(int depth, bool inLoop) {
    scoped([&] {
      for (int k = 1 + below(2); k > 0; --k) statement(depth, inLoop);
    });
  }

  bool jumps(bool inLoop) { return inLoop && functor_.sideBySide == 0 && chance(25); }

  void branch(int depth, bool inLoop) {
    scoped([&] {
      if_(condition(1)) {
        block(depth, inLoop);
        if (jumps(inLoop)) continue_;
      }
      if (chance(30)) {
        // Its condition may need temporaries, which come before the whole chain.
        elseif_(u(0) < literal()) {
          block(depth, inLoop);
          if (jumps(inLoop)) break_;
        }
      }
      if (chance(50)) {
        else_ { block(depth, inLoop); }
      }
    });
  }

  void loop(int depth) {
    scoped([&] {
      const auto rounds = static_cast<unsigned>(1 + below(4));
      Uint i;
      if (chance(60)) {
        for_(i = 0u, i < rounds, i++) {
          declare(+i);
          block(depth, true);
        }
      } else {
        i = 0u;
        while_(i < rounds) {
          i += 1u;
          block(depth, true);
        }
      }
    });
  }

  void count() {
    if (functor_.sideBySide != 0) {
      integer() += u(1);
      return;
    }
    const U cell = wrapped(u(1), RandomFunctor::kCounters);
    switch (counterOp_) {
      case 0:
        atomic_add(counters_[cell], u(1));
        return;
      case 1:
        atomic_max(counters_[cell], u(1));
        return;
      case 2:
        atomic_xor(counters_[cell], u(1));
        return;
      default:
        atomic_inc(counters_[cell]);
    }
  }

  // ---- work-groups ----------------------------------------------------------------------------

  /// Everybody writes a cell of the group's tile, and then reads another's.
  void exchange() {
    const bool real = chance(40);
    if (real) {
      (*realTile_)[lidy][lidx] = this->real(2);
    } else {
      (*tile_)[lidy][lidx] = u(2);
    }
    barrier(chance(80) ? LOCAL : LOCAL | GLOBAL);
    const auto y = (lidy + static_cast<unsigned>(below(4))) % lszy;
    const auto x = (lidx + static_cast<unsigned>(below(8))) % lszx;
    if (real) {
      declare(+(*realTile_)[y][x]);
    } else {
      declare(+(*tile_)[y][x]);
      if (chance(40)) {
        // Only some of them read, anywhere in the tile.
        if_(condition(1)) {
          integer() +=
              (*tile_)[wrapped(u(1), functor_.groupRows)][wrapped(u(1), functor_.groupColumns)];
        }
      }
    }
    barrier(LOCAL);
  }

  /// Exchanges where all work-items of a group are sure to come.
  void uniformly() {
    switch (below(4)) {
      case 0: {
        Uint round;
        for_(round = 0u, round < static_cast<unsigned>(1 + below(3)), round++) {
          scoped([&] {
            declare(+round);
            statement(1, false);
            exchange();
            integer() ^= u(1);
          });
        }
        return;
      }
      case 1:
        // Parameters and the number of the group are the same for the whole group.
        if_((s_ + cast<unsigned>(gidx)) % 2u == 0u) {
          scoped([&] {
            exchange();
            integer() += u(1);
          });
        }
        else_ {
          scoped([&] {
            exchange();
            statement(1, false);
          });
        }
        return;
      default:
        exchange();
    }
  }

  const RandomFunctor& functor_;
  Array<unsigned, 2>& out_;
  Array<float, 2>& state_;
  Array<unsigned, 1>& counters_;
  const Array<unsigned, 2>& in_;
  const Array<float, 1>& table_;
  const Uint& s_;
  Float& parameter_;
  std::mt19937_64 random_;
  bool mirrored_ = false;
  int counterOp_ = 0;
  std::vector<std::unique_ptr<Uint>> integers_;
  std::vector<std::unique_ptr<Float>> reals_;
  std::vector<std::unique_ptr<Bag>> bags_;
  std::vector<std::unique_ptr<RealBag>> realBags_;
  std::optional<Array<unsigned, 2, Local>> tile_;
  std::optional<Array<float, 2, Local>> realTile_;
};

}  // namespace

void RandomFunctor::operator()(Array<unsigned, 2> out, Array<float, 2> state,
                               Array<unsigned, 1> counters, const Array<unsigned, 2>& in,
                               const Array<float, 1>& table, Uint s, Float t) const {
  KernelWriter(*this, out, state, counters, in, table, s, t).write();
}

}  // namespace hpl::test

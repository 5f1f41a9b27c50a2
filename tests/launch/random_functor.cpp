// SPDX-License-Identifier: Apache-2.0
#include "tests/launch/random_functor.h"

#include <optional>

#include "tests/launch/random_values.h"

namespace hpl::test {
namespace {

/// Records the statements of one kernel.
class KernelWriter : RandomValues {
 public:
  KernelWriter(const RandomFunctor& functor, Array<unsigned, 2>& out, Array<float, 2>& state,
               Array<unsigned, 1>& counters, const Array<unsigned, 2>& in,
               const Array<float, 1>& table, const Uint& s, Float& t)
      : RandomValues(functor, out, state, in, table, t), counters_(counters), s_(s) {
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

  Array<unsigned, 1>& counters_;
  const Uint& s_;
  int counterOp_ = 0;
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

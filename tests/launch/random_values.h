// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "tests/launch/random_functor.h"

namespace hpl::test {

/// Draws the expressions of one kernel, and declares the variables and private arrays that they
/// name.
class RandomValues {
 protected:
  using U = Expr<unsigned>;
  using F = Expr<float>;

  RandomValues(const RandomFunctor& functor, Array<unsigned, 2>& out, Array<float, 2>& state,
               const Array<unsigned, 2>& in, const Array<float, 1>& table, Float& parameter)
      : functor_(functor),
        out_(out),
        state_(state),
        in_(in),
        table_(table),
        parameter_(parameter),
        random_(functor.seed) {
    mirrored_ = chance(25) && functor.sideBySide == 0;
  }

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

  const RandomFunctor& functor_;
  Array<unsigned, 2>& out_;
  Array<float, 2>& state_;
  const Array<unsigned, 2>& in_;
  const Array<float, 1>& table_;
  Float& parameter_;

 private:
  std::mt19937_64 random_;
  bool mirrored_ = false;
  std::vector<std::unique_ptr<Uint>> integers_;
  std::vector<std::unique_ptr<Float>> reals_;
  std::vector<std::unique_ptr<Bag>> bags_;
  std::vector<std::unique_ptr<RealBag>> realBags_;
};

}  // namespace hpl::test

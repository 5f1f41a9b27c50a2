// SPDX-License-Identifier: Apache-2.0
// Random programs of C++'s containers, algorithms and functions: with scalars of a kernel they
// compute what they compute with numbers of the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "tests/seeds.h"

namespace random_containers_tests {

using namespace hpl;

namespace {

constexpr std::size_t kMost = 12;

/// A program over values of type V, Int or int; the same one for the same seed.
template <class V>
class Program {
 public:
  Program(unsigned seed, std::vector<V> values) : random_(seed), list_(std::move(values)) {}

  std::vector<V> run(int steps) {
    for (int s = 0; s < steps; ++s) step();
    return list_;
  }

 private:
  struct Pair {
    V first, second;
  };

  std::size_t below(std::size_t n) { return random_() % n; }
  std::size_t place() { return below(list_.size()); }
  auto at(std::size_t i) { return list_.begin() + static_cast<std::ptrdiff_t>(i); }
  int number() { return static_cast<int>(below(9)) - 4; }

  static V tripled(V x) {
    x *= 3;
    return x;
  }
  static V sum(const V& a, V b) {
    b += a;
    return b;
  }
  static void raise(V& x, int by) { x += by; }
  static Pair exchanged(Pair p) {
    std::swap(p.first, p.second);
    p.first -= 1;
    return p;
  }
  V chosen(bool second, V a, V b) {
    if (second) return b;
    return a;
  }

  void step() {
    // In an order that C++ leaves to compilers where they are arguments.
    const std::size_t i = place(), j = place(), k = place();
    const int n = number();
    switch (below(14)) {
      case 0:
        return std::swap(list_[i], list_[j]);
      case 1: {
        using std::swap;
        return swap(list_.front(), list_.back());
      }
      case 2:
        std::rotate(list_.begin(), at(i), list_.end());
        return;
      case 3:
        return std::reverse(list_.begin(), at(i));
      case 4:
        if (list_.size() < kMost) list_.insert(at(i), list_[j]);
        return;
      case 5:
        if (list_.size() < kMost) list_.push_back(tripled(list_[i]));
        return;
      case 6:
        if (list_.size() > 2) list_.erase(at(i));
        return;
      case 7:
        return copyAndKeep(n);
      case 8:
        return pairUp(i, j, k);
      case 9:
        return raise(list_[i], n);
      case 10: {
        V taken = std::move(list_[i]);
        taken += n;
        list_[i] = sum(taken, list_[j]);
        return;
      }
      case 11: {
        const bool second = below(2) == 0;
        list_[k] = chosen(second, list_[i], list_[j]);
        return;
      }
      case 12: {
        auto later = [own = list_[i], n]() mutable {
          own += n;
          return own;
        };
        auto again = later;
        list_[j] = later();
        list_[k] = again();
        return;
      }
      default:
        return shuffle(list_[i]);
    }
  }

  void copyAndKeep(int n) {
    std::vector<V> copy = list_;
    for (V& x : copy) x += n;
    for (V x : list_) raise(x, n);
    switch (below(3)) {
      case 0:
        list_ = std::move(copy);
        break;
      case 1:
        list_ = copy;
        break;
      default:
        break;
    }
  }

  void pairUp(std::size_t i, std::size_t j, std::size_t k) {
    const Pair p{list_[i], list_[j]};
    const Pair q = exchanged(p);
    list_[k] = q.first * 2 + p.first;
    std::array<Pair, 2> pairs{p, q};
    std::swap(pairs[0], pairs[1]);
    list_[i] = pairs[0].second - pairs[1].first;
  }

  void shuffle(const V& filling) {
    std::vector<V> sorted(list_.size(), filling);
    std::vector<std::size_t> order(list_.size());
    for (std::size_t p = 0; p < order.size(); ++p) order[p] = p;
    std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t p = 0; p < order.size(); ++p) sorted[order[p]] = list_[p];
    list_.swap(sorted);
  }

  std::mt19937 random_;
  std::vector<V> list_;
};

}  // namespace

TEST_CASE("random programs of containers compute with scalars of kernels as with numbers") {
  for (const unsigned seed : Seeds(1, 150)) {
    CAPTURE(seed);
    const int steps = 3 + static_cast<int>(seed % 20);
    const std::vector<int> start{5, -2, 7, 11, 0};
    const std::vector<int> expected = Program<int>(seed, start).run(steps);
    Array<int, 1> in(start.size()), out(expected.size());
    in.copyFrom(start.data());
    eval([&](Array<int, 1> o, const Array<int, 1>& a) {
      std::vector<Int> values;
      for (int i = 0; i < 5; ++i) values.push_back(a[i]);
      const std::vector<Int> results = Program<Int>(seed, values).run(steps);
      for (std::size_t i = 0; i < results.size(); ++i) o[i] = results[i];
    })
        .global(1)
        .interpret(out, in);
    const int* found = out.data(HPL_RD);
    CHECK(std::vector<int>(found, found + expected.size()) == expected);
  }
}

}  // namespace random_containers_tests

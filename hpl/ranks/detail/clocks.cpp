// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/clocks.h"

#include <limits>
#include <span>

#include "hpl/ranks/detail/blocking.h"
#include "hpl/ranks/world.h"
#include "hpl/trace/timeline.h"

namespace hpl::ranks {
namespace {

constexpr int kQuestions = 10;

Moment askRoot(Courier& courier) {
  Moment best;
  double quickest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kQuestions; ++i) {
    double root = trace::clockSeconds();
    const double asked = root;
    sendAndWait(courier, 0, std::as_bytes(std::span(&root, 1)));
    receiveAndWait(courier, 0, std::as_writable_bytes(std::span(&root, 1)));
    const double took = trace::clockSeconds() - asked;
    if (took >= quickest) continue;
    quickest = took;
    best = {asked + took / 2, root};
  }
  return best;
}

void answer(Courier& courier, int rank) {
  for (int i = 0; i < kQuestions; ++i) {
    double now = 0;
    receiveAndWait(courier, rank, std::as_writable_bytes(std::span(&now, 1)));
    now = trace::clockSeconds();
    sendAndWait(courier, rank, std::as_bytes(std::span(&now, 1)));
  }
}

}  // namespace

Moment compareClocks(World& world) {
  const auto isNear = [&](int rank) { return world.nodeOf(rank) == world.nodeOf(0); };
  if (world.rank() == 0) {
    for (int rank = 1; rank < world.size(); ++rank)
      if (!isNear(rank)) answer(world.courier(), rank);
  } else if (!isNear(world.rank())) {
    return askRoot(world.courier());
  }
  const double now = trace::clockSeconds();
  return {now, now};
}

ClockLine lineThrough(const Moment& first, const Moment& last) {
  const double spent = last.own - first.own;
  const double rate = spent > 1 ? (last.root - first.root) / spent : 1;
  return {last.root - rate * last.own, rate};
}

}  // namespace hpl::ranks

// SPDX-License-Identifier: Apache-2.0
// Messages that leave from the memory of devices and arrive there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/faults/opencl_faults.h"
#include "tests/messages.h"
#include "tests/ranks/counting_fabric.h"
#include "tests/ranks/delaying_fabric.h"

namespace in_place_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

using Cube = Array<int, 3>;

void setTransport(runtime::Use window, runtime::Use inPlace) {
  runtime::Settings settings = runtime::settings();
  settings.transport.window = window;
  settings.transport.inPlace = inPlace;
  runtime::overrideSettings(settings);
}

/// Ranks that share no memory, whose messages are counted, and late where that is asked for.
hpl_tests::WrapFabric apart(runtime::Use inPlace, unsigned lateWithSeed = 0) {
  return [=](std::unique_ptr<ranks::Fabric> inner) -> std::unique_ptr<ranks::Fabric> {
    setTransport(runtime::Use::Never, inPlace);
    if (lateWithSeed != 0)
      inner = std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), lateWithSeed,
                                                          std::chrono::microseconds(3000));
    return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
  };
}

void alongRows(Cube out, const Cube& in) {
  if_(idy > 0 && idy + 1 < szy) {
    out[idz][idy][idx] = 3 * in[idz][idy - 1][idx] + in[idz][idy][idx] - in[idz][idy + 1][idx];
  }
}

void bumpRows(Cube a) {
  if_(idy > 0 && idy + 1 < szy) {
    a[idz][idy][idx] = a[idz][idy][idx] + 7;
  }
}

void bump(Grid a) {
  if_(idy > 0 && idy + 1 < szy) {
    a[idy][idx] = a[idy][idx] + 5;
  }
}

void slow(Numbers a) {
  Int sum = a[idx];
  for_(Int i = 0, i < 3000000, i++) {
    sum = sum * 3 + i;
  }
  a[idx] = sum;
}

/// Cells that were just sent are overwritten as soon as those of the neighbours have been read, and
/// ghosts arrive where others have just been read. Messages have cells in one row and in several.
std::string overwriting() {
  Cube a(5, 24, 20), b(5, 24, 20), c(5, 24, 20);
  Grid d(40, 33), e(40, 33);
  setCells(a, 1);
  setCells(b, 2);
  setCells(c, 3);
  setCells(d, 4);
  setCells(e, 5);
  Numbers own(1, HPL_RANK_LOCAL);
  for (int step = 0; step < 40; ++step) {
    eval(alongRows).devices(getDeviceNumber())(PART2(b, 1, AUTO_SYNC), PART2(a, 1, AUTO_SYNC));
    // One rank after another falls behind the others, whose messages come early.
    if (step % 3 == ranks::world()->rank()) eval(slow)(own);
    eval(alongRows).devices(getDeviceNumber())(PART2(c, 1, AUTO_SYNC), PART2(b, 1, AUTO_SYNC));
    eval(bumpRows).devices(getDeviceNumber())(PART2(b, 1, AUTO_SYNC));
    eval(alongRows).devices(getDeviceNumber())(PART2(a, 1, AUTO_SYNC), PART2(b, 1, AUTO_SYNC));
    eval(fivePoint).devices(getDeviceNumber())(PART1(e, 2, AUTO_SYNC), PART1(d, 2, AUTO_SYNC));
    eval(bump).devices(getDeviceNumber())(PART1(d, 2, AUTO_SYNC));
    swap(a, c);
    swap(d, e);
  }
  return cellsOf(a) + cellsOf(b) + cellsOf(c) + cellsOf(d) + cellsOf(e);
}

}  // namespace

TEST_CASE("messages leave from the memory of devices and arrive in that of others") {
  for (const std::size_t columns : {33U, 600U}) {
    const auto steps = [columns] {
      Grid a(40, columns), b(40, columns);
      setCells(a, 1);
      setCells(b, 2);
      for (int step = 0; step < 20; ++step) {
        eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
        swap(a, b);
      }
      memory::detail::waitForLetters();
      return fmt::format("{}, {}", hpl_tests::sent().scattered > 10 ? "in place" : "copied",
                         cellsOf(a) + cellsOf(b));
    };
    const std::string alone = saidOn(1, 1, steps);
    const std::string cells = alone.substr(alone.find(','));
    // So few bytes are copied, unless HPL_TRANSPORT asks otherwise.
    const std::string byItself = columns == 33 ? "copied" : "in place";
    for (const auto& [ranks, each] : {std::pair(2, 1), std::pair(2, 2), std::pair(3, 1)}) {
      INFO(columns << " columns on " << ranks << " ranks with " << each << " devices");
      CHECK(saidOn(ranks, each, steps, apart(runtime::Use::Auto)) == byItself + cells);
      CHECK(saidOn(ranks, each, steps, apart(runtime::Use::Required)) == "in place" + cells);
      CHECK(saidOn(ranks, each, steps, apart(runtime::Use::Never)) == "copied" + cells);
    }
  }
}

TEST_CASE("what has not left yet is not overwritten, and nothing arrives where it is still read") {
  const std::string expected = saidOn(1, 1, overwriting);
  // 0: messages are not late, so that they might leave before the cells are there.
  for (const unsigned seed : {0U, 1U, 2U}) {
    CAPTURE(seed);
    CHECK(saidOn(2, 1, overwriting, apart(runtime::Use::Required, seed)) == expected);
    CHECK(saidOn(2, 2, overwriting, apart(runtime::Use::Required, seed)) == expected);
    CHECK(saidOn(3, 1, overwriting, apart(runtime::Use::Required, seed)) == expected);
  }
}

TEST_CASE("where a trial shows that devices cannot, cells pass through memory of the messages") {
  const auto steps = [] {
    // The device of one rank does not come to see what has arrived.
    if (ranks::world()->rank() == 1)
      hpl_faults_arm("clEnqueueCopyBuffer", 1, CL_OUT_OF_RESOURCES, 1);
    const std::string cells = overwriting();
    memory::detail::waitForLetters();
    const bool failed = hpl_faults_disarm() == (ranks::world()->rank() == 1 ? 1 : 0);
    return fmt::format("{}, {} in place, {}", failed ? "tried" : "not tried",
                       hpl_tests::sent().scattered > 1 ? "some" : "none", cells);
  };
  CHECK(saidOn(2, 1, steps, apart(runtime::Use::Auto)) ==
        "tried, none in place, " + saidOn(1, 1, overwriting));
}

TEST_CASE("messages in place that are asked for and cannot be had are an error on all ranks") {
  const auto asking = [](bool onOneOnly) {
    return [=] {
      const int rank = ranks::world()->rank();
      if (onOneOnly) {
        if (rank == 1) hpl_faults_arm("clEnqueueCopyBuffer", 1, CL_OUT_OF_RESOURCES, 1);
      } else {
        runtime::Settings settings = runtime::settings();
        settings.zeroCopy = runtime::ZeroCopy::Off;
        runtime::overrideSettings(settings);
      }
      listDevices({2, 1, rank});
      Numbers a(100);
      setCells(a, 1);
      eval(increment)(a);
      return cellsOf(a);
    };
  };
  const auto messagesOf = [&](bool onOneOnly) {
    std::string all;
    for (const auto& report :
         hpl_tests::inWorlds(2, asking(onOneOnly), apart(runtime::Use::Required))) {
      CHECK(report.said.empty());
      CHECK(contains(report.thrown,
                     "HPL_TRANSPORT=inplace asks for messages that leave from and "
                     "arrive in the memory of devices, and "));
      all += report.thrown + "\n";
    }
    return all;
  };
  const std::string none = messagesOf(false), wrong = messagesOf(true);
  INFO(none << wrong);
  CHECK(contains(none, "some rank has no device that works in the host's memory; "));
  CHECK(contains(wrong, "cells of a trial came out wrong; "));
  CHECK(contains(wrong, "HPL_TRANSPORT=auto lets cells pass"));
}

}  // namespace in_place_tests

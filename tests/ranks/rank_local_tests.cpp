// SPDX-License-Identifier: Apache-2.0
// Arrays of one rank: other ranks know nothing of them, and keep pace.
#include <doctest/doctest.h>

#include <numeric>
#include <thread>

#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/operation_log.h"
#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"
#include "tests/ranks/counting_fabric.h"

namespace rank_local_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

std::unique_ptr<ranks::Fabric> counting(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

int rankOf() { return ranks::world()->rank(); }
void addTo(Numbers a, Numbers b) { a[idx] += b[idx]; }
void twice(Array<float, 1> a) { a[idx] *= 2.0f; }

/// The exception that `call` throws.
template <class Exception, class Call>
std::string messageOf(Call&& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("ranks do different things with arrays of their own between operations of all") {
  expectAsOnOne([] {
    Grid a(41, 23), b(41, 23);
    setCells(a, 1);
    setCells(b, 2);
    std::string wrong;
    for (int step = 0; step < 4; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      for (int more = 0; more < rankOf() + step; ++more) {
        Numbers own(100 + rankOf(), HPL_RANK_LOCAL), other(100 + rankOf(), HPL_RANK_LOCAL);
        own = more;
        std::vector<int> values(other.size());
        std::iota(values.begin(), values.end(), rankOf());
        other.copyFrom(values.data());
        eval(addTo)(own, other);
        eval(increment).devices()(PART1(own));
        const long expected =
            std::accumulate(values.begin(), values.end(), 0L) + (more + 1) * long(values.size());
        if (sum(own) != expected || max(own) != values.back() + more + 1) wrong += "sum ";
        inclusiveScan(other, own);
        if (other(other.size() - 1) != expected) wrong += "scan ";
        if (own(3) != values[3] + more + 1) wrong += "cell ";
      }
      swap(a, b);
    }
    Numbers later(10);
    later = 5;
    return wrong + cellsOf(a) + cellsOf(b) + cellsOf(later);
  });
}

TEST_CASE("work on arrays of one rank is no operation, and sends nothing") {
  const std::string said = saidOn(
      3, 2,
      [] {
        const auto log = ranks::operationLog().current();
        const auto before = hpl_tests::sent().messages.load();
        Grid a(40, 16, HPL_RANK_LOCAL), b(40, 16, HPL_RANK_LOCAL | HPL_NOHOST_MEM);
        setCells(a, 1);
        b = a;
        for (int step = 0; step < 5 + rankOf(); ++step) {
          eval(fivePoint).devices()(PART1(b, 1), PART1(a, 1));
          syncGhosts(b);
          swap(a, b);
        }
        forEachLocal(a, [](const LocalPart<int, 2>& part) {
          if (!part.device().isLocal()) throw Error("the part of another rank");
          part.data()[0] = 1;
        });
        memory::detail::waitForLetters();
        const bool isQuiet = hpl_tests::sent().messages == before &&
                             ranks::operationLog().current().number == log.number;
        return std::string(isQuiet ? "quiet" : "messages or operations");
      },
      counting);
  CHECK(said == "quiet");
}

TEST_CASE("annotated launches on arrays of one rank are cut over its own devices") {
  const auto program = [] {
    Grid a(40, 16, HPL_RANK_LOCAL), b(40, 16, HPL_RANK_LOCAL);
    setCells(a, 3);
    setCells(b, 4);
    for (int step = 0; step < 6; ++step) {
      eval(fivePoint).devices()(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
    eval(fivePoint).devices()(b, a);
    return cellsOf(a) + cellsOf(b);
  };
  const std::string expected = saidOn(1, 1, program);
  CHECK(saidOn(2, 2, program) == expected);
  CHECK(saidOn(3, 1, program) == expected);
}

TEST_CASE("an assignment from an array of all ranks gives each rank the cells") {
  expectAsOnOne([] {
    Grid a(30, 20), b(30, 20);
    setCells(a, 9);
    setCells(b, 8);
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    swap(a, b);
    Grid own(30, 20, HPL_RANK_LOCAL);
    own = a;
    Grid& corner = own(Range(20, 29), Range(0, 4));
    corner = a(Range(0, 9), Range(10, 14));
    if (rankOf() == 0) own(0, 0) = own(0, 0) + 1;
    Grid left(30, 20, HPL_RANK_LOCAL);
    left = own;
    if (rankOf() == 0) left(0, 0) = left(0, 0) - 1;
    return cellsOf(left) + cellsOf(a);
  });
}

TEST_CASE("an iteration until nothing changes may be one rank's alone") {
  const auto program = [] {
    Array<float, 1> all(64);
    all = 1.0f;
    std::string said;
    if (rankOf() == 0) {
      Array<float, 2> now(16, 12, HPL_RANK_LOCAL), next(16, 12, HPL_RANK_LOCAL);
      now = 0.0f;
      next = 0.0f;
      now(7, 5) = 64.0f;
      Stencil smooth([](Neighbourhood<float, 2> a) {
        return 0.25f * (a(-1, 0) + a(0, -1) + a(1, 0) + a(0, 1));
      });
      const StencilRun run = smooth.until(1e-3, 20).iterate(10000)(now, next);
      if (!run.converged) said += "it does not converge ";
    }
    eval(twice).devices()(all);
    return said + std::to_string(all(5).value());
  };
  CHECK(saidOn(2, 1, program) == saidOn(1, 1, program));
}

TEST_CASE("arrays of one rank and of all ranks do not meet in one launch") {
  const std::string said = saidOn(2, 1, [] {
    Numbers own(50, HPL_RANK_LOCAL), all(50);
    own.label("picture");
    all.label("field");
    own = 1;
    all = 2;
    std::string said = messageOf<LaunchError>([&] { eval(addTo)(own, all); }) + "\n";
    said += messageOf<LaunchError>([&] { all = own; }) + "\n";
    said += messageOf<LaunchError>([&] { syncGhosts(own, all); }) + "\n";
    const Device others = devices()[static_cast<std::size_t>(1 - rankOf())];
    const std::string far =
        messageOf<DeviceError>([&] { eval(increment).device(others)(own); }) +
        messageOf<DeviceError>([&] { eval(increment).devices({others})(PART1(own)); });
    said += contains(far, "but the arrays are of this rank alone (HPL_RANK_LOCAL); name one of") &&
                    contains(far, "names devices of other ranks only; leave them out")
                ? "refused\n"
                : far;
    // Nothing has happened, and all goes on.
    eval(increment).devices()(all);
    return said + cellsOf(all);
  });
  CHECK(contains(said,
                 "array \"picture\" is of this rank alone (HPL_RANK_LOCAL), and "
                 "array \"field\" of all ranks, which have to plan the same launch; use arrays of "
                 "one kind"));
  CHECK(contains(said,
                 "assignment of array \"picture\" to array \"field\": the former is of this "
                 "rank alone (HPL_RANK_LOCAL), the latter of all ranks"));
  CHECK(contains(said, "syncGhosts(...): array \"picture\" is of this rank alone"));
  CHECK(contains(said, "\nrefused\n"));
  CHECK(contains(said, "3 3 3 3"));
}

TEST_CASE("a failure in one rank's own work is that rank's, and the session goes on") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    listDevices({2, 1, rankOf()});
    Numbers all(64);
    all = 1;
    std::string said;
    if (rankOf() == 1) {
      Numbers own(100, HPL_RANK_LOCAL);
      own = 3;
      said = messageOf<AllocationError>([&] {
        Array<double, 3> huge(100000, 100000, 100000, HPL_RANK_LOCAL | HPL_NOHOST_MEM);
        huge(0, 0, 0) = 1;
      });
      said = said == "nothing was thrown" ? said : "thrown";
    }
    eval(increment).devices()(PART1(all));
    return said + cellsOf(all);
  });
  CHECK(reports[0].thrown == "");
  CHECK(reports[1].thrown == "");
  CHECK(reports[1].said == "thrown" + reports[0].said);
}

TEST_CASE("a second thread may work on arrays of its rank") {
  CHECK(saidOn(2, 1, [] {
          Numbers all(64);
          all = 1;
          eval(increment).devices()(PART1(all));
          std::string said;
          std::thread other([&] {
            Numbers own(32, HPL_RANK_LOCAL);
            own = 1;
            eval(increment)(own);
            said = std::to_string(own(31).value());
          });
          other.join();
          eval(increment).devices()(PART1(all));
          return said + " " + std::to_string(all(63).value());
        }) == "2 3");
}

TEST_CASE("a rank without devices has arrays of its own on the host alone") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    listDevices({2, 1, rankOf(), 1});
    Numbers own(20, HPL_RANK_LOCAL);
    own = 4;
    own(3) = 5;
    std::string said = std::to_string(own(3).value() + own(4).value()) + " ";
    forEachLocal(own, [](const LocalPart<int, 1>& part) { part.data()[0] = 8; });
    said += std::to_string(own(0).value()) + " ";
    said += messageOf<DeviceError>([&] { eval(increment)(own); });
    return said;
  });
  CHECK(reports[0].said == "9 8 nothing was thrown");
  CHECK(contains(reports[1].said,
                 "9 8 Rank 1 has no device of its own to run on; give the rank a "
                 "device (HPL_DEVICES"));
}

}  // namespace rank_local_tests

// SPDX-License-Identifier: Apache-2.0
// Programs on one to four ranks leave the same cells as in one process.
#include <doctest/doctest.h>

#include <functional>

#include "program_on_ranks.h"
#include "stencil_templates/stencil_templates.h"

namespace programs_tests {

using namespace hpl;
using namespace ranks_tests;

TEST_CASE("annotated arrays exchange their ghosts between ranks") {
  expectAsOnOne([] {
    Grid a(41, 23), b(41, 23);
    setCells(a, 1);
    setCells(b, 2);
    for (int step = 0; step < 7; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      swap(a, b);
    }
    return cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("arrays that exchange by themselves do so between ranks") {
  expectAsOnOne([] {
    Grid a(47, 12), b(47, 12);
    setCells(a, 3);
    setCells(b, 4);
    for (int step = 0; step < 9; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 2, AUTO_SYNC), PART1(a, 2, AUTO_SYNC));
      swap(a, b);
    }
    return cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("launches without annotations are distributed over ranks") {
  expectAsOnOne([] {
    Grid a(37, 19), b(37, 19);
    setCells(a, 5);
    setCells(b, 6);
    std::string said;
    for (int step = 0; step < 6; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(b, a);
      swap(a, b);
      if (step % 2 == 0) said += std::to_string(a(20, 7).value()) + "\n";
    }
    return said + cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("groups of ranks have the numbers of the whole domain") {
  expectAsOnOne([] {
    const auto sumOfGroup = [](Numbers sums, Numbers in) {
      if_(lidx == 0) {
        Int sum = cast<int>(ngroupsx);
        for (int k = 0; k < 8; ++k) sum += in[idx + k];
        sums[gidx] = sum;
      }
    };
    Numbers in(8 * 13), sums(13);
    setCells(in, 5);
    for (int step = 0; step < 3; ++step) {
      eval(sumOfGroup).devices(getDeviceNumber()).global(in.size()).local(8)(sums, in);
      eval(increment).devices(getDeviceNumber())(sums);
      eval(increment).devices(getDeviceNumber())(in);
    }
    return cellsOf(sums);
  });
}

TEST_CASE("the hosts of all ranks read what any rank has computed, and write the same") {
  expectAsOnOne([] {
    Numbers a(1000);
    setCells(a, 7);
    std::string said;
    for (int round = 0; round < 5; ++round) {
      const std::vector<Device> all = devices();
      eval(increment).device(all[static_cast<std::size_t>(round) % all.size()])(a);
      said += std::to_string(a(17 * round).value()) + " ";
      a(3) = round;
      Numbers part = a(Range(100 * round, 100 * round + 49));
      eval(increment).device(all.back())(part);
    }
    return said + cellsOf(a);
  });
}

TEST_CASE("a launch without a device runs on the first one, and every rank has the result") {
  expectAsOnOne([] {
    Numbers a(100), b(100);
    setCells(a, 8);
    setCells(b, 9);
    eval(threePoint)(b, a);
    const FRunner again = eval(increment)(b);
    return cellsOf(b);
  });
}

TEST_CASE("assignments between views move cells between ranks") {
  expectAsOnOne([] {
    Grid a(40, 16), b(40, 16);
    setCells(a, 10);
    setCells(b, 11);
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    for (int round = 0; round < 3; ++round) {
      a(Range(3, 30), Range(2, 9)) = b(Range(10, 37), Range(5, 12));
      b = a;
      // Overlapping, from one device to others.
      b(Range(1, 39), Range(0, 15)) = b(Range(0, 38), Range(0, 15));
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    }
    return cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("fills reach the ranks that have the cells") {
  expectAsOnOne([] {
    Grid a(40, 16), b(40, 16);
    a = 3;
    b = 4;
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    b = 5;
    a(Range(10, 20), Range(0, 15)) = 7;
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    return cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("the user's memory has the cells of all ranks when its array ends") {
  expectAsOnOne([] {
    std::vector<int> memory(500, 3);
    {
      Numbers a(500, memory.data()), b(500);
      setCells(b, 12);
      eval(threePoint).devices(getDeviceNumber())(PART1(a, 1), PART1(b, 1));
    }
    std::string said;
    for (const int value : memory) said += std::to_string(value) + " ";
    return said;
  });
}

TEST_CASE("parts are cut anew, and read as a whole, between ranks") {
  expectAsOnOne([] {
    Grid a(36, 36), b(36, 36);
    setCells(a, 13);
    setCells(b, 14);
    for (int round = 0; round < 3; ++round) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
      eval(fivePoint).devices(getDeviceNumber())(PART2(a, 1), PART2(b, 1));
      eval(fivePoint).device(devices().back())(b, a);
    }
    return cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("devices that measure their weights agree on them") {
  for (const int ranks : {2, 3}) {
    // Measured values differ from run to run, but not between ranks.
    saidOn(ranks, 1, [] {
      Grid a(64, 64), b(64, 64);
      setCells(a, 15);
      setCells(b, 16);
      eval(fivePoint).devices(getDeviceNumber()).weights(MEASURED)(PART1(b, 1), PART1(a, 1));
      std::string said = cellsOf(b);
      for (const auto& transfer : ghostTransfers(b)) said += transfer.cells.toString() + "\n";
      return said;
    });
  }
}

TEST_CASE("sums are those of the cells of all ranks") {
  expectAsOnOne([] {
    Grid a(45, 20), b(45, 20);
    setCells(a, 17);
    setCells(b, 18);
    std::string said;
    for (int round = 0; round < 3; ++round) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      said += std::to_string(sum(b)) + " " + std::to_string(b.reduce(std::plus<>())) + " ";
      swap(a, b);
    }
    return said;
  });
}

TEST_CASE("views with strides, of other shapes and transposed are the same cells on all ranks") {
  expectAsOnOne([] {
    Numbers v(24 * 18);
    Grid square(18, 18), turned(18, 24);
    setCells(v, 1);
    setCells(square, 2);
    Grid grid = v.reshaped(24, 18);
    const std::vector<Device> all = devices();
    std::string said;
    for (int round = 0; round < 6; ++round) {
      const Device device = all[static_cast<std::size_t>(round) % all.size()];
      eval(increment).device(device)(v(Range(round, 431, 3 + round)));
      turned = grid.transposed();
      grid(Range(round, 17 + round / 2), Range(0, 17, 2)) = 7 * round;
      eval(increment).device(device)(square.reshaped(324)(Range(0, 323, 5)));
      said += std::to_string(grid(13, 5).value()) + " " +
              std::to_string(turned(Range(2, 17, 3), Range(0, 23, 2))(3, 4).value()) + " " +
              std::to_string(sum(turned(Range(2, 17, 3), Range(0, 23, 2)))) + "\n";
    }
    return said + cellsOf(v) + cellsOf(square) + cellsOf(turned);
  });
}

TEST_CASE("stencils and programs of stencils on views with strides leave the same cells on ranks") {
  expectAsOnOne([] {
    const int n = 14, m = 11;
    Grid grid(2 * n, m);
    setCells(grid, 8);
    const Range columns(0, m - 1);
    Grid even = grid(Range(0, 2 * n - 2, 2), columns), odd = grid(Range(1, 2 * n - 1, 2), columns);
    Stencil star([](Neighbourhood<int, 2> p, Int by) {
      return (p(0, 0) + p(-1, 0) * 3 + p(0, 1) - p(0, -1) + by) & 1023;
    });
    star.boundary(Nearest());
    star.devices()(even, odd, 2);
    star.devices().iterate(5)(odd, even, 1);
    StencilProgram program;
    program.apply(star)(even, odd, 3);
    program.apply(star)(odd, even, 4);
    program.devices().run(3);
    return cellsOf(grid);
  });
}

TEST_CASE("reductions that update distributed arrays leave the same cells on all ranks") {
  expectAsOnOne([] {
    Grid a(37, 21), b(37, 21);
    setCells(a, 1);
    setCells(b, 2);
    Array<long, 1> total(1);
    total = 3L;
    std::string said;
    for (int step = 0; step < 5; ++step) {
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      sum(
          [](Int& cell, Int other, Long all, Int k) {
            cell = (cell + other * k + cast<int>(all % 5l)) % 1000;
            return cell;
          },
          b, a, valueIn(total), step)
          .into(total);
      said += std::to_string(total(0).value()) + " ";
      swap(a, b);
    }
    return said + cellsOf(a) + cellsOf(b);
  });
}

TEST_CASE("the profile of all ranks is the sum of theirs, on every rank") {
  const auto program = [] {
    Numbers a(300), b(300);
    setCells(a, 1);
    setCells(b, 2);
    getProfile(ALL_RANKS);
    for (int step = 0; step < 4; ++step) {
      eval(threePoint).devices()(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
      swap(a, b);
    }
    const ProfilingData all = getProfile(ALL_RANKS);
    const ProfilingData total = getTotalProfile(ALL_RANKS);
    if (total.launches < all.launches) return std::string("less in total");
    return std::to_string(all.launches) + " launches\n";
  };
  for (const int ranks : {1, 2, 3}) {
    for (const int each : {1, 2}) {
      CAPTURE(ranks);
      CAPTURE(each);
      CHECK(saidOn(ranks, each, program) == std::to_string(4 * ranks * each) + " launches\n");
    }
  }
}

}  // namespace programs_tests

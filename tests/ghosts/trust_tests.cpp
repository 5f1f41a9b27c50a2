// SPDX-License-Identifier: Apache-2.0
// A ghost that a part computed itself may be read only where its owner computed the same value.
#include <doctest/doctest.h>

#include "support.h"

namespace trust_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

constexpr std::size_t kCells = 120;

void lookRight(Numbers out, const Numbers& in) {
  if_(idx + 1 < szx) {
    out[idx] = in[idx + 1];
  }
}

// The values that lookRight must find in every part: the owners'.
std::vector<int> neighboursOf(const Numbers& a) {
  const std::vector<int> values = valuesOf(a);
  std::vector<int> right(values.begin() + 1, values.end());
  right.push_back(-1);
  return right;
}

// Runs `launch` on an annotated array, then looks at it across the borders.
template <class Launch>
void compare(Launch launch, const char* name) {
  for (const int r : {1, 2, 5}) {
    CAPTURE(name);
    CAPTURE(r);
    Numbers a(kCells), seen(kCells);
    a.copyFrom(someValues(kCells, 3).data());
    seen = -1;
    launch(a, r);
    eval(lookRight)(PART1(seen, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC));
    CHECK(valuesOf(seen) == neighboursOf(a));
  }
}

// Kernels without other arguments.
void compareKernel(void (*kernel)(Numbers), const char* name) {
  compare([&](Numbers& a, int r) { eval(kernel)(PART1(a, r, AUTO_SYNC)); }, name);
}

void number(Numbers a, Int value) { a[idx] = value; }
void numberIn(Numbers a, Int value) {
  Int mine = 7;
  if_(value > 10) {
    mine = value;
  }
  a[idx] = mine;
}
void fillFrom(Numbers a, const Numbers& table) { a[idx] = table[idx % 3]; }
void copyFrom(Numbers a, const Numbers& table) { a[idx] = table[idx]; }
Int twice(Int i) { return 2 * i; }
void addOne(Numbers a, Int i) { a[i] = a[i] + 1; }

std::vector<int> onePerDevice(int step) {
  std::vector<int> values;
  for (int d = 0; d < deviceCount(); ++d) values.push_back(10 + step * d);
  return values;
}

}  // namespace

TEST_CASE("AUTO_SYNC brings what differs because every device has an argument of its own") {
  compare([](Numbers& a, int r) { eval(number)(PART1(a, r, AUTO_SYNC), onePerDevice(10)); },
          "a value per device");
  compare([](Numbers& a, int r) { eval(numberIn)(PART1(a, r, AUTO_SYNC), onePerDevice(1)); },
          "a condition per device");
  compare([](Numbers& a, int r) { eval(number)(PART1(a, r, AUTO_SYNC), a.part(1)); },
          "the size of the part");
  compare(
      [](Numbers& a, int r) {
        std::vector<Numbers> tables;
        for (int d = 0; d < deviceCount(); ++d) tables.emplace_back(3) = d;
        eval(fillFrom)(PART1(a, r, AUTO_SYNC), tables);
      },
      "a table per device");
  compare(
      [](Numbers& a, int r) {
        Numbers table(kCells);
        table.copyFrom(someValues(kCells, 4).data());
        eval(copyFrom)(PART1(a, r, AUTO_SYNC), table);
      },
      "a table for all, read by the ids of the part");
}

TEST_CASE("AUTO_SYNC brings what differs because ids and sizes are those of the part") {
  compareKernel([](Numbers a) { a[idx] = cast<int>(idx); }, "an id");
  compareKernel([](Numbers a) { a[idx] = cast<int>(szx); }, "a size");
  compareKernel([](Numbers a) { a[idx] = cast<int>(lidx + 3 * gidx); }, "a local id");
  compareKernel([](Numbers a) { a[idx] = cast<int>(ngroupsx + lszx); }, "a number of groups");
  compareKernel([](Numbers a) { a[idx] = where(idx % 2 == 0, 1, 2); }, "a parity");
  compareKernel(
      [](Numbers a) {
        if_(idx % 3 == 1) {
          a[idx] = 5;
        }
      },
      "some of the ids");
  compareKernel(
      [](Numbers a) {
        if_(idx > 7) {
          a[idx] = 1;
        }
        else_ { a[idx] = 2; }
      },
      "an if");
  compareKernel([](Numbers a) { a[idx] = cast<int>(idx + 4 < szx); }, "a truth");
  compareKernel(
      [](Numbers a) {
        if_(2 * idx < szx) {
          a[idx] = 5;
        }
      },
      "a half");
  compareKernel(
      [](Numbers a) {
        Int sum = 0, end = cast<int>(idx);
        for_(Int i = 0, i < end, i += 1) {
          sum += i;
        }
        a[idx] = sum;
      },
      "a loop's end");
  compareKernel(
      [](Numbers a) {
        Numbers mine(4);
        for (int i = 0; i < 4; ++i) mine[i] = i;
        mine[idx % 4] = 9;
        a[idx] = mine[1];
      },
      "an element of a private array");
  compareKernel(
      [](Numbers a) {
        Int i = idx;
        a[idx] = call(twice)(i);
      },
      "the result of a function");
  compareKernel(
      [](Numbers a) {
        Int way = 0;
        if_(idx == 12) {
          way = 1;
        }
        a[idx] = way;
      },
      "a variable that an id decides");
  compareKernel(
      [](Numbers a) {
        if_(idx < 9) {
          return_();
        }
        a[idx] = 3;
      },
      "an early end");
  compareKernel(
      [](Numbers a) {
        call(addOne)(a, cast<int>(idx));
        a[idx] += cast<int>(idx);
      },
      "a function on the array");
  compareKernel([](Numbers a) { atomic_inc(a[idx / 2]); }, "an atomic");
}

TEST_CASE("positions in the whole array are the same for owners and ghosts: nothing is exchanged") {
  const auto position = [](Numbers a) { a[idx] = 5 * cast<int>(gridx); };
  const auto odd = [](Numbers a) {
    a[idx] = 1;
    if_(gridx % 2 == 1) {
      a[idx] = 2;
    }
  };
  const auto byTable = [](Numbers a, const Numbers& table) { a[idx] = table[gridx % 7]; };
  Numbers table(7);
  table.copyFrom(someValues(7, 8).data());
  const auto expectNoExchange = [](auto launch) {
    for (const int r : {1, 4}) {
      CAPTURE(r);
      Numbers a(kCells), seen(kCells);
      a = 0;
      seen = -1;
      const Traffic traffic;
      launch(a, r);
      eval(lookRight)(PART1(seen, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC));
      CHECK(traffic.betweenDevices() == 0);
      CHECK(valuesOf(seen) == neighboursOf(a));
    }
  };
  expectNoExchange([&](Numbers& a, int r) { eval(position)(PART1(a, r, AUTO_SYNC)); });
  expectNoExchange([&](Numbers& a, int r) { eval(odd)(PART1(a, r, AUTO_SYNC)); });
  expectNoExchange([&](Numbers& a, int r) { eval(byTable)(PART1(a, r, AUTO_SYNC), table); });
  const auto inRows = [](Grid a) { a[idy][idx] = cast<int>(100 * gridy + idx); };
  Grid g(10 * deviceCount(), 7), seen(10 * deviceCount(), 7);
  const auto below = [](Grid out, const Grid& in) {
    if_(idy + 1 < szy) {
      out[idy][idx] = in[idy + 1][idx];
    }
  };
  g = 0;
  seen = -1;
  const Traffic traffic;
  eval(inRows)(PART1(g, 1, AUTO_SYNC));
  eval(below)(PART1(seen, 1, AUTO_SYNC), PART1(g, 1, AUTO_SYNC));
  CHECK(traffic.betweenDevices() == 0);
  const std::vector<int> values = valuesOf(g), found = valuesOf(seen);
  for (std::size_t i = 0; i + 7 < found.size(); ++i) CHECK(found[i] == values[i + 7]);
}

TEST_CASE("AUTO_SYNC brings what differs because the position is that of another array's parts") {
  // The first annotated argument, which says where the position begins, has other parts.
  compare(
      [](Numbers& a, int r) {
        Numbers other(kCells);
        other = 0;
        const auto byOther = [](const Numbers& o, Numbers x) {
          x[idx] = cast<int>(gridx) + 0 * o[idx * 7 % 5];
        };
        eval(byOther).global(of(a))(PART1(other, r + 1), PART1(a, r, AUTO_SYNC));
      },
      "one more ghost");
  compare(
      [](Numbers& a, int r) {
        Grid other(3, kCells);
        other = 0;
        const auto byOther = [](const Grid& o, Numbers x) {
          x[idx] = cast<int>(gridx) + 0 * o[idx % 2][idx * 7 % 5];
        };
        eval(byOther).global(of(a))(PART2(other, 0), PART1(a, r, AUTO_SYNC));
      },
      "another dimension");
  compareKernel([](Numbers a) { a[idx] = cast<int>(gridx - idx); }, "where the part begins");
  compareKernel([](Numbers a) { a[idx] = cast<int>(gridx + idx); }, "with an id beside it");
  compareKernel([](Numbers a) { a[idx] = a[gridx % 3]; }, "an element of the part");
}

TEST_CASE("HPL_CHECK=ghosts believes positions in the whole array on explicit subarrays") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  const std::vector<Device> list = testDevices();
  const auto n = static_cast<int>(list.size());
  const auto cells = static_cast<int>(kCells);
  std::vector<Range> parts;
  for (int d = 0; d < n; ++d)
    parts.emplace_back(std::max(0, cells * d / n - 1),
                       std::min(cells, cells * (d + 1) / n + 1) - 1);
  const auto run = [&](void (*kernel)(Numbers)) {
    Numbers a(kCells), seen(kCells);
    a = 0;
    seen = 0;
    const auto onAll = [&](auto launch) {
      for (std::size_t d = 0; d < parts.size(); ++d) launch(list[d], parts[d]);
    };
    // Makes the views parts.
    onAll([&](const Device& device, Range part) { eval(increment).device(device)(a(part)); });
    a.syncGhosts();
    onAll([&](const Device& device, Range part) { eval(kernel).device(device)(a(part)); });
    onAll([&](const Device& device, Range part) {
      eval(lookRight).device(device)(seen(part), a(part));
    });
  };
  run([](Numbers a) { a[idx] = cast<int>(gridx); });
  CHECK_THROWS_AS(run([](Numbers a) { a[idx] = cast<int>(idx); }), StaleGhostError);
}

TEST_CASE("AUTO_SYNC knows what work-items tell each other") {
  // Groups of all of the part: each cell sees its right neighbour through local memory.
  if (deviceCount() < 2) return;
  const int cells = 8 * deviceCount();
  Numbers a(cells), out(cells);
  a = 0;
  out = -1;
  eval(number)(PART1(a, 1, AUTO_SYNC), onePerDevice(10));
  const std::vector<int> values = valuesOf(a);
  const auto shareTile = [](Numbers o, const Numbers& in) {
    Array<int, 1, Local> tile(16);
    tile[lidx] = in[idx];
    barrier(LOCAL);
    if_(idx + 1 < szx) {
      o[idx] = tile[lidx + 1];
    }
  };
  std::vector<Domain> local;
  for (int d = 0; d < deviceCount(); ++d) local.emplace_back(8 + (d > 0) + (d + 1 < deviceCount()));
  eval(shareTile).local(local)(PART1(out, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
  const std::vector<int> found = valuesOf(out);
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == values[i + 1]);
  }
}

TEST_CASE("AUTO_SYNC knows that a kernel may write beside its own cell") {
  const auto shift = [](Numbers out, const Numbers& in) {
    if_(idx + 1 < szx) {
      out[idx + 1] = in[idx];
    }
  };
  Numbers a(kCells), b(kCells);
  a = 0;
  b = -1;
  eval(number)(PART1(a, 1, AUTO_SYNC), onePerDevice(10));
  std::vector<int> wanted = valuesOf(a);
  wanted.insert(wanted.begin(), -1);
  wanted.pop_back();
  eval(shift)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
  CHECK(valuesOf(b) == wanted);
  Numbers seen(kCells);
  seen = -1;
  eval(lookRight)(PART1(seen, 1, AUTO_SYNC), PART1(b, 1, AUTO_SYNC));
  CHECK(valuesOf(seen) == neighboursOf(b));
}

TEST_CASE("what an owner leaves out is not believed of the neighbour that computes it") {
  if (deviceCount() < 3) return;
  const auto far = [](Grid out, const Grid& in) {
    if_(idy >= 2 && idy + 2 < szy && idx >= 1 && idx + 2 < szx) {
      out[idy][idx] =
          in[idy - 2][idx] + 3 * in[idy + 2][idx] + 5 * in[idy][idx - 1] + 7 * in[idy][idx + 2];
    }
  };
  const auto above = [](Grid out, const Grid& in) {
    if_(idy > 0) {
      out[idy][idx] = in[idy - 1][idx];
    }
  };
  for (const int before : {3, 2, 1}) {
    for (const int after : {1, 2, 0}) {
      CAPTURE(before);
      CAPTURE(after);
      Grid in(12, 33), out(12, 33), seen(12, 33);
      in.copyFrom(someValues(in.size(), 11).data());
      out.copyFrom(someValues(in.size(), 12).data());
      seen = 0;
      eval(far).devices(3)(PART1(out, before, after, AUTO_SYNC),
                           PART1(in, before, after, AUTO_SYNC));
      const std::vector<int> values = valuesOf(out);
      eval(above).devices(3)(PART1(seen, before, after, AUTO_SYNC),
                             PART1(out, before, after, AUTO_SYNC));
      const std::vector<int> found = valuesOf(seen);
      for (std::size_t i = 33; i < found.size(); ++i) {
        CAPTURE(i / 33);
        REQUIRE(found[i] == values[i - 33]);
      }
    }
  }
}

TEST_CASE("cells that a launch leaves as they are stay as good as they were, and no better") {
  const auto middle = [](Grid out, const Grid& in) {
    if_(idx > 0 && idx + 1 < szx) {
      out[idy][idx] = in[idy][idx];
    }
  };
  const auto all = [](Grid out, Int c) { out[idy][idx] = c; };
  const auto below = [](Grid out, const Grid& in) {
    if_(idy + 1 < szy) {
      out[idy][idx] = in[idy + 1][idx];
    }
  };
  const int rows = 10 * deviceCount();
  Grid in(rows, 5), out(rows, 5), seen(rows, 5);
  in.copyFrom(someValues(in.size(), 1).data());
  out = 0;
  seen = -1;
  eval(all)(PART1(out, 2, AUTO_SYNC), onePerDevice(100));
  // The first and the last column are still what each device wrote.
  eval(middle)(PART1(out, 2, AUTO_SYNC), PART1(in, 2, AUTO_SYNC));
  const std::vector<int> values = valuesOf(out);
  eval(below)(PART1(seen, 2, AUTO_SYNC), PART1(out, 2, AUTO_SYNC));
  const std::vector<int> found = valuesOf(seen);
  for (std::size_t i = 0; i + 5 < found.size(); ++i) CHECK(found[i] == values[i + 5]);
}

TEST_CASE("an owner that read stale ghosts makes its neighbour's right value a wrong one") {
  Numbers a(kCells), b(kCells), seen(kCells);
  a = 1;
  b = 0;
  seen = -1;
  eval(number)(PART1(a, 2), onePerDevice(10));
  // Without AUTO_SYNC for the input, part 0 computes its last core cell from its own ghost.
  eval(lookRight)(PART1(b, 2, AUTO_SYNC), PART1(a, 2));
  const auto lookLeft = [](Numbers out, const Numbers& in) {
    if_(idx > 0) {
      out[idx] = in[idx - 1];
    }
  };
  const std::vector<int> values = valuesOf(b);
  eval(lookLeft)(PART1(seen, 2, AUTO_SYNC), PART1(b, 2, AUTO_SYNC));
  const std::vector<int> found = valuesOf(seen);
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i] == values[i - 1]);
}

TEST_CASE("HPL_CHECK=ghosts reports ghosts that differ from what their owners have") {
  if (deviceCount() < 2) return;
  const WithSettings checking([](runtime::Settings& s) { s.checkGhosts = true; });
  Numbers a(kCells), seen(kCells);
  a.label("values");
  a = 0;
  seen = 0;
  const auto look = [&] { eval(lookRight)(PART1(seen, 1), PART1(a, 1)); };
  eval(number)(PART1(a, 1), onePerDevice(10));
  expectMessage(messageOf<StaleGhostError>(look), {"kernel 'lookRight'", "part 0", "\"values\""});
  a.syncGhosts();
  look();
  eval([](Numbers n) { n[idx] = cast<int>(idx); })(PART1(a, 1));
  CHECK_THROWS_AS(look(), StaleGhostError);
  a.syncGhosts();
  // The same for all: each part has its owner's values.
  eval(number)(PART1(a, 1), 5);
  look();
}

namespace {

// As Figure 8 guards: with the size of the part as an argument.
void guardedBySize(Numbers out, const Numbers& in, Int n) {
  Int i = cast<int>(idx), last = n - 1;
  if_(i > 0 && i < last) {
    out[idx] = 2 * in[idx - 1] - in[idx] + 3 * in[idx + 1];
  }
}

void guardedByDomain(Numbers out, const Numbers& in) {
  Int n = szx;
  if_(idx == 0 || cast<int>(idx) >= n - 1) {
    return_();
  }
  out[idx] = 2 * in[idx - 1] - in[idx] + 3 * in[idx + 1];
}

}  // namespace

TEST_CASE("a guard with the part's size is understood as one with the domain's") {
  for (const int r : {1, 2, 4}) {
    for (const bool check : {false, true}) {
      CAPTURE(r);
      CAPTURE(check);
      const WithSettings checking([&](runtime::Settings& s) { s.checkGhosts = check; });
      // Parts of one size, and parts that differ.
      for (const int cells : {40 * deviceCount(), 40 * deviceCount() + 1}) {
        Numbers a(cells), b(cells);
        std::vector<int> x = someValues(a.size(), 5), y = someValues(a.size(), 6);
        a.copyFrom(x.data());
        b.copyFrom(y.data());
        const auto borders = static_cast<std::uint64_t>(deviceCount() - 1);
        for (int step = 0; step < 3 * r + 1; ++step) {
          CAPTURE(step);
          const Traffic traffic;
          if (check) {
            if (step > 0 && step % r == 0) a.syncGhosts();
            eval(guardedBySize)(PART1(b, r), PART1(a, r), a.part(1));
          } else {
            eval(guardedBySize)(PART1(b, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC), a.part(1));
          }
          const bool exchanges = step > 0 && step % r == 0;
          if (step > 2) CHECK(traffic.betweenDevices() == (exchanges ? borders * 2 * r * 4 : 0));
          swap(a, b);
          y = threePointStep(x, y);
          std::swap(x, y);
        }
        CHECK(valuesOf(a) == x);
      }
    }
  }
}

TEST_CASE("a guard that the library does not understand is right, with more exchanges") {
  Numbers a(kCells), b(kCells);
  std::vector<int> x = someValues(kCells, 5), y = someValues(kCells, 6);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  for (int step = 0; step < 9; ++step) {
    eval(guardedByDomain)(PART1(b, 3, AUTO_SYNC), PART1(a, 3, AUTO_SYNC));
    swap(a, b);
    y = threePointStep(x, y);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
}

// A neighbour along the rows: how far a launch reads in what is not split counts, too.
TEST_CASE("AUTO_SYNC: a ghost that was computed from a wrong one beside it is not believed") {
  if (deviceCount() < 2) return;
  const auto number = [](Grid g) { g[idy][idx] = cast<int>(idx) + 1; };
  const auto fromLeft = [](Grid out, const Grid& in) {
    if_(idx > 0) {
      out[idy][idx] = in[idy][idx - 1];
    }
  };
  const auto leftHalf = [](Grid g) {
    if_(idx < 4) {
      g[idy][idx] = 7;
    }
  };
  const auto fromBelow = [](Grid out, const Grid& in) {
    if_(idy + 1 < szy) {
      out[idy][idx] = in[idy + 1][idx];
    }
  };
  constexpr int kRows = 8, kColumns = 10;
  Grid a(kRows, kColumns), b(kRows, kColumns), c(kRows, kColumns), fresh(1, 1);
  fresh = 100;
  c = 0;
  const auto run = [&](const auto& kernel, const auto&... arrays) {
    eval(kernel).devices(2)(PART1(arrays, 2, AUTO_SYNC)...);
  };
  run(number, a);
  run(number, b);
  // Row 4 belongs to the second part; the first one's ghost of it keeps the old value.
  const Grid second = a(Range(2, 7), Range(0, kColumns - 1));
  second(Range(2, 2), Range(3, 3)) = fresh;
  run(fromLeft, b, a);
  run(leftHalf, b);
  run(fromBelow, c, b);
  CHECK(b(4, 4) == 100);
  CHECK(c(3, 4) == 100);
}

}  // namespace trust_tests

// SPDX-License-Identifier: Apache-2.0
// Each rank reads and writes the cells of its own devices, and none are sent.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <span>
#include <utility>

#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/ranks/counting_fabric.h"

namespace local_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

std::unique_ptr<ranks::Fabric> counting(std::unique_ptr<ranks::Fabric> inner) {
  return std::make_unique<hpl_tests::CountingFabric>(std::move(inner));
}

/// Bytes of cells that all ranks have sent.
std::uint64_t cellsSent() {
  ranks::Courier& courier = ranks::world()->courier();
  // A message begins when a device has read its cells, which may be long after the launch.
  memory::detail::waitForLetters();
  courier.allAgree(true);
  const std::uint64_t own = hpl_tests::sent().bytes - 128 * hpl_tests::sent().messages;
  std::uint64_t sum = 0;
  for (const auto& blob : courier.allgather(std::as_bytes(std::span(&own, 1)))) {
    std::uint64_t other = 0;
    std::memcpy(&other, blob.data(), sizeof other);
    sum += other;
  }
  return sum;
}

void copyCells(Grid out, Grid in) { out[idy][idx] = in[idy][idx]; }

/// Calls f(i, j, cell) for the cells of a part of a matrix.
template <class Part, class F>
void forEachCell(const Part& part, const F& f) {
  for (std::size_t i = 0; i < part.extents()[0]; ++i)
    for (std::size_t j = 0; j < part.extents()[1]; ++j)
      f(part.first()[0] + i, part.first()[1] + j, part.data()[i * part.strides()[0] + j]);
}

/// A random program over two matrices, beside a plain copy of them that every rank computes whole.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed)
      : random_(seed),
        rows_(5 + below(30)),
        columns_(3 + below(20)),
        arrays_{Grid(rows_, columns_), Grid(rows_, columns_)} {
    for (int which = 0; which < 2; ++which) {
      setCells(arrays_[which], seed + static_cast<unsigned>(which));
      plain_[which].resize(rows_ * columns_);
      arrays_[which].copyTo(plain_[which].data());
    }
    text_ = "seed " + std::to_string(seed) + ":";
  }

  /// "" or what went wrong, after what.
  std::string run(int operations) {
    for (int i = 0; i < operations; ++i) {
      one();
      if (!wrong_.empty()) return text_ + " " + wrong_;
    }
    for (int which = 0; which < 2; ++which) compareWhole(which);
    return wrong_.empty() ? "" : text_ + " " + wrong_;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  int& plain(int which, std::size_t i, std::size_t j) { return plain_[which][i * columns_ + j]; }

  void one() {
    const int which = static_cast<int>(below(2));
    const std::size_t kind = below(10);
    text_ += " " + std::to_string(kind) + (which == 0 ? "a" : "b");
    if (kind < 2) return writeAll(which);
    if (kind == 2) return writeSome(which);
    if (kind == 3) return readParts(which);
    if (kind == 4) return copyParts(which);
    if (kind == 5) return sweep(which);
    if (kind == 6) return add(which);
    if (kind == 7) return writeOnHosts(which);
    if (kind == 8) return readOne(which);
    compareWhole(which);
  }

  static int changed(int old, std::size_t i, std::size_t j, int round) {
    return 3 * (old % 1000) + static_cast<int>(7 * i + j) + round;
  }

  void writeAll(int which) {
    const int round = static_cast<int>(below(100));
    const bool some = below(3) == 0;
    std::vector<int> expected = plain_[which];
    const auto writes = [&](std::size_t i, std::size_t j) { return !some || (i + j) % 3 == 0; };
    forEachLocal(arrays_[which], [&](const LocalPart<int, 2>& part) {
      forEachCell(part, [&](std::size_t i, std::size_t j, int& cell) {
        if (cell != plain(which, i, j)) wrong_ = "old contents";
        if (writes(i, j)) part(i, j) = changed(cell, i, j, round);
      });
    });
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j)
        if (writes(i, j)) plain(which, i, j) = changed(plain(which, i, j), i, j, round);
  }

  // Through a view: indices count from its first cell.
  void writeSome(int which) {
    const std::size_t top = below(rows_), left = below(columns_);
    const std::size_t bottom = top + below(rows_ - top), right = left + below(columns_ - left);
    Grid& view = arrays_[which](Range(static_cast<int>(top), static_cast<int>(bottom)),
                                Range(static_cast<int>(left), static_cast<int>(right)));
    for (const auto& part : view.local()) {
      forEachCell(part, [&](std::size_t i, std::size_t j, int& cell) {
        if (cell != plain(which, top + i, left + j)) wrong_ = "old contents of a view";
        cell = static_cast<int>(i * 31 + j);
      });
    }
    for (std::size_t i = top; i <= bottom; ++i)
      for (std::size_t j = left; j <= right; ++j)
        plain(which, i, j) = static_cast<int>((i - top) * 31 + j - left);
  }

  void readParts(int which) {
    forEachLocal(std::as_const(arrays_[which]), [&](const LocalPart<const int, 2>& part) {
      if (!part.device().isLocal()) wrong_ = "the part of another rank";
      forEachCell(part, [&](std::size_t i, std::size_t j, const int& cell) {
        if (cell != plain(which, i, j)) wrong_ = "a read";
      });
    });
  }

  // Both are open at the same time, and need not be cut alike.
  void copyParts(int which) {
    const auto from = std::as_const(arrays_[1 - which]).local();
    const auto to = arrays_[which].local();
    for (const auto& target : to)
      forEachCell(target, [&](std::size_t i, std::size_t j, int& cell) {
        cell = static_cast<int>(i + 2 * j);
        for (const auto& source : from) {
          const bool isInside =
              i >= source.first()[0] && i - source.first()[0] < source.extents()[0] &&
              j >= source.first()[1] && j - source.first()[1] < source.extents()[1];
          if (isInside && source(i, j) != plain(1 - which, i, j)) wrong_ = "the source of a copy";
        }
      });
    for (std::size_t i = 0; i < rows_; ++i)
      for (std::size_t j = 0; j < columns_; ++j) plain(which, i, j) = static_cast<int>(i + 2 * j);
  }

  void sweep(int which) {
    Grid &out = arrays_[which], &in = arrays_[1 - which];
    const int cut = static_cast<int>(below(3));
    const auto all = [&] { return eval(fivePoint).devices(getDeviceNumber()); };
    if (cut == 0) all()(PART1(out, 1, AUTO_SYNC), PART1(in, 1, AUTO_SYNC));
    if (cut == 1) all()(PART2(out, 1, AUTO_SYNC), PART2(in, 1, AUTO_SYNC));
    if (cut == 2) all()(out, in);
    for (std::size_t i = 1; i + 1 < rows_; ++i)
      for (std::size_t j = 1; j + 1 < columns_; ++j)
        plain(which, i, j) = plain(1 - which, i, j) + 2 * plain(1 - which, i - 1, j) +
                             3 * plain(1 - which, i + 1, j) - 5 * plain(1 - which, i, j - 1) +
                             7 * plain(1 - which, i, j + 1);
    // Kept small.
    for (int& value : plain_[which]) value %= 100000;
    forEachLocal(out, [](const LocalPart<int, 2>& part) {
      forEachCell(part, [](std::size_t, std::size_t, int& cell) { cell %= 100000; });
    });
  }

  // All cells are one device's.
  void add(int which) {
    const std::vector<Device> all = devices();
    eval(increment2).device(all[below(all.size())])(arrays_[which]);
    for (int& value : plain_[which]) ++value;
  }
  static void increment2(Grid a) { a[idy][idx] += 1; }

  void writeOnHosts(int which) {
    const std::size_t i = below(rows_), j = below(columns_);
    arrays_[which](i, j) = plain(which, i, j) = static_cast<int>(below(1000));
  }
  void readOne(int which) {
    const std::size_t i = below(rows_), j = below(columns_);
    if (arrays_[which](i, j) != plain(which, i, j)) wrong_ = "one cell on the hosts";
  }
  void compareWhole(int which) {
    std::vector<int> cells(rows_ * columns_);
    arrays_[which].copyTo(cells.data());
    if (cells != plain_[which]) wrong_ = "the whole array";
  }

  std::mt19937 random_;
  std::size_t rows_, columns_;
  Grid arrays_[2];
  std::vector<int> plain_[2];
  std::string text_, wrong_;
};

}  // namespace

TEST_CASE("random programs with local access leave the cells that a plain program leaves") {
  unsigned seed = 1;
  for (const auto& [ranks, each] :
       {std::pair(1, 3), std::pair(2, 1), std::pair(2, 2), std::pair(3, 1), std::pair(4, 1)}) {
    INFO(ranks << " ranks with " << each << " devices, seeds from " << seed);
    CHECK(saidOn(ranks, each, [seed] {
            std::string wrong;
            // Devices differ in number, and with them the random choices: seeds do, too.
            for (unsigned i = 0; i < 8 && wrong.empty(); ++i)
              wrong = RandomProgram(seed + i).run(25);
            return wrong;
          }) == "");
    seed += 8;
  }
}

TEST_CASE("each cell lies in one part of one rank, whatever the array's distribution") {
  const std::string expected = cellsOf([] {
    Grid ones(23, 9);
    ones = 1;
    return ones;
  }());
  for (const auto& [ranks, each] : {std::pair(3, 1), std::pair(2, 2)}) {
    const std::string said = saidOn(ranks, each, [] {
      std::string said;
      for (int cut = 0; cut < 4; ++cut) {
        Grid a(23, 9), other(23, 9);
        a = 0;
        other = 0;
        const int all = getDeviceNumber();
        if (cut == 1) eval(fivePoint).devices(all)(PART1(a, 1), PART1(other, 1));
        if (cut == 2) eval(fivePoint).devices(all)(PART12(a, 1), PART12(other, 1));
        if (cut == 3) eval(fivePoint).devices(all)(a, other);
        forEachLocal(a, [](const LocalPart<int, 2>& part) {
          forEachCell(part, [](std::size_t, std::size_t, int& cell) { cell = cell % 2 + 1; });
        });
        said += cellsOf(a);
      }
      return said;
    });
    CHECK(said == expected + expected + expected + expected);
  }
}

TEST_CASE("local access sends nothing, and the launch behind it sends ghosts alone") {
  const auto program = [] {
    constexpr std::size_t kColumns = 320;
    Grid a(60, kColumns), b(60, kColumns);
    const auto init = [](const LocalPart<int, 2>& part) {
      forEachCell(part, [](std::size_t i, std::size_t j, int& cell) {
        cell = static_cast<int>(i * 3 + j);
      });
    };
    forEachLocal(a, init);
    forEachLocal(b, init);
    std::string said = std::to_string(cellsSent()) + " ";
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    said += std::to_string(cellsSent() / (kColumns * sizeof(int))) + " ";
    const std::uint64_t before = cellsSent();
    std::uint64_t sum = 0;
    forEachLocal(std::as_const(b), [&](const LocalPart<const int, 2>& part) {
      forEachCell(part, [&](std::size_t, std::size_t, const int& cell) {
        sum += static_cast<std::uint64_t>(cell);
      });
    });
    forEachLocal(b, init);
    if (sum == 0) said += "nothing was read ";
    return said + std::to_string(cellsSent() - before);
  };
  // For both arrays a row each way over each of two borders: the ends of `b` stay as they are.
  CHECK(saidOn(3, 1, program, counting) == "0 8 0");
}

TEST_CASE("user memory gets what ranks have written into their parts when its array ends") {
  expectAsOnOne([] {
    std::vector<int> memory(500, 3);
    {
      Numbers a(500, memory.data());
      eval(increment).devices(getDeviceNumber())(PART1(a));
      forEachLocal(a, [](const LocalPart<int, 1>& part) {
        for (std::size_t i = 0; i < part.extents()[0]; ++i)
          part.data()[i] += static_cast<int>(part.first()[0] + i);
      });
    }
    std::string said;
    for (const int value : memory) said += std::to_string(value) + " ";
    return said;
  });
}

TEST_CASE("a function that throws leaves what it has written, and the array usable") {
  expectAsOnOne([] {
    Numbers a(90);
    a = 1;
    try {
      forEachLocal(a, [](const LocalPart<int, 1>& part) {
        for (std::size_t i = 0; i < part.extents()[0]; ++i) part.data()[i] = 7;
        if (part.atEnd(0)) throw std::runtime_error("enough");
      });
    } catch (const std::runtime_error&) {
    }
    eval(increment).devices(getDeviceNumber())(a);
    return cellsOf(a);
  });
}

TEST_CASE("operations and new arrays inside of forEachLocal are refused on several ranks") {
  const std::string said = saidOn(2, 1, [] {
    Numbers a(100), b(100);
    a.label("height");
    setCells(a, 1);
    setCells(b, 2);
    eval(increment).device(devices()[0])(b);  // the hosts do not have it any more
    std::string said;
    const auto refused = [&](auto&& work) {
      forEachLocal(a, [&](const LocalPart<int, 1>&) {
        try {
          work();
        } catch (const LaunchError& error) {
          said += error.what() + std::string("\n");
        }
      });
    };
    refused([&] { eval(increment)(b); });
    refused([&] { static_cast<void>(b(3).value()); });
    refused([&] { const Numbers another(10); });
    return said + cellsOf(a);
  });
  CHECK(contains(said,
                 "inside of forEachLocal() over array \"height\": each rank calls the function "
                 "as often as it has parts"));
  CHECK(contains(said, "host read of unnamed array inside"));
  CHECK(contains(said, "new array inside of"));
}

TEST_CASE("local access on one rank only is named on all ranks") {
  const auto reports = hpl_tests::inWorlds(2, [] {
    const int rank = ranks::world()->rank();
    listDevices({2, 1, rank});
    Numbers a(100);
    a.label("now");
    setCells(a, 1);
    if (rank == 0) forEachLocal(a, [](const LocalPart<int, 1>&) {});
    eval(increment).devices(2)(PART1(a));
    return cellsOf(a);
  });
  for (const auto& report : reports) {
    INFO(report.thrown);
    CHECK(contains(report.thrown, "all ranks must do the same operations"));
  }
}

TEST_CASE("reading one cell brings a block of it, and neighbours cost nothing more") {
  const auto program = [] {
    Grid a(512, 320), b(512, 320);
    const auto value = [](std::size_t i, std::size_t j) { return static_cast<int>(i * 5 + j); };
    forEachLocal(b, [&](const LocalPart<int, 2>& part) {
      forEachCell(part, [&](std::size_t i, std::size_t j, int& cell) { cell = value(i, j); });
    });
    eval(copyCells).devices(getDeviceNumber())(PART1(a), PART1(b));
    std::string said;
    std::uint64_t before = cellsSent();
    // Blocks are of 51 rows; the devices have 256 each.
    for (const auto& [i, j] : {std::pair(0, 0), std::pair(50, 319), std::pair(51, 7),
                               std::pair(511, 319), std::pair(51, 8), std::pair(255, 1)}) {
      if (a(i, j) != value(static_cast<std::size_t>(i), static_cast<std::size_t>(j)))
        said += "wrong ";
      const std::uint64_t now = cellsSent();
      said += std::to_string(now - std::exchange(before, now)) + " ";
    }
    a(Range(100, 100), Range(3, 5))(0, 1) += 1;
    if (a(100, 4) != value(100, 4) + 1) said += "a write was lost ";
    eval(copyCells).devices(getDeviceNumber())(PART1(b), PART1(a));
    if (b(100, 4) != value(100, 4) + 1 || b(101, 4) != value(101, 4)) said += "wrong after a write";
    return said;
  };
  const std::string block = std::to_string(51 * 320 * sizeof(int)) + " ";
  const std::string last = std::to_string(2 * 320 * sizeof(int)) + " ";
  CHECK(saidOn(2, 1, program, counting) == block + "0 " + block + last + "0 " + block);
}

}  // namespace local_tests

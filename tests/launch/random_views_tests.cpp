// SPDX-License-Identifier: Apache-2.0
// Random views of views, with strides, of other shapes and transposed, against lists of cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/memory/root.h"
#include "tests/messages.h"
#include "tests/with_settings.h"

namespace random_views_tests {

using namespace hpl;

namespace {

using AnyArray = std::variant<Array<int, 1>, Array<int, 2>, Array<int, 3>>;
using Cells = std::vector<std::size_t>;

void add1(Array<int, 1> to, const Array<int, 1>& from, Int k) {
  to[idx] = (to[idx] + from[idx] * k + cast<int>(idx)) % 1000;
}
void add2(Array<int, 2> to, const Array<int, 2>& from, Int k) {
  to[idy][idx] = (to[idy][idx] + from[idy][idx] * k + cast<int>(idx)) % 1000;
}
void add3(Array<int, 3> to, const Array<int, 3>& from, Int k) {
  to[idz][idy][idx] = (to[idz][idy][idx] + from[idz][idy][idx] * k + cast<int>(idx)) % 1000;
}
void sum2(Array<int, 1> sums, const Array<int, 2>& a, Int rows) {
  Int i, sum = 0;
  for_(i = 0, i < rows, i++) {
    sum += a[i][idx];
  }
  sums[idx] = sum;
}

void smooth1(Array<int, 1> out, const Array<int, 1>& in) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = (in[idx - 1] + 2 * in[idx + 1]) % 1000;
  }
}
void smooth2(Array<int, 2> out, const Array<int, 2>& in) {
  if_(idy > 0 && idy + 1 < szy) {
    out[idy][idx] = (in[idy - 1][idx] + 2 * in[idy + 1][idx]) % 1000;
  }
}

// One cell: to[0] = a[i].. and a[i].. = value.
void read1(Array<int, 1> to, const Array<int, 1>& a, Int i) { to[0] = a[i]; }
void read2(Array<int, 1> to, const Array<int, 2>& a, Int i, Int j) { to[0] = a[i][j]; }
void read3(Array<int, 1> to, const Array<int, 3>& a, Int i, Int j, Int k) { to[0] = a[i][j][k]; }
void write1(Array<int, 1> a, Int value, Int i) { a[i] = value; }
void write2(Array<int, 2> a, Int value, Int i, Int j) { a[i][j] = value; }
void write3(Array<int, 3> a, Int value, Int i, Int j, Int k) { a[i][j][k] = value; }

/// A view, and the cells that it has to be, in row-major order: numbers within a storage that is as
/// many ints as the root has.
struct Seen {
  /// Not by value: assignments would copy contents.
  std::shared_ptr<const AnyArray> array;
  std::size_t root = 0;
  std::vector<int> shape;
  Cells cells;
  std::string words;
};

template <class A>
std::shared_ptr<const AnyArray> named(const A& array) {
  return std::make_shared<const AnyArray>(array);
}

class RandomViews {
 public:
  explicit RandomViews(unsigned seed) : random_(seed) {
    addRoot(Array<int, 1>(60), {60});
    addRoot(Array<int, 2>(6, 10), {6, 10});
    addRoot(Array<int, 3>(3, 4, 5), {3, 4, 5});
    addRoot(Array<int, 3>(4, 8, 9), {4, 8, 9});
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const Seen view = someView();
      const std::string words = "step " + std::to_string(step) + ": " + view.words;
      CAPTURE(words);
      switch (below(11)) {
        case 0:
          writeOnHost(view);
          break;
        case 1:
          assign(view);
          break;
        case 2:
          fill(view);
          break;
        case 3:
          checkReads(view);
          break;
        case 4:
          checkSums(view);
          break;
        case 5:
          distribute<1>(0, smooth1, Array<int, 1>(60));
          break;
        case 6:
          distribute<2>(1, smooth2, Array<int, 2>(6, 10));
          break;
        case 7:
          checkBounds(view);
          break;
        default:
          launch(view);
      }
    }
    for (const Seen& root : roots_) checkReads(root);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  template <class A>
  void addRoot(A array, std::vector<int> shape) {
    Seen root;
    root.root = roots_.size();
    root.words = "root " + std::to_string(root.root);
    root.shape = std::move(shape);
    root.cells.resize(array.size());
    std::iota(root.cells.begin(), root.cells.end(), 0);
    std::vector<int> values(array.size());
    for (int& value : values) value = below(1000);
    array.copyFrom(values.data());
    root.array = named(array);
    roots_.push_back(std::move(root));
    values_.push_back(std::move(values));
  }

  static Range rangeOf(const std::array<int, 3>& r) { return Range(r[0], r[1], r[2]); }

  Seen part(const Seen& of) {
    std::vector<std::array<int, 3>> ranges;
    Seen result{of.array, of.root, {}, {}, of.words + " ("};
    for (const int extent : of.shape) {
      const int first = below(extent);
      const int last = below(4) == 0 ? first : first + below(extent - first);
      const int stride = below(2) == 0 ? 1 : 1 + below(4);
      ranges.push_back(below(3) == 0 ? std::array{0, extent - 1, stride}
                                     : std::array{first, last, stride});
      const auto& r = ranges.back();
      result.shape.push_back((r[1] - r[0]) / r[2] + 1);
      result.words +=
          std::to_string(r[0]) + ".." + std::to_string(r[1]) + "/" + std::to_string(r[2]) + " ";
    }
    result.words += ")";
    std::visit(
        [&]<int N>(const Array<int, N>& a) {
          if constexpr (N == 1) result.array = named(a(rangeOf(ranges[0])));
          if constexpr (N == 2) result.array = named(a(rangeOf(ranges[0]), rangeOf(ranges[1])));
          if constexpr (N == 3)
            result.array = named(a(rangeOf(ranges[0]), rangeOf(ranges[1]), rangeOf(ranges[2])));
        },
        *of.array);
    forEachIndex(result.shape, [&](const std::vector<int>& at) {
      std::vector<int> inside;
      for (std::size_t d = 0; d < at.size(); ++d)
        inside.push_back(ranges[d][0] + at[d] * ranges[d][2]);
      result.cells.push_back(of.cells[linear(of.shape, inside)]);
    });
    return result;
  }

  Seen transposed(const Seen& of) {
    Seen result{nullptr, of.root, {of.shape.rbegin(), of.shape.rend()}, {}, of.words + " T"};
    std::visit([&](const auto& a) { result.array = named(a.transposed()); }, *of.array);
    forEachIndex(result.shape, [&](std::vector<int> at) {
      std::reverse(at.begin(), at.end());
      result.cells.push_back(of.cells[linear(of.shape, at)]);
    });
    return result;
  }

  std::vector<int> shapeOf(std::size_t cells) {
    std::vector<int> shape;
    int rest = static_cast<int>(cells);
    for (int d = below(3); d > 0; --d) {
      std::vector<int> divisors;
      for (int n = 1; n <= rest; ++n)
        if (rest % n == 0) divisors.push_back(n);
      shape.push_back(divisors[static_cast<std::size_t>(below(static_cast<int>(divisors.size())))]);
      rest /= shape.back();
    }
    shape.push_back(rest);
    return shape;
  }

  static std::shared_ptr<const AnyArray> reshapedArray(const AnyArray& of,
                                                       const std::vector<int>& shape) {
    return std::visit(
        [&](const auto& a) {
          if (shape.size() == 1) return named(a.reshaped(shape[0]));
          if (shape.size() == 2) return named(a.reshaped(shape[0], shape[1]));
          return named(a.reshaped(shape[0], shape[1], shape[2]));
        },
        of);
  }

  Seen reshaped(const Seen& of, std::vector<int> shape) {
    for (std::size_t i = 1; i < of.cells.size(); ++i)
      if (of.cells[i] != of.cells[i - 1] + 1) {
        CHECK_THROWS_AS(reshapedArray(*of.array, shape), ShapeError);
        return of;
      }
    std::string words = of.words + " as";
    for (const int extent : shape) words += " " + std::to_string(extent);
    return {reshapedArray(*of.array, shape), of.root, std::move(shape), of.cells, words};
  }

  Seen someView() {
    Seen view = roots_[static_cast<std::size_t>(below(static_cast<int>(roots_.size())))];
    for (int n = below(5); n > 0; --n) {
      const int what = below(3);
      view = what == 0   ? part(view)
             : what == 1 ? transposed(view)
                         : reshaped(view, shapeOf(view.cells.size()));
    }
    return view;
  }

  // Another view of the same shape.
  Seen partnerOf(const Seen& view) {
    const std::size_t cells = view.cells.size();
    for (;;) {
      const Seen& root = roots_[static_cast<std::size_t>(below(static_cast<int>(roots_.size())))];
      Seen flat = reshaped(root, {static_cast<int>(root.cells.size())});
      const int size = static_cast<int>(flat.cells.size());
      if (static_cast<std::size_t>(size) < cells) continue;
      const int first = below(size - static_cast<int>(cells) + 1);
      Seen some{flat.array, flat.root, {static_cast<int>(cells)}, {}, flat.words + " from "};
      some.words += std::to_string(first);
      const auto& vector = std::get<0>(*flat.array);
      const int last = first + static_cast<int>(cells) - 1;
      some.array = named(vector(Range(first, last)));
      some.cells.assign(flat.cells.begin() + first, flat.cells.begin() + last + 1);
      if (below(2) == 0) return reshaped(some, view.shape);
      return transposed(reshaped(some, {view.shape.rbegin(), view.shape.rend()}));
    }
  }

  template <class F>
  static void forEachIndex(const std::vector<int>& shape, F visit) {
    std::vector<int> at(shape.size(), 0);
    for (;;) {
      visit(at);
      std::size_t d = shape.size();
      while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
      if (d == 0) return;
    }
  }
  static std::size_t linear(const std::vector<int>& shape, const std::vector<int>& at) {
    std::size_t position = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      position = position * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(at[d]);
    return position;
  }
  int& valueOf(const Seen& view, std::size_t i) { return values_[view.root][view.cells[i]]; }

  static HostRef<int, 1> at(Array<int, 1>& a, const std::vector<int>& i) { return a(i[0]); }
  static HostRef<int, 2> at(Array<int, 2>& a, const std::vector<int>& i) { return a(i[0], i[1]); }
  static HostRef<int, 3> at(Array<int, 3>& a, const std::vector<int>& i) {
    return a(i[0], i[1], i[2]);
  }

  void writeOnHost(const Seen& view) {
    AnyArray array = *view.array;
    std::size_t i = 0;
    const bool some = below(2) == 0;
    forEachIndex(view.shape, [&](const std::vector<int>& index) {
      const std::size_t cell = i++;
      if (some && below(3) > 0) return;
      const int value = below(1000);
      std::visit([&](auto& a) { at(a, index) = value; }, array);
      valueOf(view, cell) = value;
    });
  }

  void checkReads(const Seen& view) {
    AnyArray array = *view.array;
    std::size_t i = 0;
    std::vector<int> copy(view.cells.size());
    std::visit([&](auto& a) { a.copyTo(copy.data()); }, array);
    forEachIndex(view.shape, [&](const std::vector<int>& index) {
      std::visit([&](auto& a) { REQUIRE(at(a, index).value() == valueOf(view, i)); }, array);
      REQUIRE(copy[i] == valueOf(view, i));
      ++i;
    });
  }

  void fill(const Seen& view) {
    const int value = below(1000);
    AnyArray array = *view.array;
    std::visit([&](auto& a) { a = value; }, array);
    for (std::size_t i = 0; i < view.cells.size(); ++i) valueOf(view, i) = value;
  }

  void assign(const Seen& view) {
    const Seen from = partnerOf(view);
    CAPTURE(from.words);
    AnyArray array = *view.array;
    std::visit([&]<int N>(Array<int, N>& a) { a = std::get<Array<int, N>>(*from.array); }, array);
    std::vector<int> old;
    for (std::size_t i = 0; i < view.cells.size(); ++i) old.push_back(valueOf(from, i));
    for (std::size_t i = 0; i < view.cells.size(); ++i) valueOf(view, i) = old[i];
  }

  void launch(const Seen& view) {
    Seen from = partnerOf(view);
    for (const std::size_t cell : from.cells)
      if (from.root == view.root &&
          std::find(view.cells.begin(), view.cells.end(), cell) != view.cells.end())
        return;
    CAPTURE(from.words);
    const int k = below(10);
    const Device device = isBoxOfPart(view) || isBoxOfPart(from) ? defaultDevice() : someDevice();
    AnyArray array = *view.array;
    if (view.shape.size() == 1)
      eval(add1).device(device)(std::get<0>(array), std::get<0>(*from.array), k);
    if (view.shape.size() == 2)
      eval(add2).device(device)(std::get<1>(array), std::get<1>(*from.array), k);
    if (view.shape.size() == 3)
      eval(add3).device(device)(std::get<2>(array), std::get<2>(*from.array), k);
    for (std::size_t i = 0; i < view.cells.size(); ++i)
      valueOf(view, i) = (valueOf(view, i) + valueOf(from, i) * k +
                          static_cast<int>(i % static_cast<std::size_t>(view.shape.back()))) %
                         1000;
  }

  // A cell in the view or beside it, read and written under HPL_CHECK=bounds; or read by the
  // interpreter, which checks, too.
  void checkBounds(const Seen& view) {
    const hpl_tests::WithSettings checking(
        [](runtime::Settings& settings) { settings.checkBounds = true; });
    AnyArray array = *view.array;
    Array<int, 1> read(1);
    for (int round = 0; round < 3; ++round) {
      const std::array<int, 3> i = {someIndex(view, 0), someIndex(view, 1), someIndex(view, 2)};
      const std::string nothing = "nothing was thrown";
      std::string expected = nothing;
      for (std::size_t d = 0; d < view.shape.size() && expected == nothing; ++d)
        if (i[d] < 0 || i[d] >= view.shape[d])
          expected = "index " + std::to_string(i[d]) + " in dimension " + std::to_string(d + 1) +
                     " (extent " + std::to_string(view.shape[d]) + ")";
      const bool isInterpreted = below(3) == 0;
      CAPTURE(isInterpreted);
      const auto said = [&](auto launched) {
        const std::string message = hpl_tests::messageOf<BoundsError>(launched);
        CAPTURE(message);
        REQUIRE(hpl_tests::contains(message, expected));
      };
      const auto run = [&](auto kernel, auto... arguments) {
        if (isInterpreted) {
          eval(kernel).global(1).interpret(arguments...);
        } else {
          eval(kernel).global(1)(arguments...);
        }
      };
      const int value = below(1000);
      if (view.shape.size() == 1) {
        said([&] { run(read1, read, std::get<0>(array), i[0]); });
        said([&] { run(write1, std::get<0>(array), value, i[0]); });
      }
      if (view.shape.size() == 2) {
        said([&] { run(read2, read, std::get<1>(array), i[0], i[1]); });
        said([&] { run(write2, std::get<1>(array), value, i[0], i[1]); });
      }
      if (view.shape.size() == 3) {
        said([&] { run(read3, read, std::get<2>(array), i[0], i[1], i[2]); });
        said([&] { run(write3, std::get<2>(array), value, i[0], i[1], i[2]); });
      }
      if (expected != nothing) continue;
      int& cell = valueOf(view, linear(view.shape, {i.begin(), i.begin() + view.shape.size()}));
      REQUIRE(read(0).value() == cell);
      cell = value;
    }
    checkReads(view);
  }

  int someIndex(const Seen& view, std::size_t d) {
    if (d >= view.shape.size()) return 0;
    const int extent = view.shape[d];
    const int far = below(12);
    if (far == 0) return -1 - below(3);
    return far == 1 ? extent + below(3) : below(extent);
  }

  // Two steps on all devices, each of which has a part and ghosts, which are exchanged where need
  // be: views are then of arrays that are distributed.
  template <int N>
  void distribute(std::size_t root, void (*kernel)(Array<int, N>, const Array<int, N>&),
                  Array<int, N> next) {
    Array<int, N> a = std::get<Array<int, N>>(*roots_[root].array);
    next = a;
    eval(kernel)(PART1(next, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    eval(kernel)(PART1(a, 1, AUTO_SYNC), PART1(next, 1, AUTO_SYNC));
    const auto rows = static_cast<std::size_t>(roots_[root].shape[0]);
    const std::size_t row = a.size() / rows;
    std::vector<int>& values = values_[root];
    for (int step = 0; step < 2; ++step) {
      const std::vector<int> old = values;
      for (std::size_t i = row; i + row < old.size(); ++i)
        values[i] = (old[i - row] + 2 * old[i + row]) % 1000;
    }
  }

  void checkSums(const Seen& view) {
    long total = 0;
    for (std::size_t i = 0; i < view.cells.size(); ++i) total += valueOf(view, i);
    std::visit([&](const auto& a) { REQUIRE(sum(a).value() == total); }, *view.array);
    if (view.shape.size() != 2) return;
    const auto columns = static_cast<std::size_t>(view.shape[1]);
    Array<int, 1> sums(view.shape[1]);
    eval(sum2)(sums, std::get<1>(*view.array), view.shape[0]);
    for (std::size_t j = 0; j < columns; ++j) {
      int expected = 0;
      for (std::size_t i = j; i < view.cells.size(); i += columns) expected += valueOf(view, i);
      REQUIRE(sums(j).value() == expected);
    }
  }

  // Boxes that overlap on different devices have ghosts, and so other values.
  static bool isBoxOfPart(const Seen& seen) {
    return std::visit(
        [](const auto& a) {
          const memory::View& view = a.anyView();
          return view.map() == nullptr && &view != &view.root().whole();
        },
        *seen.array);
  }

  Device someDevice() {
    const std::vector<Device> all = devices(defaultDevice().type());
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  std::mt19937 random_;
  std::vector<Seen> roots_;
  std::vector<std::vector<int>> values_;
};

}  // namespace

TEST_CASE("random views of views have the cells that lists of cells say") {
  const char* wish = std::getenv("TEST_SEEDS");
  const int seeds = wish != nullptr ? std::atoi(wish) : 4;
  const char* first = std::getenv("RANDOM_SEED");
  const unsigned start = first != nullptr ? static_cast<unsigned>(std::atoi(first)) : 1;
  for (unsigned seed = start; seed < start + static_cast<unsigned>(seeds); ++seed) {
    CAPTURE(seed);
    RandomViews(seed).run(16);
  }
}

}  // namespace random_views_tests

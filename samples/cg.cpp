// SPDX-License-Identifier: Apache-2.0
// The electric potential of some charges in an earthed box or ring, by the method of conjugate
// gradients (Hestenes and Stiefel 1952). The matrix is a stencil on the box, and a sparse matrix in
// compressed rows on the ring. The scalars of the method stay on the device. cg --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"

using namespace hpl;

namespace {

/// A vector: the cells of the box, or one row with the unknowns of the ring.
using Vector = Array<double, 2>;
using Cell = Array<double, 1>;

// q = A p on the box: four times the cell minus its neighbours, which are 0 outside.
void timesStencil(Vector q, const Vector& p) {
  Double sum = 4.0 * p[idy][idx];
  if_(idy > 0) {
    sum -= p[idy - 1][idx];
  }
  if_(idy + 1 < szy) {
    sum -= p[idy + 1][idx];
  }
  if_(idx > 0) {
    sum -= p[idy][idx - 1];
  }
  if_(idx + 1 < szx) {
    sum -= p[idy][idx + 1];
  }
  q[idy][idx] = sum;
}

// q = A p: row i has the values and columns first[i] to first[i + 1] - 1.
void timesRows(Vector q, const Vector& p, const Array<int, 1>& first, const Array<int, 1>& column,
               const Array<double, 1>& value) {
  Double sum = 0.0;
  for_(Int k = first[idx], k < first[idx + 1], k++) {
    sum += value[k] * p[0][column[k]];
  }
  q[0][idx] = sum;
}

// One pass: the new x and r, and the square of r's length.
Double step(Double& x, Double& r, Double p, Double q, Double rr, Double pq) {
  Double alpha = rr / pq;
  x += alpha * p;
  r -= alpha * q;
  return r * r;
}

void turn(Vector p, const Vector& r, const Cell& rr, const Cell& before) {
  p[idy][idx] = r[idy][idx] + rr[0] / before[0] * p[idy][idx];
}

/// Solves A x = b from x = 0; `multiply(q, p)` launches q = A p. Returns the iterations.
template <class Multiply>
int solve(Vector& x, const Vector& b, const Multiply& multiply, const Device& device,
          double tolerance, int most, io::Progress& progress) {
  const std::size_t rows = b.getDimension(0), columns = b.getDimension(1);
  Vector r(rows, columns), p(rows, columns), q(rows, columns);
  Cell rr(1), before(1), pq(1);
  x = 0.0;
  r = b;
  p = b;
  dot(r, r).into(rr);
  const double goal = tolerance * tolerance * rr(0);
  for (int k = 0; k < most; ++k) {
    // The only number that the host ever reads.
    if (k % 16 == 0) {
      progress.update(k);
      if (rr(0) <= goal) return k;
    }
    multiply(q, p);
    dot(p, q).into(pq);
    swap(rr, before);
    sum(step, x, r, p, q, valueIn(before), valueIn(pq)).into(rr);
    eval(turn).device(device)(p, r, rr, before);
  }
  return most;
}

/// The cells of the square that are inside, and their numbers.
struct Region {
  int side;
  std::vector<int> number;
  int count = 0;

  Region(int n, bool isRing) : side(n), number(static_cast<std::size_t>(n) * n, -1) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        const double far = std::hypot(y + 0.5 - 0.5 * n, x + 0.5 - 0.5 * n) / n;
        if (!isRing || (far < 0.5 && far > 0.15)) number[index(y, x)] = count++;
      }
    }
  }
  std::size_t index(int y, int x) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>(x);
  }
  /// -1: outside.
  int at(int y, int x) const {
    return y < 0 || x < 0 || y >= side || x >= side ? -1 : number[index(y, x)];
  }
  /// Calls visit(row, column) for each cell inside and each neighbour inside.
  template <class Visit>
  void forEachEdge(Visit visit) const {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        if (at(y, x) < 0) continue;
        for (const int other : {at(y - 1, x), at(y, x - 1), at(y, x + 1), at(y + 1, x)})
          if (other >= 0) visit(at(y, x), other);
      }
    }
  }
  /// Charges of both signs.
  std::vector<double> charges() const {
    std::vector<double> b(static_cast<std::size_t>(count), 0.0);
    for (int k = 0; k < 6; ++k) {
      const double angle = k * std::numbers::pi / 3;
      const int y = static_cast<int>(side * (0.5 + 0.33 * std::sin(angle)));
      const int x = static_cast<int>(side * (0.5 + 0.33 * std::cos(angle)));
      if (at(y, x) >= 0) b[static_cast<std::size_t>(at(y, x))] = k % 2 == 0 ? 1 : -1;
    }
    return b;
  }
};

/// Length of b - A x by that of b, from the region alone.
double residual(const Region& region, const double* x, const std::vector<double>& b) {
  std::vector<double> r = b;
  for (std::size_t i = 0; i < r.size(); ++i) r[i] -= 4 * x[i];
  region.forEachEdge([&](int row, int column) { r[static_cast<std::size_t>(row)] += x[column]; });
  const auto length = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double value : v) sum += value * value;
    return std::sqrt(sum);
  };
  return length(r) / length(b);
}

/// The region's matrix in compressed rows.
struct Rows {
  std::vector<int> first, column;
  std::vector<double> value;

  explicit Rows(const Region& region) {
    std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(region.count));
    region.forEachEdge(
        [&](int row, int other) { neighbours[static_cast<std::size_t>(row)].push_back(other); });
    first.push_back(0);
    for (std::size_t row = 0; row < neighbours.size(); ++row) {
      column.push_back(static_cast<int>(row));
      value.push_back(4);
      for (const int other : neighbours[row]) {
        column.push_back(other);
        value.push_back(-1);
      }
      first.push_back(static_cast<int>(column.size()));
    }
  }
};

template <class T>
Array<T, 1> arrayOf(const std::vector<T>& values) {
  Array<T, 1> array(values.size());
  array.copyFrom(values.data());
  return array;
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 384, most = 20000;
  double tolerance = 1e-10;
  bool isRing = false, check = false, noProgress = false;
  std::string png, device;
  CLI::App app("The potential of charges by conjugate gradients, on an OpenCL device.", "cg");
  app.add_option("--size", side, "cells of a side")
      ->check(CLI::Range(8, 4096))
      ->capture_default_str();
  app.add_flag("--ring", isRing, "a ring, whose matrix is sparse, instead of a box");
  app.add_option("-n,--iterations", most, "at most")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--tolerance", tolerance, "length of the residual by that of the right side")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(1e-14, 0.1))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--png", png, "write a picture of the potential")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compute the residual on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  const Device chosen = samples::chooseDevice(device);
  const Region region(side, isRing);
  const std::vector<double> charges = region.charges();
  Vector b(isRing ? 1 : side, isRing ? region.count : side);
  Vector x(b.getDimension(0), b.getDimension(1));
  b.copyFrom(charges.data());
  const Rows rows(region);
  const Array<int, 1> first = arrayOf(rows.first), column = arrayOf(rows.column);
  const Array<double, 1> value = arrayOf(rows.value);
  io::Progress progress(most, "iterations at most",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  const auto multiply = [&](Vector& q, const Vector& p) {
    if (isRing) {
      eval(timesRows).device(chosen).global(of(q))(q, p, first, column, value);
    } else {
      eval(timesStencil).device(chosen)(q, p);
    }
  };
  const auto started = std::chrono::steady_clock::now();
  const int taken = solve(x, b, multiply, chosen, tolerance, most, progress);
  const double* result = x.data(HPL_RD);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%d iterations for %d unknowns in %.2f s\n", taken, region.count, seconds);
  if (!png.empty()) {
    Array<float, 2> potential(side, side);
    for (int y = 0; y < side; ++y)
      for (int i = 0; i < side; ++i)
        potential(y, i) =
            region.at(y, i) < 0 ? std::nanf("") : static_cast<float>(result[region.at(y, i)]);
    io::ColorScale scale(io::coolwarm());
    io::writePng(png, potential,
                 scale.range(-0.4, 0.4).nan({40, 40, 40}).zoom(std::max(1, 512 / side)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  const double left = residual(region, result, charges);
  // The residual that the method goes by drifts away from the true one by rounding errors.
  const bool isRight = left <= 2 * tolerance + 1e-12 && taken < most;
  std::printf("check: %s, the residual is %.2g\n", isRight ? "solved" : "not solved", left);
  return isRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cg: %s\n", error.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

/// Rows of the table that perf/peers.sh prints: the library beside other ways to compute the same.
namespace perf::peers {

/// A way to compute a row's result.
struct Contender {
  /// That of the first contender of a row is "HPL".
  std::string name;
  /// Computes the result once, and waits for it.
  std::function<void()> run;
  /// A number that depends on all of the result, in which all contenders of a row agree; null where
  /// this one computes something else. The first contender has one.
  std::function<double()> checksum;
};

struct Row {
  std::string name;
  /// At most this many times the time of the best of the others.
  double goal = 1;
  std::vector<Contender> contenders;
};

/// Makes a row when it is measured: arrays are large.
using MakeRow = std::function<Row()>;

struct NamedRow {
  std::string name;
  MakeRow make;
};

std::vector<NamedRow> pointRows();
std::vector<NamedRow> pictureRows();
std::vector<NamedRow> ringRows();
std::vector<NamedRow> loopRows();
std::vector<NamedRow> gridRows();
std::vector<NamedRow> acousticRows();
std::vector<NamedRow> solverRows();
std::vector<NamedRow> tiledRows();
std::vector<NamedRow> maskRows();
std::vector<NamedRow> streamRows();
std::vector<NamedRow> matrixRows();
std::vector<NamedRow> edgeRows();

}  // namespace perf::peers

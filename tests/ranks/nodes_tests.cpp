// SPDX-License-Identifier: Apache-2.0
// What the library divides by itself among ranks of several nodes: ranks 0 and 1 are on the first
// node, 2 and 3 on the second one.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>

#include "hpl/runtime/settings.h"
#include "program_on_ranks.h"
#include "tests/messages.h"

namespace nodes_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

using Cube = Array<int, 3>;

void sevenPoint(Cube out, const Cube& in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy && idz > 0 && idz + 1 < szz) {
    out[idz][idy][idx] = in[idz - 1][idy][idx] + 3 * in[idz + 1][idy][idx] +
                         5 * in[idz][idy - 1][idx] + 7 * in[idz][idy + 1][idx] +
                         11 * in[idz][idy][idx - 1] + 13 * in[idz][idy][idx + 1];
  }
}

/// A number that tells arrays with different cells apart.
template <class A>
std::string digestOf(const A& array) {
  std::uint64_t digest = 14695981039346656037U;
  std::vector<int> values(array.size());
  array.copyTo(values.data());
  for (const int value : values) digest = (digest ^ static_cast<unsigned>(value)) * 1099511628211U;
  return std::to_string(digest) + " ";
}

/// Steps of two kernels that take turns, of arrays that the library divides by itself.
std::string steps(unsigned seed) {
  std::mt19937 random(seed);
  const auto size = [&](unsigned least) { return std::size_t{least + random() % 40}; };
  const auto count = static_cast<int>(getDeviceNumber());
  std::vector<double> weights;
  // As many numbers for any number of devices.
  const unsigned first = 1 + random() % 4;
  if (random() % 2 == 0)
    for (int device = 0; device < count; ++device)
      weights.push_back(1.0 + (static_cast<unsigned>(device) + first) % 3);
  const std::size_t rows = size(24), columns = size(24), planes = size(9), side = size(12);
  Grid a(rows, columns), b(rows, columns);
  Cube c(planes, side, columns), d(planes, side, columns);
  setCells(a, seed);
  setCells(b, seed + 1);
  setCells(c, seed + 2);
  setCells(d, seed + 3);
  for (int step = 0; step < 6; ++step) {
    if (weights.empty()) {
      eval(ninePoint).devices(count)(b, a);
      eval(sevenPoint).devices(count)(d, c);
    } else {
      eval(ninePoint).devices(count).weights(weights)(b, a);
      eval(sevenPoint).devices(count).weights(weights)(d, c);
    }
    swap(a, b);
    swap(c, d);
  }
  return digestOf(a) + digestOf(b) + digestOf(c) + digestOf(d);
}

/// One step, and what explain says of it.
std::string explained(const std::function<std::string()>& program, int ranks, int each) {
  const std::string file = fmt::format("/tmp/hpl_nodes_test_{}", getpid());
  const std::string said = saidOn(ranks, each, [&] {
    const int log = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, 2);
    close(log);
    runtime::Settings explaining = runtime::settings();
    explaining.explain = true;
    runtime::overrideSettings(explaining);
    return program();
  });
  std::ifstream log(file);
  const std::string text((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
  std::remove(file.c_str());
  return text;
}

}  // namespace

TEST_CASE("programs that the library divides among nodes compute what one process computes") {
  std::random_device entropy;
  for (int round = 0; round < 3; ++round) {
    const unsigned seed = entropy();
    CAPTURE(seed);
    const std::string expected = saidOn(1, 1, [&] { return steps(seed); });
    // Equal nodes, nodes of two ranks and of one, and of more devices.
    CHECK(saidOn(4, 1, [&] { return steps(seed); }) == expected);
    CHECK(saidOn(4, 2, [&] { return steps(seed); }) == expected);
    CHECK(saidOn(3, 2, [&] { return steps(seed); }) == expected);
  }
}

TEST_CASE("explain says how nodes divide a domain, and what passes between them") {
  const auto step = [] {
    Grid a(64, 4096), b(64, 4096);
    setCells(a, 1);
    setCells(b, 2);
    eval(ninePoint).devices(static_cast<int>(getDeviceNumber()))(b, a);
    return std::to_string(b(5, 5).value());
  };
  const std::string text = explained(step, 4, 1);
  CAPTURE(text);
  // Rows of 64 cells pass between the nodes, not those of 4096.
  CHECK(contains(text, "kernel 'ninePoint' on 4 devices: nodes 1 x 2, devices of each 1 x 2"));
  CHECK(contains(text, "between nodes)"));
}

TEST_CASE("a list of devices in an order of the program's own is kept") {
  const auto step = [] {
    Grid a(64, 4096), b(64, 4096);
    setCells(a, 1);
    setCells(b, 2);
    const std::vector<Device> all = devices();
    eval(ninePoint).devices({all[2], all[0], all[3], all[1]})(b, a);
    return std::to_string(b(5, 5).value());
  };
  const std::string text = explained(step, 4, 1);
  CAPTURE(text);
  CHECK(contains(text, "kernel 'ninePoint' on 4 devices: bands of idy, "));
  CHECK_FALSE(contains(text, "nodes 1 x 2"));
}

}  // namespace nodes_tests

// SPDX-License-Identifier: Apache-2.0
#include "program_on_ranks.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <utility>

#include "hpl/ranks/window.h"
#include "hpl/ranks/world.h"
#include "hpl/runtime/global_list.h"
#include "nodes_fabric.h"
#include "tests/device_type.h"

namespace ranks_tests {

using namespace hpl;

namespace {

runtime::GlobalList listOf(const runtime::Inventory& inventory, const Listed& listed) {
  const std::string name = fmt::format("{}:0*{}", hpl_tests::deviceType(), listed.each);
  const auto open = [&](int rank) {
    auto states = runtime::selectDevices(inventory, runtime::parseDeviceList(name));
    const int node = listed.byTurns ? rank % 2 : rank / listed.perNode;
    return runtime::listOwn(std::move(states), rank, node, fmt::format("n{}", node));
  };
  runtime::GlobalList list;
  list.rank = listed.me;
  list.ranks = listed.ranks;
  for (int rank = 0; rank < listed.ranks; ++rank) {
    if (rank == listed.without) continue;
    for (runtime::ListedDevice& device : open(rank)) {
      if (rank != listed.me) device.own.reset();
      list.devices.push_back(std::move(device));
    }
  }
  return list;
}

}  // namespace

void listDevices(const Listed& listed) {
  runtime::listDevicesBy(
      [listed](const runtime::Inventory& inventory) { return listOf(inventory, listed); });
  // As a session does.
  static_cast<void>(getDeviceNumber());
}

namespace {

std::string saidBy(const Listed& all, const std::function<std::string()>& program,
                   const hpl_tests::WrapFabric& wrap) {
  const int ranks = all.ranks;
  const int each = all.each;
  const auto reports = hpl_tests::inWorlds(
      ranks,
      [&] {
        Listed listed = all;
        listed.me = ranks::world()->rank();
        listDevices(listed);
        return program();
      },
      wrap);
  std::string thrown;
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    INFO("rank " << rank << " of " << ranks << " with " << each << " devices");
    CHECK(reports[rank].thrown == "");
    CHECK(reports[rank].status == 0);
    CHECK(reports[rank].said == reports.front().said);
    thrown += reports[rank].thrown;
  }
  return thrown.empty() ? reports.front().said : thrown;
}

}  // namespace

std::string saidOn(int ranks, int each, const std::function<std::string()>& program,
                   const hpl_tests::WrapFabric& wrap) {
  return saidBy({ranks, each}, program, wrap);
}

std::string saidOnNodes(int ranks, int each, int perNode,
                        const std::function<std::string()>& program) {
  Listed listed{ranks, each};
  listed.perNode = perNode;
  const auto memory =
      hpl_tests::memoryOfNodes((ranks + perNode - 1) / perNode, ranks::Window::bytesFor(perNode));
  return saidBy(listed, program, [perNode, memory](std::unique_ptr<ranks::Fabric> inner) {
    return std::make_unique<hpl_tests::NodesFabric>(std::move(inner), perNode, memory);
  });
}

void expectAsOnOne(const std::function<std::string()>& program) {
  const std::string expected = saidOn(1, 1, program);
  for (const auto& [ranks, each] :
       {std::pair(1, 2), std::pair(2, 1), std::pair(2, 2), std::pair(3, 1), std::pair(4, 1)}) {
    INFO(ranks << " ranks with " << each << " devices");
    CHECK(saidOn(ranks, each, program) == expected);
  }
}

std::string dividedSteps(void (*kernel)(Grid out, const Grid& in), unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t rows = 24 + random() % 40, columns = 24 + random() % 40;
  Grid a(rows, columns), b(rows, columns);
  setCells(a, seed);
  setCells(b, seed + 1);
  for (int step = 0; step < 6; ++step) {
    eval(kernel).devices(static_cast<int>(getDeviceNumber()))(b, a);
    swap(a, b);
  }
  return cellsOf(a);
}

void ninePoint(Grid out, const Grid& in) {
  if_(idx > 1 && idx + 2 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy - 1][idx - 1] + 3 * in[idy - 1][idx + 1] + in[idy + 1][idx - 2] +
                    5 * in[idy + 1][idx + 2] + in[idy][idx];
  }
}

void threePoint(Numbers out, Numbers in) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idx] = in[idx - 1] + 2 * in[idx] - in[idx + 1];
  }
}

void fivePoint(Grid out, Grid in) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    out[idy][idx] = in[idy][idx] + 2 * in[idy - 1][idx] + 3 * in[idy + 1][idx] -
                    5 * in[idy][idx - 1] + 7 * in[idy][idx + 1];
  }
}

void increment(Numbers a) { a[idx] += 1; }

}  // namespace ranks_tests

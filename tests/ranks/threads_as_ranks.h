// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hpl/ranks/courier.h"
#include "hpl/ranks/detail/forked.h"

namespace hpl_tests {

/// Fabrics of one process, one for each rank, over one arena: what forked ranks have, without fork.
inline std::unique_ptr<hpl::ranks::Fabric> fabricOf(std::shared_ptr<hpl::ranks::Arena> arena,
                                                    int rank) {
  hpl::ranks::Seat seat;
  seat.lifelines.resize(static_cast<std::size_t>(arena->ranks()));
  seat.arena = std::move(arena);
  seat.rank = rank;
  return std::make_unique<hpl::ranks::ForkedFabric>(std::move(seat));
}

using WrapFabric =
    std::function<std::unique_ptr<hpl::ranks::Fabric>(std::unique_ptr<hpl::ranks::Fabric>)>;

/// Runs `body` on a thread for each rank, with a courier each, and returns what each has thrown;
/// empty: nothing.
inline std::vector<std::string> onThreads(
    int ranks, const std::function<void(hpl::ranks::Courier&)>& body, const WrapFabric& wrap = {},
    hpl::ranks::Waiting waiting = hpl::ranks::Waiting::Sleep) {
  const auto arena = std::make_shared<hpl::ranks::Arena>(ranks);
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        hpl::ranks::Courier courier(
            [&] {
              auto fabric = fabricOf(arena, rank);
              return wrap ? wrap(std::move(fabric)) : std::move(fabric);
            },
            waiting);
        body(courier);
      } catch (const std::exception& error) {
        thrown[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace hpl_tests

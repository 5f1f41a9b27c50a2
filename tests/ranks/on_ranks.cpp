// SPDX-License-Identifier: Apache-2.0
#include "tests/ranks/on_ranks.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "hpl/ranks/detail/family.h"
#include "hpl/ranks/world.h"

namespace hpl_tests {
namespace {

using hpl::ranks::Courier;

struct Page {
  std::array<char, 1 << 20> said;
  std::array<char, 8000> thrown;
  double milliseconds;
};

/// Memory that the ranks and the test share.
class Pages {
 public:
  explicit Pages(int ranks)
      : bytes_(sizeof(Page) * static_cast<std::size_t>(ranks)),
        pages_(static_cast<Page*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (pages_ == MAP_FAILED) std::abort();
  }
  ~Pages() { munmap(pages_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  Page& of(int rank) { return pages_[rank]; }

 private:
  std::size_t bytes_;
  Page* pages_;
};

template <std::size_t N>
void write(std::array<char, N>& to, const std::string& text) {
  // Text that is cut off would not be compared.
  if (text.size() >= N) std::abort();
  std::memcpy(to.data(), text.data(), text.size());
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Runs in a forked rank. `run` makes the courier, and calls back when all ranks are there.
using Run = std::function<std::string(const Courier::MakeFabric&, const std::function<void()>&)>;

[[noreturn]] void endAs(hpl::ranks::Seat seat, Page& page, const Run& run, const WrapFabric& wrap) {
  auto begin = std::chrono::steady_clock::now();
  const auto make = [&] {
    std::unique_ptr<hpl::ranks::Fabric> fabric =
        std::make_unique<hpl::ranks::ForkedFabric>(std::move(seat));
    return wrap ? wrap(std::move(fabric)) : std::move(fabric);
  };
  try {
    write(page.said, run(make, [&] { begin = std::chrono::steady_clock::now(); }));
  } catch (const std::exception& error) {
    write(page.thrown, error.what());
  }
  page.milliseconds = since(begin);
  std::exit(0);
}

std::vector<RankReport> forked(int ranks, const Run& run, const WrapFabric& wrap) {
  Pages pages(ranks);
  hpl::ranks::Seat seat;
  hpl::ranks::Family family;
  if (hpl::ranks::forkRanks(ranks, seat, family)) {
    const int rank = seat.rank;
    endAs(std::move(seat), pages.of(rank), run, wrap);
  }
  const std::vector<int> statuses = hpl::ranks::watch(family);
  std::vector<RankReport> reports;
  for (int rank = 0; rank < ranks; ++rank) {
    const Page& page = pages.of(rank);
    reports.push_back({page.said.data(), page.thrown.data(), page.milliseconds,
                       statuses[static_cast<std::size_t>(rank)]});
  }
  return reports;
}

}  // namespace

std::vector<RankReport> onRanks(int ranks, const std::function<std::string(Courier&)>& body,
                                const WrapFabric& wrap) {
  return forked(
      ranks,
      [&](const Courier::MakeFabric& make, const std::function<void()>& begins) {
        Courier courier(make, hpl::ranks::Waiting::Sleep);
        courier.allAgree(true);
        begins();
        return body(courier);
      },
      wrap);
}

std::vector<RankReport> inWorlds(int ranks, const std::function<std::string()>& body,
                                 const WrapFabric& wrap) {
  return forked(
      ranks,
      [&](const Courier::MakeFabric& make, const std::function<void()>& begins) {
        auto courier = std::make_unique<Courier>(make, hpl::ranks::Waiting::Sleep);
        hpl::ranks::World& world = hpl::ranks::enterWorld(std::move(courier));
        begins();
        try {
          std::string said = body();
          world.leave(hpl::ranks::World::End::Session);
          return said;
        } catch (...) {
          world.leave(hpl::ranks::World::End::Exception);
          throw;
        }
      },
      wrap);
}

}  // namespace hpl_tests

// SPDX-License-Identifier: Apache-2.0
// The five applications of the stencil paper on all devices there are (HPL_DEVICES), in host styles
// and with ghosts of several widths that are compared with each other. All runs are in one process,
// which has compiled its kernels and whose memory has been used before; every round makes one run
// of each kind, one directly after the other and in an order that turns from round to round.
// applications.py calls this program for the figures.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>

#include "applications/applications.h"
#include "hpl/hpl.h"
#include "pairs.h"

using perf::Application;
using samples::Style;

namespace {

/// One kind of run.
struct Contender {
  const char* style;
  Style of;
  int ghostWidth;
};

/// What the paper's figures call the styles.
const std::map<std::string, Contender> kStyles = {
    {"subarrays", {"subarrays", Style::Subarrays, 0}},
    {"annotations", {"annotations", Style::Annotations, 0}},
    {"sync", {"syncGhosts", Style::Sync, 0}},
    {"auto", {"automatic", Style::Auto, 0}},
};

std::size_t deviceCount() { return hpl::devices(hpl::defaultDevice().type()).size(); }

/// The contenders take turns; from round to round another one begins, and every second round goes
/// backwards, so that nobody always follows the same one.
std::vector<std::size_t> orderOf(std::size_t round, std::size_t count) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) order.push_back((i + round / 2) % count);
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

void measure(const Application& application, const std::vector<Contender>& contenders, int rounds,
             std::FILE* out, const std::string& figure) {
  for (const Contender& contender : contenders) application.run(contender.of, contender.ghostWidth);
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
    for (const std::size_t i : orderOf(round, contenders.size())) {
      const Contender& contender = contenders[i];
      const double seconds =
          perf::secondsOf([&] { application.run(contender.of, contender.ghostWidth); }, {});
      std::fprintf(out, "%s,%s,%zu,%s,%d,%s-%zu,%.6f\n", figure.c_str(), application.name.c_str(),
                   deviceCount(), contender.style, contender.ghostWidth, application.name.c_str(),
                   round, seconds);
    }
    std::fflush(out);
  }
}

/// Whether all contenders come to the same cells.
bool agree(const Application& application, const std::vector<Contender>& contenders) {
  std::optional<perf::Bytes> first;
  for (const Contender& contender : contenders) {
    perf::Bytes cells = application.run(contender.of, contender.ghostWidth);
    if (!first)
      first = std::move(cells);
    else if (cells != *first) {
      std::fprintf(stderr, "%s: %s with ghosts of width %d gives something else than %s\n",
                   application.name.c_str(), contender.style, contender.ghostWidth,
                   contenders.front().style);
      return false;
    }
  }
  std::printf("%s: %zu contenders agree\n", application.name.c_str(), contenders.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Times applications in host styles, as CSV on the output.");
  std::string name, figure = "none";
  std::vector<std::string> styles{"subarrays", "annotations", "sync"};
  std::vector<int> widths{0};
  int rounds = 21;
  bool check = false;
  app.add_option("--application", name, "canny, gauss, jacobi3d, life or shwa; default: all");
  app.add_option("--styles", styles, "subarrays, annotations, sync, auto")
      ->delimiter(',')
      ->check(CLI::IsMember(kStyles));
  app.add_option("--widths", widths, "of the ghosts; 0: as narrow as possible")->delimiter(',');
  app.add_option("--rounds", rounds, "of one run of each style and width");
  app.add_option("--figure", figure, "what the first column says");
  app.add_flag("--check", check, "small sizes, results compared, nothing measured");
  app.add_flag("--processor-time", perf::processorTime,
               "time that all threads had processors for; leaves out what is waited");
  CLI11_PARSE(app, argc, argv);

  std::vector<Contender> contenders;
  for (const std::string& style : styles) {
    for (const int width : widths) {
      contenders.push_back(kStyles.at(style));
      contenders.back().ghostWidth = width;
    }
  }
  bool known = false, same = true;
  for (const Application& application : perf::applications(check)) {
    if (!name.empty() && application.name != name) continue;
    known = true;
    if (check) {
      same = agree(application, contenders) && same;
    } else {
      measure(application, contenders, rounds, stdout, figure);
    }
  }
  if (!known) throw std::invalid_argument("--application " + name + ": there is none of that name");
  return same ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hpl_applications_bench: %s\n", error.what());
  return 1;
}

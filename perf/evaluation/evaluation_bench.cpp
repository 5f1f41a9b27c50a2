// SPDX-License-Identifier: Apache-2.0
// The five applications of the stencil paper on all devices there are (HPL_DEVICES), in host styles
// and with ghosts of several widths that are compared with each other. All runs are in one process,
// which has compiled its kernels and whose memory has been used before; every round makes one run
// of each kind, one directly after the other and in an order that turns from round to round.
// evaluation.py calls this program for the figures.
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "pairs.h"
#include "perf/evaluation/applications.h"
#include "samples/common/session.h"

using evaluation::Application;
using evaluation::Style;
using evaluation::Way;

namespace {

/// The name of the style in the paper's figures.
std::string figureName(Style style) {
  if (style == Style::Sync) return "syncGhosts";
  if (style == Style::Auto) return "automatic";
  return evaluation::styleName(style);
}

std::size_t deviceCount() { return hpl::devices(hpl::defaultDevice().type()).size(); }

/// The contenders take turns; from round to round another one begins, and every second round goes
/// backwards, so that no contender always follows the same one.
std::vector<std::size_t> orderOf(std::size_t round, std::size_t count) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i) order.push_back((i + round / 2) % count);
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

/// One kind of run, on devices with these weights.
struct Comparison {
  std::vector<Way> contenders;
  std::vector<double> weights;
};

void measure(const Application& application, const Comparison& comparison, int rounds,
             std::FILE* out, const std::string& figure) {
  const auto& [contenders, weights] = comparison;
  for (const Way& way : contenders) application.run(way, weights);
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
    for (const std::size_t i : orderOf(round, contenders.size())) {
      const Way& way = contenders[i];
      const double seconds = perf::secondsOf([&] { application.run(way, weights); }, {});
      std::fprintf(out, "%s,%s,%zu,%s,%d,%s-%zu,%.6f\n", figure.c_str(), application.name.c_str(),
                   deviceCount(), figureName(way.style).c_str(), way.ghostWidth,
                   application.name.c_str(), round, seconds);
    }
    std::fflush(out);
  }
}

/// Whether all contenders come to the same cells; prints a hash of them.
bool agree(const Application& application, const Comparison& comparison) {
  std::optional<evaluation::Bytes> first;
  for (const Way& way : comparison.contenders) {
    evaluation::Bytes cells = application.run(way, comparison.weights);
    if (!first)
      first = std::move(cells);
    else if (cells != *first) {
      std::fprintf(stderr, "%s: %s with ghosts of width %d gives something else than %s\n",
                   application.name.c_str(), styleName(way.style), way.ghostWidth,
                   styleName(comparison.contenders.front().style));
      return false;
    }
  }
  std::printf("%s: all agree, hash of the cells %016llx\n", application.name.c_str(),
              static_cast<unsigned long long>(XXH3_64bits(first->data(), first->size())));
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Times applications in host styles, as CSV on the output.");
  std::string name, figure = "none";
  std::vector<std::string> styles{"subarrays", "annotations", "sync"};
  std::vector<int> widths{0};
  Comparison comparison;
  int rounds = 21;
  bool check = false;
  app.add_option("--application", name, "canny, gauss, jacobi3d, life or shwa; default: all");
  app.add_option("--styles", styles,
                 "single, subarrays, annotations, sync, auto, stencil, template")
      ->delimiter(',');
  app.add_option("--widths", widths, "of the ghosts; 0: as narrow as possible")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber);
  app.add_option("--weights", comparison.weights, "of the devices; default: equal shares")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", rounds, "of one run of each style and width")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--figure", figure, "what the first column says");
  app.add_flag("--check", check, "small sizes, results compared, nothing measured");
  app.add_flag("--processor-time", perf::processorTime,
               "time that all threads had processors for; leaves out what is waited");
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);

  for (const std::string& style : styles) {
    for (const int width : widths)
      comparison.contenders.push_back({evaluation::styleOf(style), width});
  }
  bool known = false, same = true;
  for (const Application& application : evaluation::applications(check)) {
    if (!name.empty() && application.name != name) continue;
    known = true;
    if (check) {
      same = agree(application, comparison) && same;
    } else {
      measure(application, comparison, rounds, stdout, figure);
    }
  }
  if (!known) throw std::invalid_argument("--application " + name + ": there is none of that name");
  return same ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hpl_evaluation_bench: %s\n", error.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// Prints the ranks, nodes and devices that a program started like this one has, the paths and links
// between them, and where the blocks of a domain would go: mpirun -n 4 hpl_topology --domain 1440x1452x700
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "hpl/error.h"
#include "hpl/ranks/placement_report.h"
#include "hpl/ranks/topology.h"
#include "hpl/ranks/world.h"

#ifdef HPL_TOOL_WITH_MPI
#include "hpl/mpi.h"
using Session = hpl::mpi::Session;
#else
#include "hpl/ranks/session.h"
using Session = hpl::ranks::Session;
#endif

namespace {

using hpl::geometry::Extents;
using hpl::geometry::Index;
using hpl::geometry::PartitionProblem;

struct Question {
  std::string domain;
  Index halo = 1;
  Index fields = 1;
  Index bytes = 4;
  bool periodic = false;
  bool measures = false;
};

/// "1440x1452x700".
Extents extentsOf(const std::string& text) {
  constexpr int kMostDims = 3;
  Extents extents;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string number = text.substr(begin, end - begin);
    const bool isNumber = !number.empty() && number.size() <= 15 &&
                          number.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber || std::stoll(number) < 1 || extents.rank() == kMostDims)
      throw hpl::ArgumentError("--domain " + text +
                               ": one to three numbers of cells joined by x, as in 1440x1452x700");
    extents.append(std::stoll(number));
    begin = end + 1;
  }
  return extents;
}

PartitionProblem problemOf(const Question& question) {
  PartitionProblem problem;
  problem.domain = extentsOf(question.domain);
  const int rank = problem.domain.rank();
  if (question.periodic) problem.periodic.assign(static_cast<std::size_t>(rank), true);
  const Extents halo = Extents::filled(rank, question.halo);
  problem.fields.assign(static_cast<std::size_t>(question.fields), {halo, halo, question.bytes});
  return problem;
}

void print(int argc, char** argv, const Question& question) {
  std::optional<PartitionProblem> problem;
  if (!question.domain.empty()) problem = problemOf(question);
  const Session session(argc, argv);
  hpl::ranks::World& world = *hpl::ranks::world();
  if (session.rank() == 0) {
    std::fputs(hpl::ranks::describeTopology(world).c_str(), stdout);
    std::fputs(hpl::ranks::describeNodeLinks().c_str(), stdout);
  }
  if (question.measures) {
    if (session.rank() == 0) std::fputs(hpl::ranks::measureOwnLinks().c_str(), stdout);
    if (session.size() > 1) {
      const auto links = hpl::ranks::measureLinks(world);
      if (session.rank() == 0) std::printf("\n%s", hpl::ranks::describeLinks(world, links).c_str());
    }
  }
  if (problem) {
    const std::string report = hpl::ranks::describePlacement(*problem);
    if (session.rank() == 0) std::printf("\n%s", report.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Prints ranks, nodes and devices, and how cells pass between devices. Start it as your program: "
      "with mpirun, or with HPL_RANKS=n; HPL_DEVICES and HPL_TOPOLOGY count.",
      "hpl_topology");
  Question question;
  app.add_flag("--measure", question.measures,
               "also copies between the devices of rank 0, and sends messages between every two "
               "ranks, and prints how fast they are");
  app.add_option("--domain", question.domain,
                 "also divides a domain, 1440x1452x700 (the slowest dimension first), and places its "
                 "blocks");
  app.add_option("--halo", question.halo, "cells that a block of the domain reads around itself")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  app.add_option("--fields", question.fields, "arrays of the domain that are exchanged")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--bytes", question.bytes, "bytes of a cell")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("--periodic", question.periodic, "the ends of the domain are neighbours");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    print(argc, argv, question);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hpl_topology: %s\n", error.what());
    return 1;
  }
  return 0;
}

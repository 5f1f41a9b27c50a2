// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/agreement.h"

#include <doctest/doctest.h>

#include <vector>

namespace agreement_tests {

using hpl::ranks::disagreement;
using hpl::ranks::Terms;
using hpl::ranks::termsOf;
using hpl::runtime::Settings;

namespace {

Terms termsWith(void (*change)(Settings&)) {
  Settings settings;
  change(settings);
  return termsOf(settings);
}

}  // namespace

TEST_CASE("ranks with equal settings agree, whatever is local to them") {
  const Terms plain = termsOf(Settings{});
  const Terms local = termsWith([](Settings& s) {
    s.devices = "cpu:0*2";
    s.trace = "trace.json";
    s.deviceMemory = 1 << 20;
  });
  CHECK(disagreement(std::vector<Terms>{plain, local}).empty());
  CHECK(disagreement(std::vector<Terms>{plain}).empty());
  CHECK(disagreement({}).empty());
}

TEST_CASE("a setting that shapes plans and differs is named with its values and ranks") {
  const Terms plain = termsOf(Settings{});
  const Terms strict = termsWith([](Settings& s) { s.fp = hpl::STRICT; });
  CHECK(
      disagreement(std::vector<Terms>{plain, strict, plain}) ==
      "HPL_FP is not the same on all ranks: \"default\" on ranks 0, 2, \"strict\" on rank 1. Every "
      "rank plans the work of all, so give all of them the same value (mpirun -x HPL_FP)");
}

TEST_CASE("each setting that shapes plans counts") {
  const Terms plain = termsOf(Settings{});
  const std::vector<std::pair<const char*, Terms>> others{
      {"HPL_CHECK", termsWith([](Settings& s) { s.checkGhosts = true; })},
      {"HPL_CHECK", termsWith([](Settings& s) { s.checkBounds = true; })},
      {"HPL_GROUPS_WAIT",
       termsWith([](Settings& s) { s.groupsWait = hpl::runtime::GroupsWait::All; })},
      {"HPL_PATIENCE", termsWith([](Settings& s) { s.patience = 7; })},
      {"HPL_OVERLAP", termsWith([](Settings& s) { s.overlap = hpl::runtime::Overlap::Off; })},
      {"HPL_STRATEGY", termsWith([](Settings& s) { s.persistent = true; })},
      {"HPL_STRATEGY", termsWith([](Settings& s) { s.strategy = hpl::runtime::Strategy::Tile; })},
      {"HPL_TRANSPORT",
       termsWith([](Settings& s) { s.transport.window = hpl::runtime::Use::Never; })},
      {"HPL_TRANSPORT",
       termsWith([](Settings& s) { s.transport.self = hpl::runtime::Use::Never; })},
      {"HPL_MESSAGES", termsWith([](Settings& s) { s.messages = hpl::runtime::Messages::Fields; })},
      {"HPL_PLACEMENT",
       termsWith([](Settings& s) { s.placement = hpl::runtime::PlaceBlocks::Off; })},
      {"HPL_TUNE", termsWith([](Settings& s) { s.tune = hpl::runtime::TuneMode::Full; })}};
  for (const auto& [name, terms] : others)
    CHECK(disagreement(std::vector<Terms>{plain, terms}).starts_with(name));
}

TEST_CASE("libraries of different versions do not work together") {
  Terms older = termsOf(Settings{});
  older[0].second = "0.0.9";
  const std::string message = disagreement(std::vector<Terms>{termsOf(Settings{}), older});
  CHECK(message.starts_with("The version of HPL is not the same on all ranks"));
  CHECK(message.find("Start the same program on all nodes") != std::string::npos);
}

TEST_CASE("terms survive being a message") {
  const Terms terms{{"HPL_A", "on"}, {"HPL_B", ""}, {"HPL_C", "a b"}};
  CHECK(hpl::ranks::unpackTerms(hpl::ranks::pack(terms)) == terms);
  CHECK(hpl::ranks::unpackTerms("").empty());
}

}  // namespace agreement_tests

// SPDX-License-Identifier: Apache-2.0
#include "samples/common/life_rule.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace life_rule_tests {

using namespace samples;

namespace {

unsigned counts(std::initializer_list<int> list) {
  unsigned mask = 0;
  for (int n : list) mask |= 1u << n;
  return mask;
}

}  // namespace

TEST_CASE("a rule is read in every spelling that pattern files use") {
  struct Case {
    const char* text;
    unsigned birth;
    unsigned survive;
  };
  const Case cases[] = {
      {"B3/S23", counts({3}), counts({2, 3})},
      {"b3/s23", counts({3}), counts({2, 3})},
      {"B3S23", counts({3}), counts({2, 3})},
      {"S23/B3", counts({3}), counts({2, 3})},
      {" B3 / S23 ", counts({3}), counts({2, 3})},
      {"23/3", counts({3}), counts({2, 3})},
      {"23/36", counts({3, 6}), counts({2, 3})},
      {"Life", counts({3}), counts({2, 3})},
      {"B2/S", counts({2}), 0},
      {"/2", counts({2}), 0},
      {"B/S012345678", 0, 0x1ff},
      {"B0123478/S34678", counts({0, 1, 2, 3, 4, 7, 8}), counts({3, 4, 6, 7, 8})},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const LifeRule rule = parseRule(c.text);
    CHECK(rule.birth == c.birth);
    CHECK(rule.survive == c.survive);
    CHECK(rule.board.kind == Board::Kind::Unspecified);
    CHECK(parseRule(ruleText(rule)) == rule);
  }
}

TEST_CASE("a rule names its board") {
  CHECK(parseRule("B3/S23:T100,200").board == Board{Board::Kind::Torus, 100, 200});
  CHECK(parseRule("23/3:t30").board == Board{Board::Kind::Torus, 30, 30});
  CHECK(parseRule("B3/S23:P0,7").board == Board{Board::Kind::Plane, 0, 7});
  CHECK(ruleText(parseRule("23/3:T100,200")) == "B3/S23:T100,200");
}

TEST_CASE("a rule that is not understood says which part and what was expected") {
  CHECK_THROWS_WITH_AS(
      parseRule("B9/S23"),
      "'9' in rule 'B9/S23' is no neighbour count: expected digits 0 to 8, as in B3/S23",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      parseRule("B2ce/S23"),
      "'C' in rule 'B2ce/S23' is no neighbour count: expected digits 0 to 8, as in B3/S23",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      parseRule("345/2/4"),
      "'/' in rule '345/2/4' is no neighbour count: expected digits 0 to 8, as in B3/S23",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(
      parseRule("WireWorld"),
      "rule 'WireWorld' is not understood: expected birth and survival counts, as in B3/S23 or "
      "23/3",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(parseRule(""),
                       "rule '' is not understood: expected birth and survival counts, as in "
                       "B3/S23 or 23/3",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(parseRule("B3/S23:K10,20"),
                       "board ':K10,20' in rule 'B3/S23:K10,20' is not supported: expected :T "
                       "(torus) or :P (plane with dead edges), as in :T100,200",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(parseRule("B3/S23:T10+1,20"),
                       "'10+1' in rule 'B3/S23:T10+1,20' is no board extent: expected a whole "
                       "number, as in :T100,200",
                       std::invalid_argument);
}

}  // namespace life_rule_tests

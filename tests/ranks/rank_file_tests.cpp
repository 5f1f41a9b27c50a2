// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/rank_file.h"

#include <doctest/doctest.h>

namespace rank_file_tests {

using hpl::ranks::fileOfRank;

TEST_CASE("each rank writes a file of its own") {
  struct Case {
    const char* name;
    int ranks;
    const char* expected;
  };
  for (const Case& c :
       {Case{"", 4, ""}, Case{"run.json", 1, "run.json"}, Case{"run.json", 4, "run.2.json"},
        Case{"out.d/run", 4, "out.d/run.2"}, Case{"out/.run", 4, "out/.run.2"},
        Case{".run", 4, ".run.2"}, Case{"a.b/c.d.json", 4, "a.b/c.d.2.json"},
        Case{"run_%r.json", 4, "run_2.json"}, Case{"%r/%r", 1, "2/2"},
        Case{"run_%p.json", 4, "run_%p.json"}, Case{"%p_%r", 4, "%p_2"}}) {
    CAPTURE(c.name);
    CHECK(fileOfRank(c.name, 2, c.ranks) == c.expected);
  }
}

}  // namespace rank_file_tests

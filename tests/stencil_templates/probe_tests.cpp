// SPDX-License-Identifier: Apache-2.0
// probe("x", value) in point functions.
#include <doctest/doctest.h>

#include <string>

#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"
#include "tests/printed.h"

namespace probe_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::countOf;
using hpl_tests::printed;

TEST_CASE("a stencil with a probe shows every step and refuses several steps at once") {
  Array<float, 1> a(100), b(100);
  a = 1.0f, b = 0.0f;
  Stencil smooth([](Neighbourhood<float, 1> p) {
    Float mean = 0.5f * (p(-1) + p(1));
    if_(idx == 50) {
      probe("mean", mean);
    }
    return mean;
  });
  smooth.boundary(Nearest());
  const std::string text = printed([&] { smooth.iterate(5)(a, b); });
  CAPTURE(text);
  CHECK(countOf("hpl: probe mean = 1 at (50), ", text) == 5);
  const std::string message =
      hpl_tests::messageOf<LaunchError>([&] { smooth.timeTile(4).iterate(8)(a, b); });
  CAPTURE(message);
  CHECK(contains(message, "its point function has a probe"));
}

TEST_CASE("a chain of stencils with a probe prints its values") {
  Array<float, 1> a(64), b(64);
  a = 1.0f;
  Temporary<float, 1> twice;
  StencilProgram chain;
  chain.apply([](Neighbourhood<float, 1> p) { return 2 * p(0); })(a, twice);
  chain.apply([](Neighbourhood<float, 1> p) {
    if_(idx == 7) {
      probe("p", p(0));
    }
    return p(0) + 1;
  })(twice, b);
  const std::string text = printed([&] { chain.run(1); });
  CAPTURE(text);
  CHECK(countOf("hpl: probe p = 2 at (7), ", text) == 1);
  CHECK(b(7).value() == 3.0f);
}

}  // namespace probe_tests

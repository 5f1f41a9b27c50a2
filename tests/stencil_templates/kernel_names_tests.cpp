// SPDX-License-Identifier: Apache-2.0
// Kernels without a name of their own: what messages, profiles and generated code call them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <source_location>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/trace/timeline.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/runtime/subprocess.h"

namespace kernel_names_tests {

using namespace hpl;

namespace {

template <class F>
std::string messageOf(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string lineBefore(const std::source_location& here = std::source_location::current()) {
  return "kernel_names_tests.cpp:" + std::to_string(here.line() - 1);
}

constexpr int kPointLine = __LINE__ + 2;
Stencil threePoints() {
  return Stencil([](Neighbourhood<float, 1> p) { return p(-1) + p(1); }).boundary(Nearest());
}

constexpr auto one = [] { return 1.0f; };
template <class F>
void fillBy(Array<float, 1> a) {
  a[idx] = F()();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("messages call a lambda by the file and line of its first statement") {
  Array<float, 1> y(16);
  const auto kernel = [](Array<float, 1> a) { a[idx] = 1.0f; };
  const std::string place = lineBefore();
  CHECK(messageOf([&] { eval(kernel)(y, y); }) ==
        "kernel '" + place + "' takes 1 argument, but 2 were given");
  CHECK_NOTHROW(eval(kernel)(y).wait());
}

TEST_CASE("a function keeps its name, also one that is instantiated with a lambda") {
  Array<float, 1> y(16);
  CHECK(messageOf([&] { eval(fillBy<decltype(one)>)(y, y); }) ==
        "kernel 'fillBy' takes 1 argument, but 2 were given");
}

constexpr int kLambdaLine = __LINE__ + 9;
TEST_CASE("child: a labelled stencil and one without a label and a lambda" * doctest::skip()) {
  Array<float, 1> a(1024), b(1024);
  a = 1.0f;
  Stencil heat = threePoints();
  heat.label("heat (1-D)");
  heat(a, b);
  Stencil plain = threePoints();
  plain(b, a);
  eval([](Array<float, 1> x) { x[idx] += 1.0f; })(a);
  if (a(3) != 5.0f) std::abort();
}

TEST_CASE("profile, explain and dumped kernels use labels of stencils and places of lambdas") {
  const subprocess::TemporaryFolder folder;
  const auto result =
      subprocess::run("child: a labelled stencil and one without a label and a lambda",
                      "HPL_PROFILE=1 HPL_EXPLAIN=1 HPL_TUNE=off HPL_DUMP_KERNELS=" +
                          subprocess::quoted(folder.path()));
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "  heat (1-D)  "));
  CHECK(contains(result.output, "hpl: kernel 'heat (1-D)' on "));
  const std::string point = std::to_string(kPointLine), lambda = std::to_string(kLambdaLine);
  CHECK(contains(result.output, "  kernel_names_tests.cpp:" + point + "  "));
  CHECK(contains(result.output, "  kernel_names_tests.cpp:" + lambda + "  "));
  CHECK_FALSE(contains(result.output, "lambda"));
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    files.push_back(file.path().filename());
  for (const std::string& begin : {std::string("heat__1_D_"), "kernel_names_tests_cpp_" + point,
                                   "kernel_names_tests_cpp_" + lambda})
    CHECK(std::ranges::any_of(files,
                              [&](const std::string& name) { return name.starts_with(begin); }));
}

}  // namespace kernel_names_tests

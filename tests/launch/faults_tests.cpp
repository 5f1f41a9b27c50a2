// SPDX-License-Identifier: Apache-2.0
// Accesses out of bounds and misuse of the kernel language.
#include <doctest/doctest.h>

#include <string>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"
#include "tests/with_settings.h"

namespace faults_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;
using hpl_tests::WithSettings;

constexpr int kShiftLine = __LINE__ + 1;
void shiftLeft(Array<int, 1> out, const Array<int, 1>& in) { out[idx] = in[idx + 1]; }
void writeBelow(Array<int, 2> out) { out[idy - 1][idx] = 1; }

}  // namespace

TEST_CASE("HPL_CHECK=bounds reports array, index, extent and line; the interpreter does too") {
  Array<int, 1> in(10), out(10);
  in.label("source");
  in = 3;
  out = 0;
  {
    const WithSettings checked([](runtime::Settings& s) { s.checkBounds = true; });
    const std::string message = messageOf<BoundsError>([&] { eval(shiftLeft)(out, in); });
    INFO(message);
    CHECK(contains(message, "source"));
    CHECK(contains(message, "index 10"));
    CHECK(contains(message, "10"));
    CHECK(contains(message, "faults_tests.cpp:" + std::to_string(kShiftLine)));
    CHECK_NOTHROW(eval(shiftLeft).global(9)(out, in));
    Array<int, 2> square(4, 4);
    square = 0;
    const std::string below = messageOf<BoundsError>([&] { eval(writeBelow)(square); });
    INFO(below);
    CHECK(contains(below, "index -1"));
  }
  CHECK(out(8).value() == 3);
  const std::string interpreted =
      messageOf<BoundsError>([&] { eval(shiftLeft).interpret(out, in); });
  INFO(interpreted);
  CHECK(contains(interpreted, "source"));
  CHECK(contains(interpreted, "faults_tests.cpp:" + std::to_string(kShiftLine)));
}

TEST_CASE("a kernel operator outside of a kernel is refused") {
  Array<int, 1> a(4);
  CHECK(contains(messageOf<KernelError>([&] { (void)(idx + 1); }), "outside of a kernel"));
  CHECK(contains(messageOf<KernelError>([&] { a[0] = 1; }), "outside of a kernel"));
}

TEST_CASE("misuse inside kernels says what to do instead") {
  Array<int, 1> a(4), other(4);
  other.label("other");
  other = 1;
  const auto messageIn = [&](auto kernel) {
    return messageOf<KernelError>([&] { eval(kernel)(a); });
  };
  CHECK(contains(messageIn([](Array<int, 1> x) { x(0) = 1; }), "host access"));
  CHECK(contains(messageIn([](Array<int, 1> x) { x.data(); }), "host access"));
  CHECK(contains(messageIn([](Array<int, 1> x) {
                   x[idx] = 0;
                   else_ { x[idx] = 1; }
                 }),
                 "else_"));
  CHECK(contains(messageIn([](Array<int, 1> x) {
                   x[idx] = 0;
                   break_;
                 }),
                 "break_ outside"));
  CHECK(contains(messageIn([](Array<int, 1>) { continue_; }), "continue_ outside"));
  CHECK(contains(messageIn([](Array<int, 1>) { return_(3); }), "call(f)"));
  CHECK(contains(messageIn([&other](Array<int, 1> x) { x[idx] = other[idx]; }), "other"));
  const Int hostScalar = 5;
  a = 0;
  eval([&hostScalar](Array<int, 1> x) { x[idx] = hostScalar; })(a);
  CHECK(a(3).value() == 5);
}

}  // namespace faults_tests

// SPDX-License-Identifier: Apache-2.0
// Which kernels without neighbours and loops become rows, and what is said of it.
#include "hpl/strategies/pointwise.h"

#include <doctest/doctest.h>

#include "tests/strategies/support.h"

namespace pointwise_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

using Floats = Array<float, 1>;
using Bytes = Array<unsigned char, 1>;

template <class F>
Pointwise factsOf(const F& f) {
  const auto kernel = captured(f);
  return pointwiseOf(*kernel, ir::analyze(*kernel));
}

template <class F>
PointwiseChoice choiceFor(const F& f, double workItems = 1e6, bool isMasked = false) {
  const Pointwise facts = factsOf(f);
  REQUIRE(facts.isPointwise);
  return choosePointwise(facts, workItems, isMasked);
}

void checkDirect(const PointwiseChoice& choice, const std::string& end) {
  CHECK_FALSE(choice.inRows);
  CHECK(choice.reason == "each work-item reads its own elements only, " + end);
}

void checkRows(const PointwiseChoice& choice, const std::string& reason) {
  CHECK(choice.inRows);
  CHECK(choice.reason == reason);
}

void scale(Floats y, const Floats& x, Float a) { y[idx] = a * x[idx] + y[idx]; }

void polynomial(Floats y, const Floats& x) {
  Float sum = 1.0f;
  for (int i = 0; i < 9; ++i) sum = sum * x[idx] + 2.0f;
  y[idx] = sum;
}

}  // namespace

TEST_CASE("pointwise: memory decides where there are few operations") {
  checkDirect(choiceFor(&scale), "with 1 operation, so memory decides");
  checkDirect(
      choiceFor([](Array<double, 2> y, const Array<double, 2>& x) { y[idy][idx] = x[idy][idx]; }),
      "with 0 operations, so memory decides");
  checkRows(choiceFor(&polynomial), "9 operations on elements of its own");
}

TEST_CASE("pointwise: functions like exp are for rows, whatever stands around them") {
  checkRows(choiceFor([](Floats y, const Floats& x) { y[idx] = exp(x[idx]); }),
            "1 function like exp");
  checkRows(choiceFor([](Floats y, const Floats& x) {
              if_(x[idx] > 0.0f) {
                y[idx] = log(x[idx]) + pow(x[idx], 1.5f);
              }
              else_ { y[idx] = 0.0f; }
            }),
            "2 functions like exp");
}

TEST_CASE(
    "pointwise: elements narrower than the others are for rows, bytes by themselves are not") {
  checkRows(choiceFor([](Bytes out, const Array<int, 1>& in, Int low) {
              out[idx] = where(in[idx] >= low, 255, 0);
            }),
            "elements of 1 byte");
  checkRows(choiceFor([](Bytes out, const Bytes& in) { out[idx] = where(in[idx] > 9, 255, 0); }),
            "elements of 1 byte");
  checkDirect(choiceFor([](Bytes out, const Bytes& in) {
                out[idx] = cast<unsigned char>((in[idx] * 7 + 3) / 9);
              }),
              "10 operations on elements of 1 byte, which compilers compute in narrow lanes");
}

TEST_CASE("pointwise: cheap sides of branches on values become selections, costly ones do not") {
  checkDirect(choiceFor([](Floats y, const Floats& x) {
                Float value = x[idx];
                if_(value > 0.0f) {
                  y[idx] = value * value * value * value * value;
                }
                else_ { y[idx] = value - 1.0f; }
              }),
              "6 operations on 2 sides of branches on values, so compilers select");
  // Positions are no values.
  checkRows(choiceFor([](Floats y, const Floats& x) {
              if_(idx > 0 && idx + 1 < szx) {
                y[idx] = 2.0f * x[idx];
              }
            }),
            "5 operations on elements of its own");
  const PointwiseChoice costly = choiceFor([](Floats y, const Floats& x) {
    Float sum = x[idx];
    if_(sum > 0.0f) {
      for (int i = 0; i < 50; ++i) sum = sum * x[idx] + 2.0f;
    }
    y[idx] = sum;
  });
  checkRows(costly, "51 operations on elements of its own");
}

TEST_CASE("pointwise: masks are worse than rows, and little work is worth nothing") {
  checkRows(choiceFor(&scale, 1e6, true), "rows that groups would not share evenly");
  checkDirect(choiceFor(&scale, 1000, true),
              "1000 work-items with 1 operation each, so a launch costs more than its kernel");
  checkDirect(choiceFor(&polynomial, 6000),
              "6000 work-items with 9 operations each, so a launch costs more than its kernel");
  CHECK(choiceFor(&polynomial, 7000).inRows);
}

TEST_CASE("pointwise: neighbours and loops are no matter of it") {
  CHECK_FALSE(factsOf([](Floats y, const Floats& x) { y[idx] = x[idx + 1]; }).isPointwise);
  CHECK_FALSE(factsOf([](Floats y, const Floats& x) {
                Float sum = 0.0f;
                for_(Int i = 0, i < 8, i++) {
                  sum += x[idx];
                }
                y[idx] = sum;
              }).isPointwise);
}

TEST_CASE("pointwise: a step takes a line of bytes, but leaves little of a row") {
  const Pointwise bytes = factsOf([](Bytes out, const Bytes& in) { out[idx] = in[idx]; });
  CHECK(vectorsFor(bytes, 4096, 16) == 4);
  CHECK(vectorsFor(bytes, 300, 16) == 2);
  CHECK(vectorsFor(bytes, 100, 16) == 1);
  CHECK(vectorsFor(factsOf(&polynomial), 4096, 16) == 2);
  CHECK(vectorsFor(factsOf([](Floats y, const Floats& x) { y[idx] = exp(x[idx]); }), 4096, 16) ==
        1);
}

}  // namespace pointwise_tests

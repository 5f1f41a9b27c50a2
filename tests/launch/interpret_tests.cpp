// SPDX-License-Identifier: Apache-2.0
// What the interpreter makes of arguments that are meant for several devices.
#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "hpl/hpl.h"

namespace interpret_tests {

using namespace hpl;

namespace {

void reverse(Array<int, 1> out, const Array<int, 1>& in, Int size) {
  out[idx] = in[size - 1 - cast<int>(idx)];
}

void setTo(Array<int, 1> out, Int value) { out[idx] = value; }

template <class F>
void expectRefusal(F interpret, std::initializer_list<const char*> words) {
  std::string message = "nothing was thrown";
  try {
    interpret();
  } catch (const ArgumentError& error) {
    message = error.what();
  }
  CAPTURE(message);
  for (const char* word : words) {
    CAPTURE(word);
    CHECK(message.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("the interpreter refuses the size of a part and says what to pass") {
  Array<int, 1> in(12), out(12);
  in.label("source");
  in = 1;
  out = 5;
  expectRefusal(
      [&] { eval(reverse).interpret(out, in, in.part(1)); },
      {"argument 3 of kernel 'reverse'", "part(1) of array \"source\"",
       ".interpret(...) runs the kernel once over whole arrays", "pass the size of the array, 12"});
  expectRefusal([&] { eval(reverse).interpret(PART1(out), PART1(in), in.part(1)); },
                {"argument 3 of kernel 'reverse'"});
  CHECK(out(0) == 5);
  eval(reverse).interpret(PART1(out), PART1(in), 12);
  CHECK(out(0) == 1);
}

TEST_CASE("the interpreter refuses a std::vector of values, and one of arrays") {
  Array<int, 1> out(12);
  out = 5;
  expectRefusal(
      [&] {
        eval(setTo).interpret(out, std::vector<int>{1, 2, 3});
      },
      {"argument 2 of kernel 'setTo'", "std::vector of 3 values, one per device",
       "runs the kernel once", "interpret it for each of the values"});
  const std::vector<Array<int, 1>> halves = {out(Range(0, 5)), out(Range(6, 11))};
  expectRefusal([&] { eval(setTo).interpret(halves, 1); },
                {"argument 1 of kernel 'setTo'", "std::vector of 2 values, one per device"});
  CHECK(out(0) == 5);
  CHECK(out(11) == 5);
}

}  // namespace interpret_tests

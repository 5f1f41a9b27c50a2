// SPDX-License-Identifier: Apache-2.0
// Functions in OpenCL C that kernels call.
#include "hpl/launch/native_function.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "hpl/codegen/emit.h"
#include "hpl/hpl.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "hpl/lang/capture_state.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/plane_queue.h"
#include "hpl/strategies/rows.h"
#include "hpl/strategies/tile.h"
#include "tests/messages.h"

namespace native_function_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

const char* const kSource = R"(
  float weighed(float a, float b, int n) { return a + n * b; }
  int countAbove(const HPL_SPACE float* p, int n, float limit) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += p[i] > limit;
    return count;
  }
)";
const NativeFunction<Float(Float, Float, Int)> weighed("weighed", kSource);
const NativeFunction<Int(const AliasArray<float>&, Int, Float)> countAbove("countAbove", kSource);
const NativeFunction<Int(const AliasArray<float>&, Int, Float)> countAlone("countAlone", R"(
  int countAlone(const HPL_SPACE float* p, int n, float limit) {
    int count = 0;
    while (n-- > 0) count += p[n] > limit;
    return count;
  })");
const NativeFunction<void(AliasArray<int>, Int)> store(
    "store", "void store(HPL_SPACE int* to, int value) { *to = value; }");

template <class F>
std::shared_ptr<const ir::Kernel> captured(const F& f) {
  using S = hpl::detail::Signature<F>;
  hpl::detail::Capture capture({});
  hpl::detail::invokeWithSymbols(f, static_cast<typename S::Params*>(nullptr));
  return capture.finish("kernel");
}

std::size_t timesIn(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

void mixed(Array<float, 1> out, const Array<float, 1>& in, Float scale) {
  out[idx] = weighed(in[idx], scale, cast<int>(idx)) + call(weighed)(1.0f, in[idx], 2);
}

void fromAllMemories(Array<int, 1> out, const Array<float, 1>& in) {
  Array<float, 1, Private> own(3);
  for_(Int i = 0, i < 3, i++) {
    own[i] = in[idx] + i;
  }
  AliasArray<float> position(in[idx]);
  Int mine = countAlone(own, 3, 1.5f);
  Int others = countAlone(position, 2, 0.0f);
  AliasArray<int> place(out[idx]);
  store(place, 10 * mine + others);
}

}  // namespace

TEST_CASE("kernels call functions in OpenCL C, by themselves and through call") {
  Array<float, 1> in(100), out(100);
  for (int i = 0; i < 100; ++i) in(i) = static_cast<float>(i % 7);
  eval(mixed)(out, in, 0.5f);
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(i % 7);
    REQUIRE(out(i).value() == x + 0.5f * static_cast<float>(i) + (1.0f + 2.0f * x));
  }
  // A lambda may carry the function.
  const NativeFunction<Float(Float)> half("half_of", "float half_of(float x) { return x / 2; }");
  eval([half](Array<float, 1> o, const Array<float, 1>& i) { o[idx] = half(i[idx]); })(out, in);
  CHECK(out(5).value() == 2.5f);
}

TEST_CASE("native functions get pointers into global and private memory, and write through them") {
  Array<float, 1> in(64);
  Array<int, 1> out(64);
  for (int i = 0; i < 64; ++i) in(i) = static_cast<float>(i % 3) - 1.0f;
  out = 0;
  // The last element has no neighbour.
  eval(fromAllMemories).global(63)(out, in);
  for (int i = 0; i < 63; ++i) {
    int mine = 0;
    for (int k = 0; k < 3; ++k) mine += static_cast<float>(i % 3 - 1 + k) > 1.5f ? 1 : 0;
    const int others = (i % 3 - 1 > 0 ? 1 : 0) + ((i + 1) % 3 - 1 > 0 ? 1 : 0);
    REQUIRE(out(i).value() == 10 * mine + others);
  }
  CHECK(out(63).value() == 0);
}

TEST_CASE("surplus work-items of groups that meet at barriers do not call native functions") {
  const auto kernel = [](Array<int, 1> out, const Array<float, 1>& in) {
    Array<float, 1, Local> group(16);
    group[lidx] = in[idx];
    barrier(LOCAL);
    AliasArray<int> place(out[idx]);
    Int above = countAbove(group, 1, 0.0f);
    store(place, above + cast<int>(idx));
  };
  Array<float, 1> in(21);
  Array<int, 1> out(21);
  in = 1.0f;
  eval(kernel).local(16)(out, in);
  for (int i = 0; i < 21; ++i) REQUIRE(out(i).value() == 1 + i);
}

TEST_CASE("native functions come from files, and say what is wrong with their source") {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("hpl_function_" + std::to_string(getpid()) + ".cl"))
                               .string();
  std::ofstream(file) << "int twice(int x) { return 2 * x; }\n";
  const NativeFunction<Int(Int)> twice("twice", file);
  Array<int, 1> out(5);
  eval([twice](Array<int, 1> o) { o[idx] = twice(cast<int>(idx)); })(out);
  CHECK(out(4).value() == 8);
  std::remove(file.c_str());

  using F = NativeFunction<Int(Int)>;
  CHECK(messageOf<KernelError>([] { F("f", "/no/such/file.cl"); }) ==
        "native function 'f': cannot read file '/no/such/file.cl'; give an existing file or the "
        "OpenCL C source itself");
  CHECK(messageOf<KernelError>([] { F("f", "int g(int x) { return x; }"); }) ==
        "native function 'f': the given source does not contain a function of that name");
  CHECK(
      messageOf<KernelError>([] { F("f", "int f(int x) { return get_global_id(0) + x; }"); }) ==
      "native function 'f' mentions get_global_id, but the library decides how work-items are "
      "laid out; pass what the function needs, such as idx, as arguments, and wait in the kernel");
  CHECK(contains(messageOf<KernelError>([] {
                   F f("f", "int f(int x) { return x; }");
                   f(3);
                 }),
                 "a call of a native function was evaluated outside of a kernel"));
  const F broken("broken", "int broken(int x) { return y; }");
  CHECK(contains(
      messageOf<BuildError>([&] { eval([broken](Array<int, 1> o) { o[idx] = broken(1); })(out); }),
      "return y"));
}

TEST_CASE("what native functions reach is not known to analyses, and what they promise is") {
  const auto kernel = captured(fromAllMemories);
  ir::verify(*kernel);
  const ir::AccessSummary access = ir::analyze(*kernel);
  CHECK(access.arrays[0].written);
  CHECK(access.arrays[0].writes[0].isUnknown());
  CHECK(access.arrays[0].read);
  CHECK(access.arrays[1].reads[0].isUnknown());
  CHECK_FALSE(access.arrays[1].written);
  // Nor do they tell anything about values.
  const auto indexed = captured([](Array<float, 1> out, const Array<float, 1>& in) {
    out[idx] = in[cast<int>(weighed(1.0f, 2.0f, 3))];
  });
  CHECK(ir::analyze(*indexed).arrays[1].reads[0].isUnknown());
  CHECK(contains(ir::print(*kernel), "native int countAlone(const float* a1"));
  CHECK(contains(ir::print(*kernel), "count += p[n] > limit;"));
}

TEST_CASE("arrays that may only be read go to functions that only read") {
  const auto message = messageOf<KernelError>([] {
    const auto kernel = captured([](Array<int, 1> out, const Array<int, 1>& in) {
      AliasArray<int> place(in[idx]);
      store(place, 3);
      out[idx] = in[idx];
    });
    ir::verify(*kernel);
  });
  CHECK_MESSAGE(contains(message, "is read-only; take it as const"), message);
}

TEST_CASE("the source is part of a program once, or once for each kind of memory") {
  const auto once = captured(mixed);
  CHECK(timesIn(codegen::emit(*once, {}).source, "float weighed(float a") == 1);
  const std::string both =
      codegen::emit(*captured([](Array<int, 1> out, const Array<float, 1>& in) {
        Int count = countAbove(in, 3, 0.0f);
        out[idx] = count + cast<int>(weighed(1.0f, 2.0f, count));
      }),
                    {})
          .source;
  CHECK(contains(both, "#define HPL_SPACE global"));
  CHECK(contains(both, "#undef HPL_SPACE"));
  CHECK(timesIn(both, "float weighed(float a") == 1);
  const std::string twice = codegen::emit(*captured(fromAllMemories), {}).source;
  CHECK(contains(twice, "#define HPL_SPACE private"));
  CHECK(contains(twice, "#define HPL_SPACE global"));
  CHECK(contains(twice, "#define countAlone countAlone_"));
}

TEST_CASE("native functions run on devices only, one element at a time") {
  Array<float, 1> in(10), out(10);
  in = 1.0f;
  CHECK(messageOf<KernelError>([&] { eval(mixed).interpret(out, in, 1.0f); }) ==
        "kernel 'mixed' calls 'weighed', which is OpenCL C and cannot be interpreted; run it on a "
        "device with eval(f)(arguments), or write the function in the embedded language");
  const auto kernel = captured([](Array<float, 2> out, const Array<float, 2>& in) {
    if_(idy > 0 && idx > 0) {
      out[idy][idx] = weighed(in[idy - 1][idx], in[idy][idx - 1], 1) + in[idy][idx];
    }
  });
  const ir::AccessSummary access = ir::analyze(*kernel);
  strategies::RowsOptions rows;
  rows.dims = 2;
  CHECK(strategies::rows(*kernel, access, rows).reason ==
        "it calls 'weighed', OpenCL C that computes one element at a time");
  strategies::PlaneQueueOptions queue;
  queue.local = {8, 1, 1};
  CHECK(contains(strategies::planeQueue(*kernel, access, queue).reason, "it calls a function"));
}

}  // namespace native_function_tests

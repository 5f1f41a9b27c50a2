// SPDX-License-Identifier: Apache-2.0
// The strategy "rows" for arrays whose elements are vectors: the same bits, in the interpreter and
// on the device.
#include <doctest/doctest.h>

#include <random>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/strategies/random_elements.h"
#include "tests/strategies/support.h"

namespace elements_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

template <class V>
std::vector<V> vectors(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<V> values(count);
  for (V& value : values)
    for (int lane = 0; lane < V::kLanes; ++lane)
      value[lane] = static_cast<typename V::Scalar>(static_cast<int>(random() % 120) - 60);
  return values;
}

/// The arrays that the random kernels read and write.
struct Data {
  Data(std::int64_t height, std::int64_t width, unsigned seed)
      : extents{height, width},
        a(vectors<int4>(cells(), seed)),
        b(vectors<short2>(cells(), seed + 1)),
        c(vectors<float3>(cells(), seed + 2)),
        out(vectors<int4>(cells(), 7)),
        more(vectors<float2>(cells(), 8)) {}

  std::size_t cells() const { return static_cast<std::size_t>(extents[0] * extents[1]); }
  std::vector<ir::Argument> arguments(int parameter) {
    return {ir::arrayArgument(out.data(), extents), ir::arrayArgument(more.data(), extents),
            ir::arrayArgument(a.data(), extents),   ir::arrayArgument(b.data(), extents),
            ir::arrayArgument(c.data(), extents),   ir::scalarArgument(parameter)};
  }

  std::vector<std::int64_t> extents;
  std::vector<int4> a;
  std::vector<short2> b;
  std::vector<float3> c;
  std::vector<int4> out;
  std::vector<float2> more;
};

/// A step of waves over shallow water, roughly: what crosses the faces, from what lies beside them.
void waves(Array<float4, 2> out, const Array<float4, 2>& in, Float step) {
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    Float4 here = in[idy][idx], west = in[idy][idx - 1], east = in[idy][idx + 1];
    Float4 past = in[idy - 1][idx] + in[idy + 1][idx];
    Float speed = where(here.x > 0.0f, here.y / here.x, 0.0f);
    Float4 next = here + step * (west - east) * speed;
    next.w = past.w;
    out[idy][idx] = where(next > past, next, swizzle<0, 2, 1, 3>(past));
  }
  else_ { out[idy][idx] = make<float4>(0.0f, 1.0f, in[idy][idx].z, 0.0f); }
}

}  // namespace

TEST_CASE("random kernels of vector elements give the same bits in rows") {
  const char* wish = std::getenv("RANDOM_STENCILS");
  const unsigned count = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 60;
  unsigned rewrittenKernels = 0;
  for (unsigned seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    const auto kernel = captured(RandomElements{seed});
    std::mt19937 random(seed);
    RowsOptions options;
    options.dims = 2;
    options.lanes = 2 << random() % 4;
    options.jam = static_cast<int>(1 + random() % 3);
    options.vectors = static_cast<int>(1 + random() % 2);
    const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
    if (!rewritten.kernel) continue;
    ++rewrittenKernels;
    const std::int64_t height = 3 + random() % 12, width = 3 + random() % 60;
    Data expected(height, width, seed), got(height, width, seed);
    const Ids ids{2, {0, 0, 0}, {std::uint64_t(width), std::uint64_t(height), 1}};
    const int parameter = static_cast<int>(random() % 20) - 10;
    runOriginal(*kernel, ids, expected.arguments(parameter));
    runRows(rewritten, ids, {1 + random() % 70, 1 + random() % 9, 1}, got.arguments(parameter));
    REQUIRE(got.out == expected.out);
    REQUIRE(got.more == expected.more);
  }
  MESSAGE(rewrittenKernels << " of " << count << " kernels were rewritten");
  CHECK(rewrittenKernels > count / 3);
}

TEST_CASE("kernels of vector elements give the same bits by all strategies on the device") {
  const runtime::Settings before = runtime::settings();
  for (const auto& [height, width] : {std::pair<int, int>{2, 3}, {9, 70}}) {
    CAPTURE(width);
    const Data data(height, width, 3);
    Array<int4, 2> a(height, width), out(height, width);
    Array<short2, 2> b(height, width);
    Array<float3, 2> c(height, width);
    Array<float2, 2> more(height, width);
    Array<float4, 2> from(height, width), to(height, width);
    a.copyFrom(data.a.data());
    b.copyFrom(data.b.data());
    c.copyFrom(data.c.data());
    from.copyFrom(vectors<float4>(data.cells(), 4).data());
    std::vector<Data> results;
    std::vector<std::vector<float4>> waved;
    for (const auto strategy :
         {runtime::Strategy::Direct, runtime::Strategy::Rows, runtime::Strategy::Tile,
          runtime::Strategy::Stream, runtime::Strategy::Columns}) {
      runtime::Settings changed = before;
      changed.strategy = strategy;
      runtime::overrideSettings(changed);
      results.push_back(data);
      Data& result = results.back();
      out.copyFrom(result.out.data());
      more.copyFrom(result.more.data());
      reeval(RandomElements{5})(out, more, a, b, c, 4);
      out.copyTo(result.out.data());
      more.copyTo(result.more.data());
      reeval(waves)(to, from, 0.25f);
      waved.emplace_back(data.cells());
      to.copyTo(waved.back().data());
    }
    runtime::overrideSettings(before);
    for (std::size_t i = 1; i < results.size(); ++i) {
      CHECK(results[i].out == results[0].out);
      CHECK(results[i].more == results[0].more);
      CHECK(waved[i] == waved[0]);
    }
  }
}

TEST_CASE("elements with many components are computed one work-item at a time") {
  const auto kernel = captured([](Array<float8, 2> out, const Array<float8, 2>& in) {
    out[idy][idx] = in[idy][idx] * 2.0f;
  });
  RowsOptions options;
  options.dims = 2;
  const Rows result = rows(*kernel, ir::analyze(*kernel), options);
  CHECK(result.kernel == nullptr);
  CHECK(result.reason.find("more than 4 components") != std::string::npos);
}

}  // namespace elements_tests

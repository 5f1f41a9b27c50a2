// SPDX-License-Identifier: Apache-2.0
// Results that are stored past the caches.
#include <algorithm>
#include <vector>

#include "hpl/codegen/emit.h"
#include "hpl/ir/printer.h"
#include "hpl/ir/verifier.h"
#include "hpl/layout/heuristic_choice.h"
#include "tests/strategies/support.h"

namespace streams_tests {

using namespace hpl;
using namespace hpl::strategies;
using namespace hpl::strategies::test;

namespace {

template <class F>
std::string writtenFor(const F& kernel, bool streams) {
  const auto original = captured(kernel);
  RowsOptions options;
  options.dims = 2;
  options.lanes = 8;
  options.streams = streams;
  const Rows rewritten = rows(*original, ir::analyze(*original), options);
  REQUIRE_MESSAGE(rewritten.kernel != nullptr, rewritten.reason);
  ir::verify(*rewritten.kernel);
  return ir::print(*rewritten.kernel);
}

bool streams(const std::string& text) { return text.find("=(streams)") != std::string::npos; }

}  // namespace

TEST_CASE("vectors of arrays that a kernel only writes go past the caches where that is asked") {
  const auto twice = [](Array<float, 2> out, const Array<float, 2>& in) {
    out[idy][idx] = 2 * in[idy][idx];
  };
  CHECK(streams(writtenFor(twice, true)));
  CHECK(!streams(writtenFor(twice, false)));
}

TEST_CASE("what a kernel reads, writes in part or in narrow elements goes through the caches") {
  CHECK(!streams(writtenFor(
      [](Array<float, 2> out, const Array<float, 2>& in) { out[idy][idx] += in[idy][idx]; },
      true)));
  CHECK(!streams(writtenFor(
      [](Array<short, 2> out, const Array<short, 2>& in) { out[idy][idx] = in[idy][idx] + 1; },
      true)));
  CHECK(!streams(writtenFor(
      [](Array<float, 2> out, const Array<float, 2>& in) {
        if_(in[idy][idx] > 0.0f) {
          out[idy][idx] = 1.0f;
        }
      },
      true)));
}

TEST_CASE("rows give the same bits past the caches, in the interpreter") {
  const auto kernel = captured([](Array<int, 2> out, const Array<int, 2>& in) {
    out[idy][idx] = 3 * in[idy][idx] + in[idy][0];
  });
  RowsOptions options;
  options.dims = 2;
  options.lanes = 4;
  options.streams = true;
  const Rows rewritten = rows(*kernel, ir::analyze(*kernel), options);
  REQUIRE(rewritten.kernel != nullptr);
  std::vector<int> in(5 * 23);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7 % 31);
  requireSameRows(*kernel, rewritten, in, 5, {{23, 2, 1}, {9, 5, 1}});
}

TEST_CASE("only several elements of global memory are stored past the caches") {
  ir::Kernel kernel;
  ir::Arena& arena = *kernel.arena;
  ir::Function entry;
  entry.name = "kernel";
  ir::Variable array{};
  array.name = "a";
  array.type = {ir::Scalar::Int};
  array.rank = 1;
  array.role = ir::Role::ArrayParam;
  array.space = ir::Space::Global;
  array.paramIndex = 0;
  const ir::Variable* a = arena.add(std::move(array));
  const ir::Expr* zero = arena.add(ir::Expr{{ir::Scalar::Int}, {}, ir::Constant{}});
  const ir::Expr* place = arena.add(ir::Expr{{ir::Scalar::Int}, {}, ir::Access{a, {zero}}});
  ir::Block* body = arena.addBlock();
  body->stmts.push_back(arena.add(ir::Stmt{{}, ir::Assign{place, zero, true}}));
  entry.params.push_back(a);
  entry.body = body;
  kernel.entry = arena.add(std::move(entry));
  CHECK_THROWS_WITH_AS(ir::verify(kernel), doctest::Contains("are stored past the caches"), Error);
}

TEST_CASE("arrays larger than the cache are written past it on a device, each element once") {
  // All alignments: the parts of rows that vectors cannot store whole go their own way.
  const std::size_t cache = defaultDevice().getProperties().cache;
  if (cache == 0 || cache > (std::size_t{512} << 20)) {
    MESSAGE("a cache of " << cache << " bytes is too large for this test, or not known");
    return;
  }
  const auto width = static_cast<std::int64_t>(4099);
  const auto height = static_cast<std::int64_t>(cache / 2 / sizeof(float) / 4099 + 1);
  Array<float, 2> out(height, width), in(height, width);
  in = 3.0f;
  out = 0.0f;
  eval([](Array<float, 2> o, const Array<float, 2>& i) {
    o[idy][idx] = i[idy][idx] + cast<float>(idx);
  })(out, in);
  const float* got = out.data(HPL_RD);
  for (std::int64_t i = 0; i < height * width; ++i)
    REQUIRE(got[i] == 3.0f + static_cast<float>(i % width));
}

}  // namespace streams_tests

// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include <algorithm>
#include <optional>

using namespace hpl;

namespace stencil_tests {
namespace {

class RandomPoint final : public stencils::PointFunction {
 public:
  RandomPoint(const RandomFunction& function, int dims) : function_(function), dims_(dims) {
    signature_.dims = dims;
    signature_.inputs.assign(function.reads.size(), irType<int>());
    signature_.outputs.assign(function.writes.size(), irType<int>());
  }

  void record(stencils::CellReader& reader, const stencils::Node* cells,
              const stencils::Symbol*) const override {
    for (std::size_t k = 0; k < function_.sums.size(); ++k) {
      std::optional<Expr<int>> sum(detail::hostConstant(0));
      for (const InputTap& tap : function_.sums[k]) {
        stencils::Offset offsets[3];
        for (int d = 0; d < dims_; ++d)
          offsets[d].constant = tap.tap.offset[static_cast<std::size_t>(3 - dims_ + d)];
        const Expr<int> cell(reader.read(static_cast<int>(tap.input), offsets));
        const Expr<int> next = *sum + tap.tap.weight * cell;
        sum.emplace(next);
      }
      detail::assignNode(cells[k], sum->node());
    }
  }

 private:
  RandomFunction function_;
  int dims_;
};

std::vector<Tap> tapsOf(const RandomFunction& function, std::size_t input) {
  std::vector<Tap> taps;
  for (const auto& sum : function.sums)
    for (const InputTap& tap : sum)
      if (tap.input == input) taps.push_back(tap.tap);
  return taps;
}

/// The settings with which random programs are made.
class Maker {
 public:
  explicit Maker(std::mt19937& random) : random_(random) {}

  int between(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  void makeGrid(RandomProgram& program, int longer = 0) {
    for (std::size_t d = firstOf(program); d < 3; ++d) {
      program.extents[d] = between(4, program.dims == 3 ? 9 : 23) + (d == 2 ? longer : 0);
      isPeriodic_[d] = between(0, 5) == 0;
    }
  }
  /// Sums, rules and cells of a function whose fields are known.
  void makeFunction(const RandomProgram& program, RandomFunction& f);

 private:
  static std::size_t firstOf(const RandomProgram& program) {
    return static_cast<std::size_t>(3 - program.dims);
  }

  std::mt19937& random_;
  std::array<bool, 3> isPeriodic_{};
};

void Maker::makeFunction(const RandomProgram& program, RandomFunction& f) {
  const std::size_t first = firstOf(program);
  const int inputs = static_cast<int>(f.reads.size());
  const bool isLocal = between(0, 4) == 0;
  for (std::size_t o = 0; o < f.writes.size(); ++o) {
    auto& sum = f.sums.emplace_back();
    for (int t = between(1, 4); t > 0; --t) {
      InputTap& tap = sum.emplace_back();
      tap.input = static_cast<std::size_t>(between(0, inputs - 1));
      for (std::size_t d = first; d < 3 && !isLocal; ++d) tap.tap.offset[d] = between(-2, 2);
      tap.tap.weight = between(-2, 2);
    }
  }
  // Every input is read.
  for (std::size_t i = 0; i < f.reads.size(); ++i) f.sums[0].push_back({i, {{0, 0, 0}, 1}});
  for (int i = 0; i < inputs; ++i) {
    Rules& rules = f.rules.emplace_back();
    for (std::size_t d = first; d < 3; ++d)
      for (FaceRule& rule : rules[d]) {
        rule = {static_cast<Kind>(between(0, kKinds - 1)), between(-5, 5)};
        // Positions mean nothing where cells of a periodic grid are computed twice.
        const bool wraps = isPeriodic_[0] || isPeriodic_[1] || isPeriodic_[2];
        if (wraps && rule.kind == Kind::Computed) rule.kind = Kind::Nearest;
        if (isPeriodic_[d]) {
          rule.kind = Kind::Periodic;
        } else if (rule.kind == Kind::Periodic) {
          rule.kind = Kind::Mirror;
        }
      }
  }
  for (std::size_t d = first; d < 3; ++d) {
    if (isPeriodic_[d]) continue;
    if (between(0, 2) == 0) f.low[d] = between(0, program.extents[d] / 2);
    if (between(0, 2) == 0) f.high[d] = between(0, program.extents[d] / 2 - 1);
  }
  // Nothing is known beyond untouched faces.
  for (std::size_t i = 0; i < f.reads.size(); ++i) {
    const Margins margins = marginsOf(tapsOf(f, i));
    for (std::size_t d = first; d < 3; ++d) {
      if (f.rules[i][d][0].kind == Kind::Untouched)
        f.low[d] = std::max(f.low[d], margins.before[d]);
      if (f.rules[i][d][1].kind == Kind::Untouched)
        f.high[d] = std::max(f.high[d], margins.after[d]);
    }
  }
}

/// Lets functions write the cells that `f` leaves out, each to a box of them.
void fillRest(RandomProgram& program, const RandomFunction& f) {
  RandomFunction rest;
  rest.reads = {f.reads.front()};
  rest.writes = f.writes;
  rest.rules.resize(1);
  int weight = 3;
  for (std::size_t o = 0; o < f.writes.size(); ++o)
    rest.sums.push_back({{0, {{0, 0, 0}, weight++}}});
  for (std::size_t d = static_cast<std::size_t>(3 - program.dims); d < 3; ++d) {
    RandomFunction slab = rest;
    if (f.low[d] > 0) {
      slab.high[d] = program.extents[d] - f.low[d];
      program.functions.push_back(slab);
    }
    slab = rest;
    if (f.high[d] > 0) {
      slab.low[d] = program.extents[d] - f.high[d];
      program.functions.push_back(slab);
    }
    rest.low[d] = f.low[d];
    rest.high[d] = f.high[d];
  }
}

}  // namespace

RandomProgram randomProgram(std::mt19937& random, int longer) {
  Maker maker(random);
  RandomProgram program;
  program.dims = maker.between(1, 3);
  program.fields = maker.between(1, 3);
  maker.makeGrid(program, longer);
  for (int k = maker.between(1, 3); k > 0; --k) {
    RandomFunction& f = program.functions.emplace_back();
    const int inputs = maker.between(1, std::min(2, program.fields));
    const int outputs = maker.between(1, std::min(2, program.fields));
    const int from = maker.between(0, program.fields - 1);
    for (int i = 0; i < inputs; ++i) f.reads.push_back((from + i) % program.fields);
    const int to = maker.between(0, program.fields - 1);
    for (int o = 0; o < outputs; ++o) f.writes.push_back((to + o) % program.fields);
    maker.makeFunction(program, f);
  }
  return program;
}

RandomProgram randomChain(std::mt19937& random, bool updates) {
  using strategies::Lifetime;
  Maker maker(random);
  RandomProgram program;
  program.dims = maker.between(1, 3);
  program.fields = maker.between(1, 2);
  maker.makeGrid(program);
  program.lifetimes.assign(static_cast<std::size_t>(program.fields), Lifetime::Steps);
  const int count = maker.between(2, 4);
  const int update = updates ? maker.between(0, count - 1) : -1;
  for (int k = 0; k < count; ++k) {
    RandomFunction f;
    const int known = program.fields;
    // The last ones lead on from what is there; they are read more often than others.
    const int from = maker.between(std::max(0, known - 2), known - 1);
    f.reads.push_back(from);
    if (maker.between(0, 2) == 0) f.reads.push_back((from + maker.between(1, known)) % known);
    if (f.reads.size() == 2 && f.reads[0] == f.reads[1]) f.reads.pop_back();
    if (k == update) {
      f.reads = {0};
      f.writes = {0};
      if (known > 1) f.reads.push_back(known - 1);
    } else {
      for (int o = maker.between(1, 2); o > 0; --o) f.writes.push_back(program.fields++);
    }
    maker.makeFunction(program, f);
    program.functions.push_back(f);
    if (k == update) continue;
    program.lifetimes.resize(static_cast<std::size_t>(program.fields), Lifetime::Result);
    for (const int read : f.reads) {
      Lifetime& lifetime = program.lifetimes[static_cast<std::size_t>(read)];
      if (lifetime == Lifetime::Result && maker.between(0, 3) > 0) lifetime = Lifetime::Temporary;
    }
    // Cells that the last one leaves out are not read.
    if (k + 1 < count) fillRest(program, f);
  }
  return program;
}

RandomProgram starProgram(int dims, const Index3& extents) {
  RandomProgram program;
  program.dims = dims;
  program.extents = extents;
  RandomFunction& f = program.functions.emplace_back();
  f.reads = f.writes = {0};
  f.rules.resize(1);
  auto& sum = f.sums.emplace_back();
  sum.push_back({0, {{0, 0, 0}, 2}});
  for (std::size_t d = static_cast<std::size_t>(3 - dims); d < 3; ++d) {
    for (const int offset : {-1, 1}) {
      sum.push_back({0, {{0, 0, 0}, 1}});
      sum.back().tap.offset[d] = offset;
      f.rules[0][d][offset < 0 ? 0 : 1] = {Kind::Fixed, 1};
    }
  }
  return program;
}

std::string describe(const RandomProgram& program) {
  const auto list = [](const auto& values) {
    std::string text;
    for (const int value : values) text += std::to_string(value) + ' ';
    return text;
  };
  std::string text = std::to_string(program.fields) + " fields of " + list(program.extents);
  for (const RandomFunction& f : program.functions) {
    text += "\n  reads " + list(f.reads) + "writes " + list(f.writes) + "low " + list(f.low) +
            "high " + list(f.high);
    for (std::size_t i = 0; i < f.reads.size(); ++i) {
      text += "input " + std::to_string(i) + ": " + describe(f.rules[i], program.dims);
      for (const Tap& tap : tapsOf(f, i)) text += "at " + list(tap.offset);
    }
  }
  return text;
}

RandomProgram oncePerField(RandomProgram program) {
  std::vector<bool> isWritten(static_cast<std::size_t>(program.fields));
  std::vector<RandomFunction> kept;
  for (RandomFunction& f : program.functions) {
    bool fits = true;
    for (const int field : f.writes) fits = fits && !isWritten[static_cast<std::size_t>(field)];
    for (std::size_t d = 0; d < 3; ++d) fits = fits && f.low[d] + f.high[d] < program.extents[d];
    if (!fits) continue;
    for (const int field : f.writes) isWritten[static_cast<std::size_t>(field)] = true;
    kept.push_back(f);
  }
  if (kept.empty()) {
    kept.push_back(program.functions.front());
    kept.front().low = kept.front().high = {0, 0, 0};
    for (Rules& rules : kept.front().rules)
      for (auto& faces : rules)
        for (FaceRule& rule : faces)
          if (rule.kind == Kind::Untouched) rule.kind = Kind::Nearest;
  }
  program.functions = std::move(kept);
  return program;
}

bool isPeriodic(const RandomProgram& program) {
  for (const RandomFunction& f : program.functions)
    for (const Rules& rules : f.rules)
      for (const auto& faces : rules)
        if (faces[0].kind == Kind::Periodic) return true;
  return false;
}

void referenceFunction(const RandomProgram& program, const RandomFunction& f,
                       std::vector<Grid<int>>& fields) {
  std::vector<Grid<int>> inputs;
  std::vector<Margins> margins;
  for (std::size_t i = 0; i < f.reads.size(); ++i) {
    margins.push_back(marginsOf(tapsOf(f, i)));
    inputs.push_back(padded(fields[static_cast<std::size_t>(f.reads[i])], margins[i], f.rules[i]));
  }
  Index3 c{};
  const Index3& n = program.extents;
  for (c[0] = f.low[0]; c[0] < n[0] - f.high[0]; ++c[0])
    for (c[1] = f.low[1]; c[1] < n[1] - f.high[1]; ++c[1])
      for (c[2] = f.low[2]; c[2] < n[2] - f.high[2]; ++c[2])
        for (std::size_t o = 0; o < f.writes.size(); ++o) {
          int sum = 0;
          for (const InputTap& tap : f.sums[o]) {
            Index3 from{};
            for (std::size_t d = 0; d < 3; ++d)
              from[d] = c[d] + margins[tap.input].before[d] + tap.tap.offset[d];
            sum = plusWeighted(sum, tap.tap.weight, inputs[tap.input].at(from));
          }
          fields[static_cast<std::size_t>(f.writes[o])].at(c) = sum;
        }
}

void referenceStep(const RandomProgram& program, std::vector<Grid<int>>& fields) {
  for (const RandomFunction& f : program.functions) referenceFunction(program, f, fields);
}

std::unique_ptr<stencils::TimeRecipe> recipeOf(
    const RandomProgram& program, const stencils::TimeTile& tile, bool joins,
    std::shared_ptr<const stencils::ResidualFunction> residual) {
  const int dims = program.dims;
  const auto first = static_cast<std::size_t>(3 - dims);
  std::vector<stencils::TimeFunction> functions;
  for (const RandomFunction& f : program.functions) {
    stencils::TimeFunction& function = functions.emplace_back();
    function.point = std::make_shared<const RandomPoint>(f, dims);
    function.reads = f.reads;
    function.writes = f.writes;
    const stencils::PointFacts facts =
        stencils::findFacts(*function.point, function.point->signature().outputs);
    function.cost = facts.cost;
    for (std::size_t i = 0; i < f.reads.size(); ++i) {
      stencils::FaceBoundaries faces;
      for (int d = 0; d < dims; ++d)
        for (const bool high : {false, true})
          faces[static_cast<std::size_t>(stencils::faceOf(dims, d, high))] =
              boundaryOf(f.rules[i][first + static_cast<std::size_t>(d)][high ? 1 : 0], dims);
      function.inputs.push_back({irType<int>(), faces, facts.reach[i]});
    }
    for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
      function.low[d] = f.low[first + d];
      function.high[d] = f.high[first + d];
      function.most[d] = program.extents[first + d] - f.low[first + d] - f.high[first + d];
    }
  }
  const std::vector<ir::Type> types(static_cast<std::size_t>(program.fields), irType<int>());
  if (joins) {
    geometry::Extents extents;
    for (std::size_t d = first; d < 3; ++d) extents.append(program.extents[d]);
    std::vector<stencils::TimeFunction> joined;
    for (stencils::JoinedFunction& function :
         stencils::joinFunctions(extents, functions, types, program.lifetimes))
      joined.push_back(std::move(function.function));
    functions = std::move(joined);
  }
  return std::make_unique<stencils::TimeRecipe>(dims, types, std::move(functions), tile,
                                                program.lifetimes, stencils::GridEnds{},
                                                std::move(residual));
}

}  // namespace stencil_tests

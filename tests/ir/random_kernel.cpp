// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/random_kernel.h"

#include <cstring>

#include "tests/ir/random_statements.h"

namespace hpl::ir::test {
namespace {

/// One lane's random bytes; floating values as tame as those that kernels calculate with.
void appendLane(RandomExpressions& random, Type type, std::vector<std::byte>& bytes) {
  std::uint64_t bits = random.bits();
  const double real = (random.below(4000) - 2000) / 16.0 + 0.03125;
  if (type.scalar == Scalar::Float) {
    const auto value = static_cast<float>(real);
    std::memcpy(&bits, &value, sizeof(value));
  } else if (type.scalar == Scalar::Double) {
    std::memcpy(&bits, &real, sizeof(real));
  } else if (random.chance(50)) {
    bits %= 16;
  }
  const auto* first = reinterpret_cast<const std::byte*>(&bits);
  bytes.insert(bytes.end(), first, first + sizeOf(type.scalar));
}

std::vector<std::byte> randomBytes(RandomExpressions& random, Type type, std::int64_t elements) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < elements * type.lanes; ++i) appendLane(random, type, bytes);
  return bytes;
}

std::int64_t volume(const std::vector<std::int64_t>& extents) {
  std::int64_t cells = 1;
  for (const std::int64_t extent : extents) cells *= extent;
  return cells;
}

NDRange randomRange(RandomExpressions& random, const RandomKernelOptions& options) {
  NDRange range;
  range.dims = 1 + random.below(2);
  for (int dim = 0; dim < range.dims; ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    range.local[d] = std::uint64_t{1} << random.below(dim == 0 ? 4 : 3);
    range.global[d] = range.local[d] * static_cast<std::uint64_t>(1 + random.below(3));
    if (options.surplus && random.chance(30)) {
      range.global[d] -= static_cast<std::uint64_t>(random.below(static_cast<int>(range.local[d])));
    }
  }
  return range;
}

/// Draws the parameters, functions and body of one kernel.
class KernelMaker {
 public:
  KernelMaker(std::uint64_t seed, const RandomKernelOptions& options)
      : options_(options),
        builder_("random_" + std::to_string(seed)),
        random_(builder_, seed, options),
        statements_(builder_, random_, options) {
    result_.seed = seed;
  }

  RandomKernel make() {
    result_.range = randomRange(random_, options_);
    drawInputs();
    if (options_.functions) {
      for (int f = random_.below(3); f > 0; --f) statements_.function(inputs_);
    }
    declareInputs();
    declareOutputs();
    if (options_.atomics && random_.chance(50)) declareCounter();
    body();
    result_.kernel = builder_.finish();
    return std::move(result_);
  }

 private:
  void drawInputs() {
    for (int k = 1 + random_.below(3); k > 0; --k) {
      RandomArgument argument;
      argument.type = random_.type();
      argument.constant = random_.chance(20);
      argument.extents.push_back(1 + random_.below(12));
      if (random_.chance(40)) argument.extents.push_back(1 + random_.below(7));
      argument.bytes = randomBytes(random_, argument.type, volume(argument.extents));
      inputs_.push_back(argument);
    }
  }

  void declareInputs() {
    random_.arrays.clear();
    random_.readable.clear();
    for (const RandomArgument& input : inputs_) {
      const Space space = input.constant ? Space::Constant : Space::Global;
      const A array =
          builder_.array(random_.fresh("in"), input.type, static_cast<int>(input.extents.size()),
                         {.space = space, .readOnly = true});
      random_.arrays.push_back({array, input.extents});
      statements_.entryInputs.push_back(array);
      result_.arguments.push_back(input);
    }
    for (int k = random_.below(3); k > 0; --k) {
      RandomArgument argument;
      argument.kind = RandomArgument::Kind::Scalar;
      argument.type = random_.type();
      argument.bytes = randomBytes(random_, argument.type, 1);
      random_.readable.push_back(builder_.scalar(random_.fresh("s"), argument.type));
      result_.arguments.push_back(argument);
    }
  }

  /// Arrays with one cell per work-item, which is the only one that it touches.
  void declareOutputs() {
    std::vector<std::int64_t> extents;
    std::vector<const Expr*> own;
    for (int dim = result_.range.dims - 1; dim >= 0; --dim) {
      extents.push_back(
          static_cast<std::int64_t>(result_.range.global[static_cast<std::size_t>(dim)]));
      own.push_back(builder_.query(Query::GlobalId, dim));
    }
    for (int k = 1 + random_.below(3); k > 0; --k) {
      RandomArgument argument;
      argument.type = random_.type();
      argument.extents = extents;
      argument.bytes = randomBytes(random_, argument.type, volume(extents));
      argument.output = true;
      const A array = builder_.array(random_.fresh("out"), argument.type, result_.range.dims);
      statements_.outputs.push_back(builder_.element(array.v, own));
      result_.arguments.push_back(argument);
    }
  }

  /// Updated by one kind of atomic only, which commutes, and never read.
  void declareCounter() {
    RandomArgument argument;
    argument.type = random_.chance(50) ? kInt : kUint;
    argument.extents = {1 + random_.below(4)};
    argument.bytes = randomBytes(random_, argument.type, argument.extents[0]);
    argument.output = true;
    statements_.counter = {builder_.array(random_.fresh("count"), argument.type, 1),
                           argument.extents};
    static const std::vector<AtomicOp> kOps{AtomicOp::Add, AtomicOp::Sub, AtomicOp::Inc,
                                            AtomicOp::Dec, AtomicOp::Min, AtomicOp::Max,
                                            AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor};
    statements_.counterOp = random_.pick(kOps);
    result_.arguments.push_back(argument);
  }

  void body() {
    const bool cooperative = options_.barriers && random_.chance(50);
    ReadableArray tile;
    if (cooperative) tile = declareTile();
    for (int k = 0; k < 3; ++k) statements_.declare();
    if (random_.chance(60)) statements_.privateArray();
    for (int k = 2 + random_.below(options_.statements - 1); k > 0; --k) {
      if (cooperative && random_.chance(20)) {
        exchange(tile);
      } else {
        statements_.statement(2);
      }
    }
    if (!cooperative && random_.chance(20)) {
      builder_.if_(random_.condition(1), [&] { builder_.ret(); });
    }
    statements_.storeAll();
  }

  ReadableArray declareTile() {
    ReadableArray tile;
    const Type type = random_.type();
    for (int dim = result_.range.dims - 1; dim >= 0; --dim) {
      const auto d = static_cast<std::size_t>(dim);
      tile.extents.push_back(static_cast<std::int64_t>(result_.range.local[d]));
      ownTileCell_.push_back(builder_.query(Query::LocalId, dim));
    }
    if (random_.chance(30)) {
      RandomArgument argument;
      argument.kind = RandomArgument::Kind::Local;
      argument.type = type;
      argument.extents = tile.extents;
      tile.array =
          builder_.array(random_.fresh("tile"), type, result_.range.dims, {.space = Space::Local});
      result_.arguments.push_back(argument);
    } else {
      tile.array = builder_.local(random_.fresh("tile"), type, tile.extents);
    }
    return tile;
  }

  /// Everybody writes its own cell, then reads any; sometimes repeatedly, in a uniform loop.
  void exchange(const ReadableArray& tile) {
    const auto once = [&] {
      const Type type = tile.array.v->type;
      builder_.set(builder_.element(tile.array.v, ownTileCell_),
                   random_.value(type, options_.depth));
      builder_.barrier(random_.chance(80) ? kLocalFence : kLocalFence | kGlobalFence);
      random_.arrays.push_back(tile);
      statements_.scoped([&] {
        for (int k = 1 + random_.below(2); k > 0; --k) statements_.assign();
        statements_.statement(1);
      });
      const A read = builder_.var(random_.fresh("v"), type, random_.element(tile));
      random_.arrays.pop_back();
      builder_.barrier();
      return read;
    };
    if (random_.chance(70)) {
      statements_.addVariable(once());
      return;
    }
    builder_.count(random_.fresh("round"), kInt, 0, 2, [&](A) { once(); });
  }

  RandomKernelOptions options_;
  IrBuilder builder_;
  RandomExpressions random_;
  RandomStatements statements_;
  RandomKernel result_;
  std::vector<RandomArgument> inputs_;
  std::vector<const Expr*> ownTileCell_;
};

}  // namespace

RandomKernel makeRandomKernel(std::uint64_t seed, const RandomKernelOptions& options) {
  return KernelMaker(seed, options).make();
}

std::vector<std::vector<std::byte>> interpretRandomKernel(const RandomKernel& random,
                                                          const InterpreterOptions& options) {
  std::vector<std::vector<std::byte>> contents;
  for (const RandomArgument& argument : random.arguments) contents.push_back(argument.bytes);
  std::vector<Argument> arguments;
  for (std::size_t k = 0; k < random.arguments.size(); ++k) {
    const RandomArgument& argument = random.arguments[k];
    switch (argument.kind) {
      case RandomArgument::Kind::Array:
        arguments.push_back(arrayArgument(contents[k].data(), argument.extents));
        break;
      case RandomArgument::Kind::Scalar:
        arguments.push_back(ScalarArgument{contents[k]});
        break;
      case RandomArgument::Kind::Local:
        arguments.push_back(LocalArgument{argument.extents});
        break;
    }
  }
  interpret(random.kernel, random.range, arguments, options);
  return contents;
}

}  // namespace hpl::ir::test

// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/interpreter.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/compiler.h"

namespace hpl::ir {
namespace detail {
namespace {

/// Work-items that are executed together when groups cannot interact: enough to amortise the
/// walk over the kernel, few enough to stay in the cache.
constexpr std::uint64_t kBatch = 256;

std::string describeParameter(const Kernel& kernel, const Variable& param) {
  return "kernel '" + kernel.title() + "': argument " + std::to_string(param.paramIndex + 1) +
         " ('" + param.name + "')";
}

void checkRange(const Kernel& kernel, const NDRange& range) {
  if (range.dims < 1 || range.dims > 3) {
    throw LaunchError("kernel '" + kernel.title() + "': an NDRange has 1 to 3 dimensions, not " +
                      std::to_string(range.dims));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (range.global[d] != 0 && range.local[d] != 0) continue;
    throw LaunchError("kernel '" + kernel.title() + "': the " +
                      (range.global[d] == 0 ? "global" : "local") + " size of dimension " +
                      std::to_string(d) + " is 0; sizes are at least 1");
  }
}

void bindArray(const Kernel& kernel, const Variable& param, const Argument& argument,
               StorageTable& storages) {
  const auto rank = static_cast<std::size_t>(param.rank);
  if (param.space == Space::Local) {
    const auto* local = std::get_if<LocalArgument>(&argument);
    if (local == nullptr || local->extents.size() != rank) {
      throw ArgumentError(describeParameter(kernel, param) + " is a local array of rank " +
                          std::to_string(rank) + ": pass a LocalArgument with as many extents");
    }
    storages.bindLocal(&param, local->extents);
    return;
  }
  const auto* array = std::get_if<ArrayArgument>(&argument);
  const bool alias = param.role == Role::Alias;
  if (array == nullptr || (!alias && array->extents.size() != rank) ||
      (!array->strides.empty() && array->strides.size() != array->extents.size())) {
    throw ArgumentError(describeParameter(kernel, param) + " is an array of rank " +
                        std::to_string(rank) +
                        ": pass an ArrayArgument with as many extents (and strides, if any)");
  }
  if (array->data == nullptr) {
    throw ArgumentError(describeParameter(kernel, param) + " has no data: pass the array's memory");
  }
  storages.bindGlobal(&param, *array);
}

/// A scalar argument to copy into its parameter at the beginning of every batch.
struct ScalarBinding {
  const Storage* storage;
  const std::vector<std::byte>* bytes;
};

std::vector<ScalarBinding> bindArguments(const Kernel& kernel,
                                         const std::vector<Argument>& arguments,
                                         StorageTable& storages) {
  const auto& params = kernel.entry->params;
  if (params.size() != arguments.size()) {
    throw ArgumentError("kernel '" + kernel.title() + "' takes " + std::to_string(params.size()) +
                        " arguments, got " + std::to_string(arguments.size()));
  }
  std::vector<ScalarBinding> scalars;
  for (std::size_t k = 0; k < params.size(); ++k) {
    if (params[k]->role != Role::ScalarParam) {
      bindArray(kernel, *params[k], arguments[k], storages);
      continue;
    }
    const auto* scalar = std::get_if<ScalarArgument>(&arguments[k]);
    if (scalar == nullptr || scalar->bytes.size() != sizeOf(params[k]->type)) {
      throw ArgumentError(describeParameter(kernel, *params[k]) + " is a " +
                          describe(params[k]->type) + ": pass a ScalarArgument of " +
                          std::to_string(sizeOf(params[k]->type)) + " bytes");
    }
    scalars.push_back(ScalarBinding{storages.of(params[k]), &scalar->bytes});
  }
  return scalars;
}

/// Does any statement of the block, however deep, satisfy `test`?
template <class Test>
bool anyStatement(const Block* block, Test test) {
  if (block == nullptr) return false;
  return std::any_of(block->stmts.begin(), block->stmts.end(), [&](const Stmt* stmt) {
    if (test(*stmt)) return true;
    if (const auto* node = stmt->as<Block>()) return anyStatement(node, test);
    if (const auto* node = stmt->as<If>()) {
      return anyStatement(node->then, test) || anyStatement(node->otherwise, test);
    }
    if (const auto* node = stmt->as<Loop>()) {
      return anyStatement(node->prepare, test) || anyStatement(node->body, test) ||
             anyStatement(node->step, test);
    }
    if (const auto* node = stmt->as<DoLoop>()) {
      return anyStatement(node->prepare, test) || anyStatement(node->body, test);
    }
    return false;
  });
}

bool hasBarrier(const Kernel& kernel) {
  const auto isBarrier = [](const Stmt& stmt) { return stmt.as<Barrier>() != nullptr; };
  return anyStatement(kernel.entry->body, isBarrier) ||
         std::any_of(kernel.functions.begin(), kernel.functions.end(),
                     [&](const Function* f) { return anyStatement(f->body, isBarrier); });
}

/// Groups that load atomically may wait for what others store.
bool waitsForGroups(const Kernel& kernel) {
  const auto isLoad = [](const Stmt& stmt) {
    const auto* atomic = stmt.as<Atomic>();
    return atomic != nullptr && atomic->op == AtomicOp::Load;
  };
  return anyStatement(kernel.entry->body, isLoad) ||
         std::any_of(kernel.functions.begin(), kernel.functions.end(),
                     [&](const Function* f) { return anyStatement(f->body, isLoad); });
}

bool hasLocalMemory(const Kernel& kernel) {
  const auto declaresLocal = [](const Stmt& stmt) {
    const auto* node = stmt.as<Declare>();
    return node != nullptr && node->variable->space == Space::Local;
  };
  const auto& params = kernel.entry->params;
  return anyStatement(kernel.entry->body, declaresLocal) ||
         std::any_of(params.begin(), params.end(),
                     [](const Variable* param) { return param->space == Space::Local; }) ||
         std::any_of(kernel.functions.begin(), kernel.functions.end(),
                     [&](const Function* f) { return anyStatement(f->body, declaresLocal); });
}

bool isRounded(const NDRange& range) {
  for (std::size_t d = 0; d < 3; ++d)
    if (range.global[d] % range.local[d] != 0) return true;
  return false;
}

/// Runs all batches of an NDRange.
class Run {
 public:
  Run(const Kernel& kernel, const NDRange& range, const std::vector<Argument>& arguments,
      const InterpreterOptions& options)
      : machine_(kernel, range, options),
        storages_(machine_),
        compiler_(kernel, storages_),
        hasBarrier_(hasBarrier(kernel)),
        surplusLoads_(isRounded(range) ? SurplusLoads(kernel) : SurplusLoads()),
        groupSize_(range.local[0] * range.local[1] * range.local[2]),
        items_(groupSize_ * machine_.groupsIn(0) * machine_.groupsIn(1) * machine_.groupsIn(2)) {
    // Where the work-items of a group cannot meet, a batch may hold pieces of many groups.
    const bool areApart = hasBarrier_ || hasLocalMemory(kernel) || waitsForGroups(kernel);
    const std::uint64_t wanted = areApart ? groupSize_ : kBatch;
    machine_.width = static_cast<std::int64_t>(std::min(wanted, items_));
    allocateRows();
    scalars_ = bindArguments(kernel, arguments, storages_);
    compiler_.setSurplusLoads(surplusLoads_);
  }

  void run() {
    const FunctionCode& entry = compiler_.compile();
    const auto width = static_cast<std::uint64_t>(machine_.width);
    for (std::uint64_t first = 0; first < items_; first += width) runFrom(entry, first);
  }

  /// One of the groups that run in turns.
  void runGroup(std::size_t group, Turns& turns, RaceDetector::Shared& shared) {
    machine_.turns = &turns;
    machine_.races.share(&shared);
    runFrom(compiler_.compile(), group * groupSize_);
  }
  std::uint64_t groups() const { return items_ / groupSize_; }

 private:
  std::uint64_t*& ids(Query query, int dim) { return machine_.ids[static_cast<int>(query)][dim]; }

  void allocateRows() {
    machine_.present = reinterpret_cast<Mask>(storages_.newRow(1));
    machine_.surplus = reinterpret_cast<Mask>(storages_.newRow(1));
    for (auto& query : machine_.ids) {
      for (std::uint64_t*& row : query) {
        row = reinterpret_cast<std::uint64_t*>(storages_.newRow(sizeof(std::uint64_t)));
      }
    }
    for (int dim = 0; dim < 3; ++dim) {
      const auto d = static_cast<std::size_t>(dim);
      std::fill_n(ids(Query::GlobalSize, dim), machine_.width, machine_.range.global[d]);
      std::fill_n(ids(Query::LocalSize, dim), machine_.width, machine_.range.local[d]);
      std::fill_n(ids(Query::NumGroups, dim), machine_.width, machine_.groupsIn(dim));
      std::fill_n(ids(Query::Origin, dim), machine_.width, machine_.range.origin[d]);
    }
  }

  void runFrom(const FunctionCode& entry, std::uint64_t first) {
    place(first);
    storages_.reset();
    machine_.races.nextGroup();
    passScalars();
    const Scratch::Scope scope(machine_.scratch);
    execBlock(machine_, entry.body, machine_.copyOf(machine_.present));
  }

  /// Puts the work-items `first`, `first + 1`, ... (group after group) into the batch.
  void place(std::uint64_t first) {
    machine_.anySurplus = false;
    for (std::int64_t i = 0; i < machine_.width; ++i) {
      const std::uint64_t item = first + static_cast<std::uint64_t>(i);
      machine_.present[i] = item < items_ ? 1 : 0;
      std::uint64_t group = item / groupSize_;
      std::uint64_t within = item % groupSize_;
      machine_.surplus[i] = 0;
      for (int dim = 0; dim < 3; ++dim) {
        const auto d = static_cast<std::size_t>(dim);
        const std::uint64_t local = within % machine_.range.local[d];
        const std::uint64_t g = group % machine_.groupsIn(dim);
        within /= machine_.range.local[d];
        group /= machine_.groupsIn(dim);
        const std::uint64_t global = g * machine_.range.local[d] + local;
        ids(Query::LocalId, dim)[i] = local;
        ids(Query::GroupId, dim)[i] = g;
        ids(Query::GlobalId, dim)[i] = global;
        if (global >= machine_.range.global[d])
          machine_.surplus[i] |= static_cast<std::uint8_t>(1u << d);
      }
      // Without barriers, surplus work-items have nothing to do at all.
      if (!hasBarrier_ && machine_.surplus[i] != 0) machine_.present[i] = 0;
      machine_.anySurplus = machine_.anySurplus || (hasBarrier_ && machine_.surplus[i] != 0);
    }
  }

  void passScalars() {
    for (const ScalarBinding& scalar : scalars_) {
      const std::size_t size = scalar.bytes->size();
      for (std::int64_t i = 0; i < machine_.width; ++i) {
        std::memcpy(scalar.storage->data + i * scalar.storage->size, scalar.bytes->data(), size);
      }
      if (scalar.storage->written != nullptr) {
        std::memset(scalar.storage->written, 1, static_cast<std::size_t>(machine_.width) * size);
      }
    }
  }

  Machine machine_;
  StorageTable storages_;
  Compiler compiler_;
  bool hasBarrier_;
  SurplusLoads surplusLoads_;
  std::uint64_t groupSize_;
  std::uint64_t items_;
  std::vector<ScalarBinding> scalars_;
};

/// More than that would be more threads than machines like.
constexpr std::uint64_t kMostInTurns = 256;

void runInTurns(const Kernel& kernel, const NDRange& range, const std::vector<Argument>& arguments,
                const InterpreterOptions& options, std::uint64_t groups) {
  if (groups > kMostInTurns)
    throw LaunchError("kernel '" + kernel.title() + "': its groups may wait for each other, and " +
                      std::to_string(groups) + " of them cannot be interpreted at once; at most " +
                      std::to_string(kMostInTurns) + " can: choose larger groups");
  std::vector<std::unique_ptr<Run>> runs;
  for (std::uint64_t group = 0; group < groups; ++group)
    runs.push_back(std::make_unique<Run>(kernel, range, arguments, options));
  Turns turns(groups);
  RaceDetector::Shared shared(groups);
  turns.run([&](std::size_t group) { runs[group]->runGroup(group, turns, shared); });
}

}  // namespace
}  // namespace detail

void interpret(const Kernel& kernel, const NDRange& range, const std::vector<Argument>& arguments,
               const InterpreterOptions& options) {
  detail::checkRange(kernel, range);
  detail::Run all(kernel, range, arguments, options);
  if (all.groups() > 1 && detail::waitsForGroups(kernel))
    return detail::runInTurns(kernel, range, arguments, options, all.groups());
  all.run();
}

}  // namespace hpl::ir

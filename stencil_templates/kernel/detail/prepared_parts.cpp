// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/prepared_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "hpl/error.h"
#include "hpl/memory/root.h"

namespace hpl::kernel_stencils {
namespace {

/// By the helper's array. Never destroyed: static arrays may outlive it.
class Table {
 public:
  static Table& get() {
    static Table* table = new Table;
    return *table;
  }

  void add(const memory::Root& helper, PreparedPart part) {
    const std::lock_guard lock(mutex_);
    // Each helper that is gone is looked at once.
    if (parts_.size() >= limit_) {
      std::erase_if(parts_, [](const auto& entry) { return entry.second.helper.expired(); });
      limit_ = std::max(kFirstLimit, 2 * parts_.size());
    }
    parts_.insert_or_assign(&helper, Entry{helper.weak_from_this(), std::move(part)});
  }
  std::optional<PreparedPart> find(const memory::Root& helper) {
    const std::lock_guard lock(mutex_);
    const auto found = parts_.find(&helper);
    if (found == parts_.end() || found->second.helper.expired()) return std::nullopt;
    return found->second.part;
  }

 private:
  struct Entry {
    std::weak_ptr<const memory::Root> helper;
    PreparedPart part;
  };
  static constexpr std::size_t kFirstLimit = 64;

  std::mutex mutex_;
  std::map<const memory::Root*, Entry> parts_;
  std::size_t limit_ = kFirstLimit;
};

std::string extentsOf(const geometry::Box& box) {
  std::string text;
  for (int d = 0; d < box.rank(); ++d) text += (d > 0 ? " x " : "") + std::to_string(box.extent(d));
  return text + (box.rank() == 1 && box.extent(0) == 1 ? " element" : " elements");
}

class PartsGuard : public layout::LaunchGuard {
 public:
  explicit PartsGuard(const Request& request) : name_(request.name), helper_(request.helper) {
    for (std::size_t i = 0; i < request.inputCount; ++i) arrays_.push_back(request.inputs[i].array);
    arrays_.insert(arrays_.end(), request.outputs, request.outputs + request.outputCount);
  }

  void check(const layout::GuardedLaunch& launch) const override {
    const memory::View* helper = viewOf(launch, helper_);
    if (helper == nullptr) return;
    const auto prepared = Table::get().find(helper->root());
    if (!prepared) return;
    for (const Symbol array : arrays_)
      if (const memory::View* view = viewOf(launch, array)) check(launch, *prepared, array, *view);
  }

 private:
  /// Null: no parameter of the kernel itself, but of a function that it calls.
  static const memory::View* viewOf(const layout::GuardedLaunch& launch, Symbol array) {
    const auto place = static_cast<std::size_t>(array->paramIndex);
    const auto& params = launch.kernel.entry->params;
    if (array->paramIndex < 0 || place >= params.size() || params[place] != array) return nullptr;
    return launch.views[place];
  }

  void check(const layout::GuardedLaunch& launch, const PreparedPart& prepared, Symbol array,
             const memory::View& view) const {
    const geometry::Box came = view.box();
    // Where it lies in its array is known for parts of arrays of the same shape.
    const bool isComparable = geometry::Box::ofExtents(view.root().shape()) == prepared.whole;
    const bool isSame =
        came.extents() == prepared.part.extents() && (!isComparable || came == prepared.part);
    if (isSame) return;
    const bool sameSize = came.extents() == prepared.part.extents();
    const std::string where = sameSize ? " at " + came.toString() : "";
    const std::string wanted = sameSize ? " at " + prepared.part.toString() : "";
    throw LaunchError(fmt::format(
        "{} in kernel '{}': on device {}, array '{}' is a part of {}{}, but {} prepared the tile "
        "form for {}{}; prepare it with the ghosts and devices of the launch, as in "
        "PrepareStencilKernel...(PART1(array, width), devices), launch without .weights, or name "
        "StencilForm::Direct in both",
        name_, launch.kernel.name(), launch.device, array->name, extentsOf(came), where,
        prepared.name, extentsOf(prepared.part), wanted));
  }

  std::string name_;
  Symbol helper_;
  std::vector<Symbol> arrays_;
};

/// Any launch will do; what the helper holds is known.
class EndsGuard : public layout::LaunchGuard {
 public:
  explicit EndsGuard(const Request& request) : helper_(request.helper) {
    const Reach left = request.reachWithoutBoundary();
    for (int d = 0; d < request.rank; ++d)
      if (left.before[d] > 0 || left.after[d] > 0) return;
    outputs_.assign(request.outputs, request.outputs + request.outputCount);
  }

  void check(const layout::GuardedLaunch& /*launch*/) const override {}
  int tableOfEnds(const ir::Kernel& kernel) const override {
    return isParameter(kernel, helper_) ? helper_->paramIndex : -1;
  }
  bool writesEnds(const ir::Kernel& kernel, int parameter) const override {
    return std::any_of(outputs_.begin(), outputs_.end(), [&](Symbol output) {
      return isParameter(kernel, output) && output->paramIndex == parameter;
    });
  }

 private:
  static bool isParameter(const ir::Kernel& kernel, Symbol array) {
    const auto place = static_cast<std::size_t>(array->paramIndex);
    const auto& params = kernel.entry->params;
    return array->paramIndex >= 0 && place < params.size() && params[place] == array;
  }

  Symbol helper_;
  /// Those of which all elements can be computed.
  std::vector<Symbol> outputs_;
};

}  // namespace

void rememberPart(const Array<int, 1>& helper, PreparedPart part) {
  Table::get().add(helper.hostView().root(), std::move(part));
}

std::shared_ptr<const layout::LaunchGuard> guardOfParts(const Request& request) {
  return std::make_shared<PartsGuard>(request);
}

std::shared_ptr<const layout::LaunchGuard> guardOfEnds(const Request& request) {
  return std::make_shared<EndsGuard>(request);
}

}  // namespace hpl::kernel_stencils

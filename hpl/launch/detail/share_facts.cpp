// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/ir/printer.h"
#include "hpl/launch/detail/origin.h"
#include "hpl/launch/detail/part_facts.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {
namespace {

using geometry::Extents;

/// The axes (bits) along which a.part(d) is each part's domain.
unsigned axesOfSize(const std::vector<PartLaunch>& launches, std::size_t argument) {
  unsigned axes = 7;
  for (const PartLaunch& launch : launches) {
    if (launch.plan().views.empty()) return 0;
    const std::size_t size = launch.partExtents[argument];
    const Extents& domain = launch.plan().views.front()->extents;
    for (int axis = 0; axis < 3; ++axis) {
      const int dim = domain.rank() - 1 - axis;
      if (dim < 0 || static_cast<std::size_t>(domain[dim]) != size) axes &= ~(1U << axis);
    }
  }
  return axes;
}

/// Whether the kernel's maker says that an argument tells the ends of the array, and no more.
bool isTableOfEnds(const ShareJob& job, std::size_t argument) {
  const auto& guards = job.version->guards;
  return std::any_of(guards.begin(), guards.end(), [&](const auto& guard) {
    return guard->tableOfEnds(*job.version->kernel) == static_cast<int>(argument);
  });
}

bool writesEnds(const KernelVersion& version, int parameter) {
  return std::any_of(version.guards.begin(), version.guards.end(), [&](const auto& guard) {
    return guard->writesEnds(*version.kernel, parameter);
  });
}

ir::PartRole scalarRole(const ShareJob& job, const std::vector<PartLaunch>& launches,
                        std::size_t i) {
  ir::PartRole role;
  role.differs = job.arguments[i].kind == Argument::Kind::PerDevice && !isTableOfEnds(job, i);
  if (job.arguments[i].kind != Argument::Kind::PartExtent) return role;
  role.sizeOf = axesOfSize(launches, i);
  const auto isFirstSize = [&](const PartLaunch& launch) {
    return launch.partExtents[i] == launches.front().partExtents[i];
  };
  role.differs = role.sizeOf == 0 && !std::all_of(launches.begin(), launches.end(), isFirstSize);
  return role;
}

ir::PartRoles rolesOf(const ShareJob& job, const std::vector<PartLaunch>& launches) {
  ir::PartRoles roles;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Argument& argument = job.arguments[i];
    if (argument.kind != Argument::Kind::Array) {
      roles.push_back(scalarRole(job, launches, i));
      continue;
    }
    ir::PartRole& role = roles.emplace_back();
    const Annotation& annotation = argument.annotation();
    for (int k = 0; k < annotation.count; ++k) role.split |= 1U << annotation.dims[k].dim;
    for (std::size_t j = 0; j < job.arguments.size(); ++j) {
      const Argument& other = job.arguments[j];
      if (other.kind != Argument::Kind::Array || &other.view->root() != &argument.view->root())
        continue;
      if (j < i && role.sameAs < 0) role.sameAs = static_cast<int>(j);
      // Parts of one array that are cut in two ways change under each other's hands.
      if (!(other.annotation() == annotation) || other.view != argument.view) role.differs = true;
    }
  }
  return roles;
}

/// The results of the analyses of the captured kernels. Null: native, or a custom rewrite.
class Analyses {
 public:
  Analyses(const ShareJob& job, const std::vector<PartLaunch>& launches)
      : roles_(rolesOf(job, launches)), alignedAxes_(alignedAxes(job, launches)) {
    for (const PartLaunch& launch : launches) {
      const KernelVersion& version = *launch.plan().version;
      const KernelVersion& first = *launches.front().plan().version;
      // Each kind of device captures the kernel anew.
      isOneKernel_ = isOneKernel_ && version.kernel != nullptr && version.rewriter == nullptr &&
                     (&version == &first || ir::print(*version.kernel) == ir::print(*first.kernel));
    }
  }

  const ir::PartSummary* of(const KernelVersion& version) {
    if (version.kernel == nullptr || version.rewriter != nullptr) return nullptr;
    for (const auto& [known, summary] : known_)
      if (known == &version) return &summary;
    return &known_.emplace_back(&version, ir::analyzeParts(*version.kernel, roles_, alignedAxes_))
                .second;
  }
  bool isOneKernel() const { return isOneKernel_; }

 private:
  ir::PartRoles roles_;
  unsigned alignedAxes_;
  bool isOneKernel_ = true;
  std::vector<std::pair<const KernelVersion*, ir::PartSummary>> known_;
};

std::vector<int> splitDims(const Annotation& annotation) {
  std::vector<int> dims;
  dims.reserve(static_cast<std::size_t>(annotation.count));
  for (int k = 0; k < annotation.count; ++k) dims.push_back(annotation.dims[k].dim);
  return dims;
}

/// Whether a launch has a work-item for each cell of a part, and no others.
bool isDomainOf(const Domain& global, const Extents& part) {
  if (global.dims == 0) return true;
  bool isSame = global.dims == part.rank();
  for (int axis = 0; isSame && axis < global.dims; ++axis)
    isSame = global.size[axis] == static_cast<std::size_t>(part[part.rank() - 1 - axis]);
  return isSame;
}

bool isWrittenTwice(const DevicePlan& plan, const memory::detail::DeviceUse& use) {
  return std::count_if(plan.uses.begin(), plan.uses.end(), [&](const auto& other) {
           return other.write && &other.view->root() == &use.view->root();
         }) > 1;
}

}  // namespace

bool notePartFacts(const ShareJob& job, const std::vector<PartLaunch>& launches) {
  Analyses analyses(job, launches);
  bool some = false;
  for (const PartLaunch& launch : launches) {
    const DevicePlan& plan = launch.plan();
    std::size_t array = 0;
    for (std::size_t i = 0; i < job.arguments.size(); ++i) {
      if (!job.version->params[i].isBuffer()) continue;
      const std::size_t number = array++;
      const memory::detail::DeviceUse& use = plan.uses[number];
      if (use.distribution == nullptr || !use.distribution->hasGhosts()) continue;
      some = true;
      auto facts = std::make_shared<coherence::PartFacts>();
      facts->refresh = job.arguments[i].annotation().sync == AUTO_SYNC;
      if (const ir::PartSummary* summary = analyses.of(*plan.version)) {
        const auto parameter = static_cast<int>(i);
        noteAccess(*facts, *summary, parameter, splitDims(job.arguments[i].annotation()));
        // Otherwise the ids may end before the part does.
        const bool coversPart = use.view->extents == plan.views.front()->extents &&
                                isDomainOf(launch.global, use.view->extents);
        if (coversPart && analyses.isOneKernel() && !(use.write && isWrittenTwice(plan, use))) {
          facts->outcome = outcomeOf(*summary, parameter);
          facts->outcome.writesEnds = writesEnds(*plan.version, parameter);
        }
      }
      for (DevicePlan* piece : launch.plans) piece->uses[number].facts = facts;
    }
  }
  return some;
}

}  // namespace hpl::launch

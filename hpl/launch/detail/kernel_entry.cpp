// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/kernel_entry.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hpl/error.h"
#include "hpl/ir/choices.h"
#include "hpl/ir/global_ids.h"
#include "hpl/ir/group_numbers.h"
#include "hpl/ir/own_scalars.h"
#include "hpl/ir/verifier.h"
#include "hpl/lang/capture_state.h"
#include "hpl/launch/detail/device_plan.h"
#include "hpl/launch/detail/native_arrays.h"
#include "hpl/layout/rewriter.h"
#include "hpl/layout/rewritten_kernels.h"
#include "hpl/memory/transaction.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/runtime.h"
#include "hpl/trace/timeline.h"

namespace hpl::launch {
namespace {

/// Beyond this many plans a kernel's oldest ones are dropped wholesale: a program that makes that
/// many distinct launches of one kernel does not repeat them.
constexpr std::size_t kMaxPlans = 1024;

using Guards = std::vector<std::shared_ptr<const layout::LaunchGuard>>;

thread_local runtime::DeviceState* capturingDevice = nullptr;
thread_local Guards* capturingGuards = nullptr;

struct CapturingFor {
  CapturingFor(runtime::DeviceState& device, Guards& guards)
      : outer(capturingDevice), outerGuards(capturingGuards) {
    capturingDevice = &device;
    capturingGuards = &guards;
  }
  ~CapturingFor() {
    capturingDevice = outer;
    capturingGuards = outerGuards;
  }
  CapturingFor(const CapturingFor&) = delete;
  CapturingFor& operator=(const CapturingFor&) = delete;
  runtime::DeviceState* outer;
  Guards* outerGuards;
};

/// All entries ever made; never destroyed, because static Arrays and FRunners may outlive any
/// static object of ours. The plans in them are dropped when the runtime shuts down.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<KernelEntry>> functions;
  std::unordered_map<std::string, std::unique_ptr<KernelEntry>> functors;

  static Registry& get() {
    static Registry* registry = [] {
      auto* fresh = new Registry;
      runtime::Runtime::atShutdown(&Registry::dropPlans);
      return fresh;
    }();
    return *registry;
  }
  static void dropPlans() {
    Registry& self = get();
    const std::lock_guard lock(self.mutex);
    for (auto& [address, entry] : self.functions) entry->dropPlans();
    for (auto& [key, entry] : self.functors) entry->dropPlans();
  }
};

/// The last entries that this thread asked for: finding one again costs no lock.
struct RecentEntry {
  const void* address = nullptr;
  KernelEntry* entry = nullptr;
};
constexpr std::size_t kRecent = 16;
thread_local RecentEntry recentEntries[kRecent];

std::size_t recentSlot(const void* address) {
  return (reinterpret_cast<std::size_t>(address) >> 4) % kRecent;
}

std::string kindOf(const runtime::DeviceState& device) {
  const DeviceProperties& p = device.properties();
  return p.platform + '\n' + p.name + '\n' + p.driverVersion;
}

std::vector<Parameter> parametersOf(const ir::Kernel& kernel, const ir::AccessSummary& access) {
  std::vector<Parameter> params;
  const auto dense = arraysOfNativeFunctions(kernel);
  for (const ir::Variable* variable : kernel.entry->params) {
    Parameter& p = params.emplace_back();
    p.rank = variable->rank;
    p.type = variable->type;
    p.space = variable->space;
    p.readOnly = variable->readOnly;
    if (p.isBuffer()) p.access = access.find(variable);
    p.isDense = p.isBuffer() && p.rank > 1 && dense.contains(variable);
  }
  return params;
}

}  // namespace

void throwNoKernel() {
  throw KernelError(
      "eval: there is no kernel: the function pointer is null or the std::function empty; assign a "
      "kernel to it first");
}

KernelEntry& entryOfFunction(const void* address, const KernelSource& source) {
  RecentEntry& recent = recentEntries[recentSlot(address)];
  if (recent.address == address) return *recent.entry;
  runtime::requireOwnProcess();
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  auto& entry = registry.functions[address];
  if (!entry) entry = std::make_unique<KernelEntry>(source, nullptr);
  recent = {address, entry.get()};
  return *entry;
}

KernelEntry& entryOfFunctor(const void* type, const void* state, std::size_t bytes,
                            const KernelSource& source, std::shared_ptr<const void> copy) {
  runtime::requireOwnProcess();
  std::string key(reinterpret_cast<const char*>(&type), sizeof type);
  if (bytes > 0) key.append(static_cast<const char*>(state), bytes);
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  auto& entry = registry.functors[key];
  if (!entry) entry = std::make_unique<KernelEntry>(source, std::move(copy));
  return *entry;
}

std::shared_ptr<KernelEntry> anonymousEntry(const KernelSource& source,
                                            std::shared_ptr<const void> copy,
                                            const std::string& title) {
  auto entry = std::make_shared<KernelEntry>(source, std::move(copy));
  entry->setTitle(title);
  return entry;
}

KernelEntry::KernelEntry(const KernelSource& source, std::shared_ptr<const void> copy)
    : source_(source), copy_(std::move(copy)) {}

std::shared_ptr<const KernelVersion> KernelEntry::version(runtime::DeviceState& device,
                                                          const std::vector<std::string>& labels) {
  const std::lock_guard lock(mutex_);
  if (nativeVersion_) return nativeVersion_;
  auto& version = versions_[kindOf(device)];
  if (!version) version = capture(device, labels);
  return version;
}

std::shared_ptr<const KernelVersion> KernelEntry::capture(runtime::DeviceState& device,
                                                          const std::vector<std::string>& labels) {
  if (source_.record == nullptr)
    throw KernelError(
        "this function has parameters marked In, Out or InOut, so it stands for a native "
        "kernel, but nativeHandle(f, name, source) was not called for it");
  const auto begin = std::chrono::steady_clock::now();
  auto version = std::make_shared<KernelVersion>();
  const CapturingFor guard(device, version->guards);
  {
    hpl::detail::Capture capture(labels);
    capture.setMaps(maps_);
    capture.setDeviceLimits(device.properties().maxWorkGroupSize, device.properties().localMemory);
    source_.record(source_.callable);
    version->kernel = capture.finish(source_.fallbackName, title_);
  }
  ir::verify(*version->kernel);
  std::shared_ptr<const ir::Kernel> written;
  if (source_.rewriter == nullptr) {
    version->kernel = ir::withGlobalIds(ir::withOwnScalars(std::move(version->kernel)), groupSize_);
    if (isUnfolded_) version->kernel = ir::unfolded(*version->kernel, *rowLength_);
    if (groupSize_ != ir::GroupSize{})
      version->kernel = ir::withGroupNumbers(std::move(version->kernel), groupSize_);
    written = version->kernel;
    version->kernel = ir::withChoices(written, sizes_);
  }
  // The code stays the same for all levels.
  const auto known =
      levels_.empty() ? version->kernel : ir::withLevels(*version->kernel, levels_, knownLevels_);
  version->access = ir::analyze(*known, sizes_);
  if (written != nullptr) ask(*written, *version);
  version->rewriter = source_.rewriter;
  if (version->rewriter != nullptr) {
    version->rewriter->adjust(version->access);
  } else {
    version->axes = ir::chooseAxes(*version->kernel, version->access);
  }
  version->name = version->kernel->title();
  version->rewritten = std::make_shared<layout::RewrittenKernels>();
  version->params = parametersOf(*version->kernel, version->access);
  for (std::size_t i = 0; i < maps_.size(); ++i) version->params[i].isMapped = maps_[i] != nullptr;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  trace::recordKernelCreation(version->name, took.count());
  return version;
}

void KernelEntry::setNative(std::shared_ptr<const NativeKernel> native) {
  auto version = std::make_shared<KernelVersion>();
  version->name = native->name;
  for (const NativeParam& param : native->params) {
    Parameter& p = version->params.emplace_back();
    p.rank = param.rank;
    p.type = param.type;
    p.space = param.space;
    p.mode = param.mode;
    p.readOnly = param.mode == NativeMode::In;
    p.isDense = p.isBuffer();
  }
  version->native = std::move(native);
  forget();
  const std::lock_guard lock(mutex_);
  nativeVersion_ = std::move(version);
}

std::string KernelEntry::describe() {
  const std::lock_guard lock(mutex_);
  if (nativeVersion_) return nativeVersion_->name;
  if (!versions_.empty()) return versions_.begin()->second->name;
  return title_.empty() ? "a kernel" : title_;
}

bool KernelEntry::isAgreed(std::uint64_t signature) {
  const std::lock_guard lock(mutex_);
  return agreed_.contains(signature);
}

void KernelEntry::noteAgreed(std::uint64_t signature) {
  const std::lock_guard lock(mutex_);
  agreed_.insert(signature);
}

KernelEntry* KernelEntry::findForMaps(const std::vector<const geometry::IndexMap*>& maps) {
  const std::lock_guard lock(mutex_);
  for (const auto& entry : variants_)
    if (!entry->isUnfolded_ && entry->sizes_.empty() && entry->maps_ == maps) return entry.get();
  return nullptr;
}

KernelEntry& KernelEntry::addForMaps(const std::vector<const geometry::IndexMap*>& maps) {
  const std::lock_guard lock(mutex_);
  KernelEntry& entry = addVariant();
  entry.maps_ = maps;
  return entry;
}

void KernelEntry::ask(const ir::Kernel& written, const KernelVersion& version) {
  // Asked once, whatever is captured later: launches read the answers without a lock.
  if (hasAsked_.load(std::memory_order_relaxed)) return;
  if (!isUnfolded_) rowLength_ = ir::rowLengthOf(written);
  if (sizes_.empty()) sizesAskedFor_ = ir::sizesAskedFor(*version.kernel);
  sizesAskedFor_.resize(std::min(sizesAskedFor_.size(), std::tuple_size_v<KnownSizes>));
  if (levels_.empty()) levelsAskedFor_ = ir::levelScalarsOf(*version.kernel, version.access);
  parameterCount_ = written.entry->params.size();
  if (levelsAskedFor_.size() > std::tuple_size_v<KnownLevels>) levelsAskedFor_.clear();
  hasAsked_.store(true, std::memory_order_release);
}

std::span<const std::size_t> KernelEntry::sizesAskedFor() const noexcept {
  if (!hasAsked_.load(std::memory_order_acquire)) return {};
  return sizesAskedFor_;
}

KernelEntry& KernelEntry::forSizes(const KnownSizes& sizes) {
  const std::lock_guard lock(mutex_);
  const auto isSame = [&](const std::unique_ptr<KernelEntry>& entry) {
    return !entry->sizes_.empty() && entry->knownSizes_ == sizes;
  };
  const auto known = std::find_if(variants_.begin(), variants_.end(), isSame);
  if (known != variants_.end()) return **known;
  ir::SizesInScalars inScalars;
  for (std::size_t i = 0; i < sizesAskedFor_.size(); ++i) {
    inScalars.resize(sizesAskedFor_[i] + 1, 0);
    inScalars.back() = sizes[i];
  }
  KernelEntry& entry = addVariant();
  entry.sizes_ = std::move(inScalars);
  entry.knownSizes_ = sizes;
  return entry;
}

std::span<const ir::LevelScalar> KernelEntry::levelsAskedFor() const noexcept {
  if (!hasAsked_.load(std::memory_order_acquire)) return {};
  return levelsAskedFor_;
}

KernelEntry& KernelEntry::forLevels(const KnownLevels& values) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(variants_.begin(), variants_.end(), [&](const auto& entry) {
    return entry->levels_ == levelsAskedFor_ && entry->knownLevels_ == values;
  });
  if (known != variants_.end()) return **known;
  KernelEntry& entry = addVariant();
  entry.levels_ = levelsAskedFor_;
  entry.knownLevels_ = values;
  return entry;
}

KernelEntry& KernelEntry::unfolded() {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(variants_.begin(), variants_.end(), [&](const auto& entry) {
    return entry->isUnfolded_ && !isUnfolded_;
  });
  if (known != variants_.end()) return **known;
  KernelEntry& entry = addVariant();
  entry.isUnfolded_ = true;
  return entry;
}

KernelEntry& KernelEntry::forGroups(const ir::GroupSize& size) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(variants_.begin(), variants_.end(),
                                  [&](const auto& entry) { return entry->groupSize_ == size; });
  if (known != variants_.end()) return **known;
  KernelEntry& entry = addVariant();
  entry.groupSize_ = size;
  return entry;
}

std::vector<KernelEntry*> KernelEntry::variants() {
  const std::lock_guard lock(mutex_);
  std::vector<KernelEntry*> entries;
  entries.reserve(variants_.size());
  for (const auto& entry : variants_) entries.push_back(entry.get());
  return entries;
}

/// To be called under the lock.
KernelEntry& KernelEntry::addVariant() {
  KernelEntry& entry = *variants_.emplace_back(std::make_unique<KernelEntry>(source_, copy_));
  entry.maps_ = maps_;
  entry.sizes_ = sizes_;
  entry.isUnfolded_ = isUnfolded_;
  entry.rowLength_ = rowLength_;
  entry.groupSize_ = groupSize_;
  entry.levels_ = levels_;
  entry.knownLevels_ = knownLevels_;
  entry.title_ = title_;
  return entry;
}

void KernelEntry::forget() {
  {
    const std::lock_guard lock(mutex_);
    versions_.clear();
    agreed_.clear();
  }
  for (KernelEntry* entry : variants()) entry->forget();
  dropPlans();
}

KernelEntry::Repeated KernelEntry::findRepeated(const LaunchKey& asked) noexcept {
  for (const Repeated& recent : recent_)
    if (recent.plan != nullptr && recent.plan->isRepeatedBy(asked)) return recent;
  return {};
}

const std::shared_ptr<Launchable>* KernelEntry::findPlan(std::uint64_t hash) {
  const auto found = plans_.find(hash);
  if (found == plans_.end()) return nullptr;
  const std::shared_ptr<Launchable>* owner = &found->second;
  DevicePlan* plan = (*owner)->onOneDevice();
  const auto isIt = [plan](const Repeated& recent) { return recent.plan == plan; };
  if (plan != nullptr && std::none_of(recent_.begin(), recent_.end(), isIt))
    recent_[oldest_++ % recent_.size()] = {owner, plan};
  return owner;
}

void KernelEntry::addPlan(std::uint64_t hash, std::shared_ptr<Launchable> plan) {
  // Plans may own arrays, whose end takes the coherence lock: they die after it is released.
  PlanTable dropped;
  const memory::detail::Transaction transaction;
  if (plans_.size() >= kMaxPlans) takePlans(dropped);
  std::shared_ptr<Launchable>& place = plans_[hash];
  // Another plan takes its place.
  for (Repeated& recent : recent_)
    if (recent.owner == &place) recent = {};
  std::swap(place, plan);
}

void KernelEntry::dropPlans() {
  for (KernelEntry* entry : variants()) entry->dropPlans();
  PlanTable dropped;
  const memory::detail::Transaction transaction;
  takePlans(dropped);
}

void KernelEntry::takePlans(PlanTable& taken) noexcept {
  taken.swap(plans_);
  recent_.fill({});
}

void forget(KernelEntry& entry) { entry.forget(); }

void forgetKernels() {
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  for (auto& [address, entry] : registry.functions) entry->forget();
  for (auto& [key, entry] : registry.functors) entry->forget();
}

void addLaunchGuard(std::shared_ptr<const layout::LaunchGuard> guard) {
  if (capturingGuards != nullptr) capturingGuards->push_back(std::move(guard));
}

void registerNative(const void* address, const KernelSource& source, const std::string& name,
                    const std::string& sourceOrFile, const std::string& options,
                    std::vector<NativeParam> params) {
  hpl::detail::refuseInKernel("nativeHandle(f, name, source)");
  auto native = std::make_shared<NativeKernel>();
  native->name = name;
  native->source = loadNativeSource(name, sourceOrFile);
  native->options = options;
  native->params = std::move(params);
  hpl::detail::NativeBody body = nativeBody(name, native->source, options);
  entryOfFunction(address, source).setNative(std::move(native));
  if (hpl::detail::setNativeBody(address, std::move(body))) forgetKernels();
}

}  // namespace hpl::launch

namespace hpl {

Device captureDevice() {
  return launch::capturingDevice != nullptr ? Device(*launch::capturingDevice) : defaultDevice();
}

}  // namespace hpl

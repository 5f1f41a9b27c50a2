// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/runtime.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "hpl/error.h"
#include "hpl/runtime/compile_watch.h"
#include "hpl/runtime/detail/discovery.h"
#include "hpl/runtime/detail/dry_list.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/programs.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::runtime {
namespace {

// Plain atomics and a leaked list: usable before the first static is made and after the last died.
std::atomic<bool> shutDownDone{false};
std::atomic<bool> shutDownBegun{false};
std::atomic<Runtime*> theRuntime{nullptr};

struct Hooks {
  std::mutex mutex;
  std::vector<void (*)()> list;
};

Hooks& hooks() {
  static auto& instance = *new Hooks;
  return instance;
}

template <class F>
void logged(std::string_view what, F&& step) noexcept {
  try {
    step();
  } catch (const std::exception& error) {
    log::error(fmt::format("{}: {}", what, error.what()));
  }
}

std::string describe(const DeviceState& state) {
  return fmt::format("\n  {} {} (platform {})", deviceTypeName(state.type()), state.name(),
                     state.properties().platform);
}

/// Runs `work` on a thread of its own: at exit the thread-local objects of the main thread, the
/// drivers' among them, are already destroyed (oclgrind and rusticl corrupt the heap over it).
void onFreshThread(void (*work)() noexcept) {
  try {
    std::thread(work).join();
  } catch (const std::system_error&) {
    work();  // no thread to be had; better on this one than never
  }
}

void finishAll() noexcept {
  Runtime* runtime = theRuntime.load();
  if (!runtime || Runtime::isShutDown()) return;
  for (const auto& state : runtime->devices()) {
    logged("a command failed at the end of the program", [&] { state->finish(); });
  }
}

std::terminate_handler terminateAsBefore = nullptr;

/// Prints the profile of a program that an exception ends: exit handlers do not run then.
void printProfileAtTermination() {
  static std::once_flag done;
  std::call_once(done, [] {
    trace::printAtStop(true);
    terminateAsBefore = std::set_terminate([] {
      if (!isForkedProcess.load(std::memory_order_relaxed)) trace::printProfile();
      terminateAsBefore();
    });
  });
}

/// Waits for the devices when the main thread ends. Thread-local objects die before any static
/// object does, in particular before those that a driver makes while it runs: PoCL compiles at the
/// first launch, and crashes if the statics of LLVM disappear under it.
struct MainThreadEnd {
  ~MainThreadEnd() {
    if (!Runtime::isShutDown()) onFreshThread(finishAll);
  }
};

enum class Whose { AnyRanks, Own };

/// The first device of the kind that is likely the fastest; null: there is none.
DeviceState* bestOf(const std::vector<std::unique_ptr<DeviceState>>& devices, Whose whose) {
  for (const DeviceType type : {GPU, ACCELERATOR, CPU}) {
    for (const auto& state : devices) {
      if (state->type() == type && (whose == Whose::AnyRanks || state->isLocal()))
        return state.get();
    }
  }
  return nullptr;
}

// Drivers fork, too, to run a linker: that child becomes another program, and never comes back
// here.
void afterFork() noexcept {
  isForkedProcess.store(true, std::memory_order_relaxed);
  shutDownBegun.store(true);
  shutDownDone.store(true);
  if (const Runtime* runtime = theRuntime.load())
    for (const auto& state : runtime->devices()) state->close();
}

void watchMainThread() {
  if (gettid() != getpid()) return;
  thread_local const MainThreadEnd end;
  static_cast<void>(end);
}

}  // namespace

Runtime::Runtime() {
  // Before a driver is loaded: discovery starts its threads.
  static std::once_flag watchesForks;
  std::call_once(watchesForks, [] { pthread_atfork(nullptr, nullptr, afterFork); });
  const Settings& wanted = settings();
  trace::configure(wanted.profile, wanted.trace);
  if (wanted.profile) printProfileAtTermination();
  // A dry run calls no driver.
  const Inventory inventory = isDryRun() ? Inventory() : takeInventory();
  if (!isDryRun()) inventory_ = describeInventory(inventory);
  if (const ListMaker maker = isDryRun() ? ListMaker(listOfDryRun) : listMaker()) {
    GlobalList list = maker(inventory);
    rank_ = list.rank;
    ranks_ = list.ranks;
    devices_ = statesOf(std::move(list));
    isOneOfSeveral.store(ranks_ != 1 || rank_ != 0, std::memory_order_relaxed);
  } else {
    devices_ = selectDevices(inventory, parseDeviceList(wanted.devices));
  }
  default_ = bestOf(devices_, Whose::AnyRanks);
  ownDefault_ = bestOf(devices_, Whose::Own);
  // Those of other processes have their timelines there.
  for (const auto& state : devices_)
    if (state->isLocal() || isDryRun()) trace::nameDevice(state->index(), state->name());
  theRuntime.store(this);
  armExitHandler();
}

void throwForked(const std::string& subject) {
  throw DeviceError(fmt::format(
      "{}this process was forked from one that had used devices, and drivers do not survive a "
      "fork(): use devices in one of the two processes only, fork before the first use of a "
      "device, or start another program with exec()",
      subject.empty() ? std::string() : subject + ", and "));
}

Runtime& Runtime::get() {
  requireOwnProcess();
  static Runtime& instance = *new Runtime;
  return instance;
}

bool Runtime::exists() noexcept { return theRuntime.load() != nullptr; }

bool Runtime::isShutDown() noexcept { return shutDownDone.load(std::memory_order_acquire); }

void Runtime::atShutdown(void (*hook)()) {
  const std::lock_guard lock(hooks().mutex);
  hooks().list.push_back(hook);
}

void Runtime::armExitHandler() noexcept {
  std::atexit([] {
    if (!isShutDown()) onFreshThread(shutDown);
  });
  watchMainThread();
}

void Runtime::shutDown() noexcept {
  Runtime* runtime = theRuntime.load();
  if (!runtime || shutDownBegun.exchange(true)) return;
  std::vector<void (*)()> list;
  {
    const std::lock_guard lock(hooks().mutex);
    list = hooks().list;
  }
  for (auto it = list.rbegin(); it != list.rend(); ++it)
    logged("an exit hook failed at the end of the program", *it);
  finishAll();
  logged("the report of the dry run was not written", [] { reportDryRun(); });
  logged("the timeline was not written at the end of the program", [] { trace::stop(); });
  stopCompileWatch();
  clearProgramCache();
  shutDownDone.store(true, std::memory_order_release);
  for (const auto& state : runtime->devices_) state->close();
}

void Runtime::flushAll() noexcept {
  Runtime* runtime = theRuntime.load();
  if (!runtime || isShutDown()) return;
  for (const auto& state : runtime->devices_) {
    logged("a queue was not flushed", [&] { state->flush(); });
  }
}

void Runtime::throwNoDevice() const {
  throw DeviceError(fmt::format("There is no device to run on. {}", inventory_));
}

void Runtime::throwNoOwnDevice() const {
  throw DeviceError(
      fmt::format("Rank {} has no device of its own to run on; give the rank a device (HPL_DEVICES "
                  "names those of its node), or work on its arrays on the host",
                  rank_));
}

DeviceState& Runtime::device(DeviceType type, int n) const {
  int count = 0;
  for (const auto& state : devices_) {
    if ((state->type() & type) != 0 && count++ == n) return *state;
  }
  const std::string kind =
      type == ANY ? "device" : fmt::format("device of type {}", deviceTypeName(type));
  std::string message = count == 0
                            ? fmt::format("There is no {}.", kind)
                            : fmt::format("There is no {} number {}: there {} {}, counted from 0.",
                                          kind, n, count == 1 ? "is" : "are", count);
  if (!devices_.empty()) {
    message += " In use are:";
    for (const auto& state : devices_) message += describe(*state);
    message += "\n";
  } else {
    message += " ";
  }
  if (const std::string& list = settings().devices; !list.empty()) {
    message += fmt::format("HPL_DEVICES={} selects them. ", list);
  }
  throw DeviceError(message + inventory_);
}

}  // namespace hpl::runtime

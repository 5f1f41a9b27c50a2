// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/programs.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "hpl/error.h"
#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/compile_watch.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/fork_locks.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/private_folder.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/settings.h"
#include "hpl/runtime/shared_builds.h"
#include "hpl/runtime/version.h"
#include "hpl/trace/timeline.h"

namespace hpl::runtime {
namespace {

struct Counters {
  std::atomic<std::uint64_t> memoryHits{0}, diskHits{0}, misses{0}, writes{0}, failures{0};
};
Counters counters;

/// A program in memory, or about to be: its mutex makes the second thread wait for the first.
struct Slot {
  std::mutex mutex;
  std::shared_ptr<const Program> program;
};

/// Never destroyed: static objects of user programs may hold programs longer.
struct Cache {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Slot>> slots;
  /// The folder in use; made anew when the settings name another one.
  std::filesystem::path folder;
  std::shared_ptr<const BinaryStore> store;
};
Cache& cache() {
  static auto& instance = *new Cache;
  return instance;
}

/// The disk cache; null when it is switched off, or when the driver has one. Drivers that compile
/// at the first launch compile everything once more when they are asked for the binary. Without
/// either, the processes of a session have one for as long as it lasts.
std::shared_ptr<const BinaryStore> binaryStore(const DeviceState& device) {
  const DiskCache wanted = settings().cache;
  if (wanted != DiskCache::On && device.keepsPrograms()) return nullptr;
  if (wanted == DiskCache::Off) return sharedBuilds();
  const auto folder = BinaryStore::defaultFolder();
  const std::lock_guard lock(cache().mutex);
  if (!cache().store || cache().folder != folder) {
    cache().folder = folder;
    cache().store = std::make_shared<const BinaryStore>(folder);
  }
  return cache().store;
}

/// Joins the parts of a key so that no two lists of parts give the same text.
template <class... Parts>
std::string joinKey(const Parts&... parts) {
  std::string key;
  ((key += fmt::format("{}:{}\n", std::string_view(parts).size(), parts)), ...);
  return key;
}

std::string diskKey(const DeviceState& device, const std::string& source,
                    const std::string& options) {
  const DeviceProperties& p = device.properties();
  return joinKey(version, p.platform, p.name, p.vendor, p.driverVersion, p.openclVersion, options,
                 source);
}

/// The letters, digits and underscores of a kernel's name, as the begin of a file's name.
std::string plainName(std::string_view kernelName) {
  constexpr std::size_t kMost = 100;  // systems limit the length of names
  std::string plain;
  for (const char c : kernelName.substr(0, kMost)) {
    const bool keeps = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    plain += keeps ? c : '_';
  }
  return plain;
}

void dumpSource(const std::string& kernelName, const std::string& source) {
  const std::filesystem::path folder = settings().dumpKernels;
  if (folder.empty()) return;
  const std::string name =
      fmt::format("{}_{}.cl", plainName(kernelName), hexHash(source).substr(0, 8));
  std::string problem;
  if (replaceFile(folder, name, {source}, 0666, problem)) return;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    log::warn(fmt::format("HPL_DUMP_KERNELS: {} cannot be written ({})", (folder / name).string(),
                          problem));
  }
}

std::string buildLog(const cl::Program& program, const cl::Device& device) {
  try {
    return program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
  } catch (const cl::Error& error) {
    return fmt::format("(no log: {})", errorName(error.err()));
  }
}

[[noreturn]] void throwBuildError(const cl::Program& program, const DeviceState& device,
                                  const std::string& kernelName, const std::string& source,
                                  const std::string& options, cl_int code) {
  std::string log = buildLog(program, device.device());
  std::string message = fmt::format(
      "kernel \"{}\" does not compile on device {} ({}): {} ({}){}\n{}\nThe compiler says:\n{}",
      kernelName, device.name(), device.properties().platform, errorName(code), code,
      options.empty() ? "" : fmt::format(", options \"{}\"", options),
      annotateBuildLog(source, log), log);
  throw BuildError(message, kernelName, std::move(log), source);
}

cl::Program compile(DeviceState& device, const std::string& kernelName, const std::string& source,
                    const std::string& options) {
  return guarded(&device, Concern::kernel(kernelName), [&] {
    cl::Program program(device.context(), source, false);
    // The C interface: the bindings' build() fetches the log by itself and may fail at it.
    const cl_device_id id = device.device()();
    const cl_int code = clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr);
    if (code != CL_SUCCESS) throwBuildError(program, device, kernelName, source, options, code);
    return program;
  });
}

/// The program from its binary; nothing when the driver does not take it.
std::optional<cl::Program> restore(DeviceState& device, std::string_view binary,
                                   const std::string& options) {
  const cl_device_id id = device.device()();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const cl_context context = device.context()();
  cl::Program program(clCreateProgramWithBinary(context, 1, &id, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS || !program()) return std::nullopt;
  if (clBuildProgram(program(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return program;
}

/// The compiled form of `program` for `device`; empty when the driver does not give it.
std::string binaryOf(const cl::Program& program, const cl::Device& device) {
  try {
    const auto devices = program.getInfo<CL_PROGRAM_DEVICES>();
    const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
    for (std::size_t i = 0; i < std::min(devices.size(), binaries.size()); ++i) {
      if (devices[i]() == device()) return std::string(binaries[i].begin(), binaries[i].end());
    }
  } catch (const cl::Error& error) {
    log::info(fmt::format("a compiled kernel cannot be kept: {} failed with {}", error.what(),
                          errorName(error.err())));
  }
  return {};
}

cl::Program loadOrCompile(DeviceState& device, const std::string& kernelName,
                          const std::string& source, const std::string& options) {
  const auto store = binaryStore(device);
  const std::string key = diskKey(device, source, options);
  const BuildTurn turn(key);
  if (store) {
    const BinaryStore::Lookup found = store->load(key);
    if (found.damaged) ++counters.failures;
    if (found.binary) {
      if (auto program = restore(device, *found.binary, options)) {
        ++counters.diskHits;
        return *program;
      }
      log::info(fmt::format("the driver refuses the kept binary of kernel {}", kernelName));
      ++counters.failures;
      store->remove(key);
    }
  }
  ++counters.misses;
  cl::Program program = compile(device, kernelName, source, options);
  if (store) {
    const std::string binary = binaryOf(program, device.device());
    ++(!binary.empty() && store->save(key, binary) ? counters.writes : counters.failures);
  }
  return program;
}

/// Removes a slot whose build failed, unless another build has succeeded with it since.
void forget(const std::string& key, const std::shared_ptr<Slot>& slot) {
  const std::lock_guard lock(cache().mutex);
  const auto it = cache().slots.find(key);
  if (it != cache().slots.end() && it->second == slot) cache().slots.erase(it);
}

}  // namespace

std::shared_ptr<const Program> buildProgram(DeviceState& device, const std::string& kernelName,
                                            const std::string& source, const std::string& options,
                                            const std::string& choice) {
  const std::string key = joinKey(std::to_string(device.serial()), kernelName, options, source);
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(cache().mutex);
    auto& entry = cache().slots[key];
    if (!entry) entry = std::make_shared<Slot>();
    slot = entry;
  }
  const std::lock_guard building(slot->mutex);
  if (slot->program) {
    ++counters.memoryHits;
    return slot->program;
  }
  const std::string scopeName = "compile " + kernelName;
  const trace::HostScope scope(scopeName);
  const auto begin = std::chrono::steady_clock::now();
  try {
    dumpSource(kernelName, source);
    const CompilingScope compiling;
    const CompileWatch watch(device, kernelName, choice);
    slot->program = std::make_shared<const Program>(
        loadOrCompile(device, kernelName, source, options + device.buildTag()), kernelName);
    slot->program->isKnownToBeLong = watch.hasSpoken();
  } catch (...) {
    forget(key, slot);
    throw;
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  trace::recordKernelCompilation(kernelName, spent.count());
  return slot->program;
}

ProgramCacheStatistics programCacheStatistics() {
  ProgramCacheStatistics result;
  result.memoryHits = counters.memoryHits;
  result.diskHits = counters.diskHits;
  result.misses = counters.misses;
  result.writes = counters.writes;
  result.failures = counters.failures;
  return result;
}

void clearProgramCache() {
  std::unordered_map<std::string, std::shared_ptr<Slot>> old;
  const std::lock_guard lock(cache().mutex);
  old.swap(cache().slots);
}

}  // namespace hpl::runtime

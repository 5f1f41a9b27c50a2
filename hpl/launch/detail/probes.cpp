// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "hpl/launch/detail/device_plan.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using codegen::ProbeBuffer;

std::string textOf(const ProbedValue& value) {
  using ir::Scalar;
  const std::uint64_t bits = value.bits;
  switch (value.type.scalar) {
    case Scalar::Float:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case Scalar::Double:
      return fmt::format("{}", std::bit_cast<double>(bits));
    case Scalar::Bool:
      return bits != 0 ? "true" : "false";
    default:
      return value.type.isSigned() ? std::to_string(static_cast<std::int64_t>(bits))
                                   : std::to_string(bits);
  }
}

std::string lineOf(const ProbedValue& value, int dims, const std::string& tail) {
  std::string position;
  for (int d = 0; d < dims; ++d)
    position += (d > 0 ? ", " : "") + std::to_string(value.position[static_cast<std::size_t>(d)]);
  std::string line =
      fmt::format("hpl: probe {} = {} at ({}), {}", value.label, textOf(value), position, tail);
  if (value.where.file != nullptr) {
    const std::string_view path = value.where.file;
    line += fmt::format(", {}:{}", path.substr(path.rfind('/') + 1), value.where.line);
  }
  return line + '\n';
}

/// Lines of the whole program for each line of a launch.
constexpr std::size_t kLaunches = 50;

/// How many of `wanted` lines may still be printed; says so once when these are the last.
std::size_t allowed(std::size_t wanted, std::string& last) {
  static std::mutex mutex;
  static std::size_t printed = 0;
  const auto most = static_cast<std::size_t>(runtime::settings().probeLines);
  const std::lock_guard lock(mutex);
  const std::size_t left = most * kLaunches - std::min(printed, most * kLaunches);
  const std::size_t lines = std::min({wanted, most, left});
  printed += lines;
  if (lines > 0 && lines == left)
    last = fmt::format(
        "hpl: probes: these were {} lines, the others are not shown; HPL_PROBE_LINES={} shows "
        "more\n",
        most * kLaunches, 10 * most);
  return lines;
}

}  // namespace

ProbedValue probedValue(const ir::Probe& probe, const ir::SourceLocation& where,
                        const std::byte* value) {
  ProbedValue probed{probe.label, probe.value->type, where, 0, {}};
  const std::size_t bytes = ir::sizeOf(probed.type);
  std::memcpy(&probed.bits, value, bytes);
  const bool isNegative = probed.type.isSigned() && probed.type.isInteger() &&
                          (probed.bits >> (8 * bytes - 1) & 1) != 0;
  if (isNegative && bytes < sizeof probed.bits) probed.bits |= ~std::uint64_t{0} << (8 * bytes);
  return probed;
}

std::unique_ptr<Probes> makeProbes(runtime::DeviceState& device,
                                   const codegen::EmittedKernel& emitted) {
  if (emitted.probes.empty()) return nullptr;
  auto probes = std::make_unique<Probes>();
  probes->sites = emitted.probes;
  probes->values = runtime::guarded(&device, runtime::Concern::kernel(emitted.name), [&] {
    return cl::Buffer(device.context(), CL_MEM_READ_WRITE, ProbeBuffer::kWords * sizeof(cl_uint));
  });
  return probes;
}

void clearProbes(const DevicePlan& plan) {
  const cl_uint none = 0;
  runtime::guarded(plan.device, runtime::Concern::kernel(plan.version->name), [&] {
    plan.device->computeQueue().enqueueWriteBuffer(plan.probes->values, CL_TRUE, 0, sizeof none,
                                                   &none);
  });
}

void showProbes(const DevicePlan& plan) {
  cl_uint total = 0;
  std::vector<cl_uint> words;
  runtime::guarded(plan.device, runtime::Concern::kernel(plan.version->name), [&] {
    const cl::CommandQueue& queue = plan.device->computeQueue();
    queue.enqueueReadBuffer(plan.probes->values, CL_TRUE, 0, sizeof total, &total);
    words.resize(std::min<std::size_t>(total, ProbeBuffer::kRecords) * ProbeBuffer::kRecord);
    if (!words.empty())
      queue.enqueueReadBuffer(plan.probes->values, CL_TRUE, sizeof total,
                              words.size() * sizeof(cl_uint), words.data());
  });
  std::vector<ProbedValue> values;
  for (const cl_uint* record = words.data(); record != words.data() + words.size();
       record += ProbeBuffer::kRecord) {
    const codegen::ProbeSite& site = plan.probes->sites[record[ProbeBuffer::Site]];
    ProbedValue& value = values.emplace_back(ProbedValue{site.label, site.type, site.where, 0, {}});
    value.bits =
        static_cast<std::uint64_t>(record[ProbeBuffer::High]) << 32 | record[ProbeBuffer::Low];
    for (std::size_t d = 0; d < 3; ++d)
      value.position[d] = record[ProbeBuffer::GlobalIdX + d] + plan.first[d] +
                          static_cast<std::uint64_t>(plan.origin[d]);
  }
  printProbes(std::move(values), total, static_cast<int>(plan.dims), plan.version->name,
              " on " + plan.device->name());
}

void printProbes(std::vector<ProbedValue> values, std::size_t total, int dims,
                 const std::string& kernel, const std::string& place) {
  // The last dimension of arrays is x.
  std::stable_sort(values.begin(), values.end(), [](const ProbedValue& a, const ProbedValue& b) {
    return std::lexicographical_compare(a.position.rbegin(), a.position.rend(), b.position.rbegin(),
                                        b.position.rend());
  });
  std::string last;
  const std::size_t lines = allowed(values.size(), last);
  if (lines == 0) return;
  const std::string tail = fmt::format("kernel '{}'{}", kernel, place);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += lineOf(values[i], dims, tail);
  if (lines < total)
    text +=
        fmt::format("hpl: probe: {} more values of this launch of {}; HPL_PROBE_LINES=n shows n\n",
                    total - lines, tail);
  std::fputs((text + last).c_str(), stderr);
}

}  // namespace hpl::launch

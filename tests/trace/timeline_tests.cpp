// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/timeline.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "device_work.h"
#include "hpl/error.h"
#include "hpl/hpl.h"
#include "hpl/runtime/device.h"
#include "hpl/trace/detail/recorder.h"
#include "tests/runtime/subprocess.h"

namespace timeline_tests {

using namespace hpl;
using nlohmann::json;

namespace {

json read(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  return json::parse(file);
}

/// The events of one kind ("X": spans, "M": names).
std::vector<json> events(const json& timeline, const std::string& phase) {
  std::vector<json> result;
  for (const json& event : timeline.at("traceEvents")) {
    if (event.at("ph") == phase) result.push_back(event);
  }
  return result;
}

const json* find(const std::vector<json>& list, const std::string& name) {
  for (const json& event : list) {
    if (event.at("name") == name) return &event;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a timeline has a track per queue and thread and a span per command and scope") {
  const subprocess::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  trace::configure(false, path);
  trace::reset();
  CHECK(trace::enabled());
  trace::nameDevice(0, "the device");
  trace::nameThread("main");
  {
    DeviceWork work;
    const trace::HostScope scope("everything");
    work.write("height");
    for (int i = 0; i < 5; ++i) work.launch("life", 1000);
    work.read("height");
    std::thread([] { const trace::HostScope other("elsewhere"); }).join();
    work.state().finish();
  }
  trace::flush();
  const json timeline = read(path);
  const auto names = events(timeline, "M");
  const auto spans = events(timeline, "X");
  std::map<std::string, int> tracks;
  for (const json& event : names) {
    if (event.at("name") == "thread_name" || event.at("name") == "process_name") {
      ++tracks[event.at("args").at("name")];
    }
  }
  for (const char* track : {"host", "main", "the device", "compute", "transfer"}) {
    CAPTURE(track);
    CHECK(tracks[track] >= 1);
  }
  const json* all = find(spans, "everything");
  const json* to = find(spans, "height (to device)");
  const json* from = find(spans, "height (to host)");
  REQUIRE((all && to && from && find(spans, "elsewhere")));
  CHECK(to->at("args").at("bytes") == DeviceWork::bytes);
  CHECK(find(spans, "elsewhere")->at("tid") != all->at("tid"));
  CHECK(from->at("tid") == to->at("tid"));
  // Device and host clocks are aligned: what the scope enqueued lies within it.
  const double begin = all->at("ts");
  const double end = begin + all->at("dur").get<double>();
  double previousEnd = 0;
  int launches = 0;
  for (const json& span : spans) {
    if (span.at("name") != "life") continue;
    ++launches;
    CHECK(span.at("tid") != to->at("tid"));
    const double ts = span.at("ts");
    const double dur = span.at("dur");
    CHECK(ts >= begin - 1);
    CHECK(ts + dur <= end + 1);
    CHECK(ts >= previousEnd - 0.01);  // the queue is in order: spans of a track do not overlap
    previousEnd = ts + dur;
  }
  CHECK(launches == 5);
  CHECK(to->at("ts").get<double>() < from->at("ts").get<double>());
  trace::configure(false, "");
  trace::reset();
}

TEST_CASE("a message is shown with its phases, one after another") {
  using trace::Phase;
  const subprocess::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  trace::configure(false, path);
  trace::reset();
  {
    DeviceWork work;
    const trace::MessageNumber out = trace::beginMessage(3, true, 64);
    CHECK(out != 0);
    {
      const trace::PhaseScope scope(out, Phase::Reading);
      {
        const trace::PhaseScope packing(Phase::Packing);
        work.write("packed");
      }
      work.read("rows");
    }
    work.read("of no message");
    work.state().finish();
    const double waiting = trace::phaseBegin(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    trace::recordPhase(out, Phase::Waiting, waiting);
    const double sending = trace::phaseBegin(out);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    trace::recordPhase(out, Phase::Sending, sending);
    trace::beginMessage(1, false, 32);  // nothing has happened to it
  }
  trace::flush();
  const auto begins = events(read(path), "b");
  const auto ends = events(read(path), "e");
  REQUIRE(begins.size() == 5);
  REQUIRE(ends.size() == 5);
  const char* const names[] = {"to rank 3", "packing", "reading", "waiting", "sending"};
  for (std::size_t k = 0; k < begins.size(); ++k) {
    CHECK(begins[k].at("name") == names[k]);
    CHECK(begins[k].at("id") == begins[0].at("id"));
    CHECK(begins[k].at("args").at("bytes") == 64);
  }
  CHECK(ends.back().at("name") == "to rank 3");
  CHECK(begins[0].at("ts") == begins[1].at("ts"));
  CHECK(ends.back().at("ts") == ends[3].at("ts"));
  const auto moment = [](const json& event) { return event.at("ts").get<double>(); };
  for (std::size_t k = 1; k + 1 < begins.size(); ++k)
    CHECK(moment(ends[k - 1]) <= moment(begins[k + 1]));
  CHECK(moment(ends[2]) - moment(begins[3]) >= 1900);
  trace::configure(false, "");
  trace::reset();
  CHECK(trace::beginMessage(1, true, 8) == 0);
}

TEST_CASE("names are escaped, and bytes that are not UTF-8 do not break the file") {
  trace::detail::Timeline timeline;
  timeline.devices[0] = "a \"quoted\" \\ name\n";
  timeline.commands.push_back(
      {trace::detail::Kind::Kernel, trace::Queue::Compute, 0, "bad \xff byte", 0, 1.0, 1.5, {}, 0});
  timeline.clockOffsets[0] = 2;
  const json parsed = json::parse(trace::detail::toJson(timeline));
  CHECK(events(parsed, "M").size() == 6);
  const auto spans = events(parsed, "X");
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].at("ts") == 3e6);
  CHECK(spans[0].at("dur") == 0.5e6);
  CHECK(spans[0].at("cat") == "kernel");
}

TEST_CASE("transfers from a device have a track of their own where they have a queue") {
  trace::detail::Timeline timeline;
  timeline.devices = {{0, "one queue"}, {1, "two queues"}};
  timeline.clockOffsets = {{0, 0}, {1, 0}};
  for (int device = 0; device < 2; ++device)
    timeline.commands.push_back({trace::detail::Kind::DeviceToHost,
                                 device == 0 ? trace::Queue::Transfer : trace::Queue::TransferOut,
                                 device,
                                 "u",
                                 8,
                                 1.0,
                                 1.5,
                                 {},
                                 0});
  const json parsed = json::parse(trace::detail::toJson(timeline));
  const auto spans = events(parsed, "X");
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].at("tid") != spans[1].at("tid"));
  int named = 0;
  for (const json& event : events(parsed, "M"))
    named += event.at("args").value("name", "") == "transfer out" ? 1 : 0;
  CHECK(named == 1);
}

TEST_CASE("arrows lead from an exchange of ghosts to the next kernel of each device") {
  using trace::detail::Command;
  using trace::detail::Kind;
  const auto transfer = [](int device, double begin, double end, std::uint32_t exchange) {
    return Command{Kind::DeviceToDevice,
                   trace::Queue::Transfer,
                   device,
                   "field",
                   64,
                   begin,
                   end,
                   {},
                   exchange};
  };
  const auto kernel = [](int device, double begin, double end) {
    return Command{
        Kind::Kernel, trace::Queue::Compute, device, "heat", 4096, begin, end, "rows", 0};
  };
  trace::detail::Timeline timeline;
  timeline.devices = {{0, "a"}, {1, "b"}};
  timeline.clockOffsets = {{0, 100}, {1, 200}};
  timeline.commands = {kernel(0, 1, 2),      transfer(0, 2, 4, 7),   transfer(0, 2, 6, 7),
                       transfer(1, 2, 3, 7), kernel(0, 5, 5.5),      kernel(0, 7, 8),
                       kernel(0, 9, 10),     transfer(1, 11, 12, 8), transfer(0, 1, 20, 0)};
  const json parsed = json::parse(trace::detail::toJson(timeline));
  const auto starts = events(parsed, "s");
  const auto ends = events(parsed, "f");
  // Device 1 runs no kernel after its exchanges, and what is no exchange has no arrow.
  REQUIRE(starts.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(starts[0].at("id") == ends[0].at("id"));
  CHECK(starts[0].at("ts") == 104e6);  // in the transfer that ends last, 2 to 6
  CHECK(starts[0].at("pid") == 1);
  CHECK(ends[0].at("ts") == 107.5e6);  // in the first kernel after it, 7 to 8
  CHECK(ends[0].at("pid") == 1);
  CHECK(ends[0].at("tid") != starts[0].at("tid"));
  const auto spans = events(parsed, "X");
  CHECK(find(spans, "field (ghosts)") != nullptr);
  CHECK(find(spans, "field (between devices)") != nullptr);
  const json* heat = find(spans, "heat");
  REQUIRE(heat != nullptr);
  CHECK(heat->at("args").at("strategy") == "rows");
  CHECK(heat->at("args").at("bytes") == 4096);
}

TEST_CASE("transfers of nested exchanges belong to the outer one, others to none") {
  trace::configure(false, "/dev/null");
  trace::reset();
  DeviceWork work;
  {
    const trace::ExchangeScope outer;
    work.write("a");
    const trace::ExchangeScope inner;
    work.write("b");
  }
  work.write("c");
  {
    const trace::ExchangeScope another;
    work.write("d");
  }
  { const trace::ExchangeScope withoutTransfers; }
  trace::detail::Recorder& recorder = trace::detail::Recorder::get();
  recorder.waitForAll();
  std::map<std::string, std::uint32_t> exchanges;
  for (const auto& command : recorder.timeline().commands)
    exchanges[std::string(command.name)] = command.exchange;
  REQUIRE(exchanges.size() == 4);
  CHECK(exchanges["a"] != 0);
  CHECK(exchanges["a"] == exchanges["b"]);
  CHECK(exchanges["c"] == 0);
  CHECK(exchanges["d"] != 0);
  CHECK(exchanges["d"] != exchanges["a"]);
  CHECK(recorder.report().exchanges.count == 2);
  CHECK(recorder.report().exchanges.bytes == 3 * DeviceWork::bytes);
  CHECK(recorder.report().transfers[0].count == 4);
  trace::configure(false, "");
  trace::reset();
}

TEST_CASE("without a file nothing is written and scopes cost nothing") {
  trace::configure(false, "");
  trace::reset();
  { const trace::HostScope scope("unseen"); }
  CHECK_NOTHROW(trace::flush());
  CHECK(trace::detail::Recorder::get().timeline().spans.empty());
}

TEST_CASE("a timeline that cannot be written is reported with its name") {
  trace::configure(false, "/proc/none/trace.json");
  try {
    trace::flush();
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "HPL_TRACE: the timeline cannot be written to /proc/none/trace.json: is its folder there "
          "and writable?");
  }
  trace::configure(false, "");
}

TEST_CASE("%p in the file's name becomes the process id") {
  const subprocess::TemporaryFolder folder;
  trace::configure(false, folder / "t_%p_%p.json");
  trace::stop();
  const std::string id = std::to_string(getpid());
  CHECK(std::filesystem::exists(folder / ("t_" + id + "_" + id + ".json")));
  CHECK_FALSE(trace::enabled());
}

TEST_CASE("child: launches on the default device" * doctest::skip()) {
  hpl::runtime::DeviceState& state = defaultDevice().state();
  const auto program =
      hpl::runtime::buildProgram(state, "one", "kernel void one(global int* a) { *a = 1; }");
  cl::Buffer buffer(state.context(), CL_MEM_READ_WRITE, sizeof(int));
  cl::Kernel kernel = program->createKernel();
  kernel.setArg(0, buffer);
  cl::Event event;
  state.computeQueue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NullRange,
                                            nullptr, &event);
  trace::recordLaunch("one", state.index(), event());
}

TEST_CASE("HPL_TRACE writes the timeline at exit, commands in flight included") {
  const subprocess::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  const auto result = subprocess::run("child: launches on the default device", "HPL_TRACE=" + path);
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  const auto spans = events(read(path), "X");
  CHECK(find(spans, "one") != nullptr);
  CHECK(find(spans, "compile one") != nullptr);
}

TEST_CASE("child: waits for a kernel" * doctest::skip()) {
  Array<float, 1> a(1024);
  a = 1.0f;
  eval([](Array<float, 1> y) { y[idx] += 1.0f; })(a).wait();
  eval([](Array<float, 1> y) { y[idx] += 1.0f; })(a);
  if (a(0) != 3.0f) std::abort();
}

TEST_CASE("the timeline shows capture, compilation and waiting of the host's threads") {
  const subprocess::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  const auto result = subprocess::run("child: waits for a kernel", "HPL_TRACE=" + path);
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  const auto spans = events(read(path), "X");
  const auto startsWith = [&](const std::string& begin) {
    return std::ranges::count_if(spans, [&](const json& span) {
      return span.at("pid") == 0 && span.at("name").get<std::string>().starts_with(begin);
    });
  };
  CHECK(startsWith("capture timeline_tests.cpp:") == 2);
  CHECK(startsWith("compile timeline_tests_cpp_") == 2);
  CHECK(startsWith("wait") >= 2);
}

TEST_CASE("a timeline that cannot be written at exit is an error message, not a crash") {
  const auto result =
      subprocess::run("child: launches on the default device", "HPL_TRACE=/proc/none/trace.json");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(result.output.find("hpl: error: the timeline was not written at the end of the program: "
                           "HPL_TRACE: the timeline cannot be written to /proc/none/trace.json") !=
        std::string::npos);
}

}  // namespace timeline_tests

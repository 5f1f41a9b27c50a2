// SPDX-License-Identifier: Apache-2.0
// What a GPU can do with one sweep over a grid: the five- and the seven-point stencil by hand, one
// cell per work-item, in columns, in vectors, and several steps at once, beside a copy. No kernel
// of the library takes part. hpl_gpu_forms_bench --help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "raw_opencl.h"

namespace {

using perf::must;

constexpr const char* kSource =
#include "gpu_forms.cl.h"
    ;

struct Form {
  std::string name;
  std::string kernel;
  std::string options;
  /// Cells of a work-item along rows, and along the slowest dimension.
  std::size_t along = 1, slow = 1;
  std::vector<std::size_t> local{64, 4};
  int steps = 1;
  /// Groups of tiles begin this many cells apart.
  std::vector<std::size_t> tile{};
  /// Rows of a work-item in a cube.
  std::size_t rows = 1;
};

struct Options {
  std::size_t plane = 8192, cube = 512;
  int rounds = 9;
  std::string only;
  std::string csv;
};

std::vector<Form> formsOfPlanes() {
  std::vector<Form> forms{{"copy, a float per work-item", "copyOne", ""},
                          {"copy, four floats", "copyVector", "", 4}};
  for (const char* place : {"ulong", "uint"}) {
    const std::string places = fmt::format(" -DPLACE={}", place);
    forms.push_back({fmt::format("5 points, {}: a cell per work-item", place), "points", places});
    for (const std::size_t rows : {2, 4, 8})
      forms.push_back({fmt::format("5 points, {}: columns of {}", place, rows), "columns",
                       places + fmt::format(" -DR={}", rows), 1, rows});
    for (const std::size_t rows : {2, 4})
      forms.push_back({fmt::format("5 points, {}: vectors of 4, {} rows", place, rows), "vectors",
                       places + fmt::format(" -DR={}", rows), 4, rows});
  }
  // Boxes by their columns and rows, and by their rows of work-items.
  struct Box {
    std::size_t width, height, group;
  };
  for (const Box& box : {Box{64, 64, 4}, {64, 64, 8}, {64, 96, 8}, {128, 64, 4}, {128, 64, 8}})
    for (const int depth : {4, 6, 8}) {
      Form form{
          fmt::format("5 points: {} steps at once, boxes of {} x {}, columns of {} in registers",
                      depth, box.width, box.height, box.height / box.group),
          "tiles",
          fmt::format(" -DDEPTH={} -DWIDTH={} -DHEIGHT={} -DGROUP={}", depth, box.width, box.height,
                      box.group)};
      form.local = {box.width, box.group};
      form.steps = depth;
      form.tile = {box.width - 2 * static_cast<std::size_t>(depth),
                   box.height - 2 * static_cast<std::size_t>(depth)};
      forms.push_back(form);
    }
  return forms;
}

/// Work-items that go from plane to plane.
void addMarches(std::vector<Form>& forms) {
  for (const auto& local : {std::vector<std::size_t>{32, 4, 1}, {32, 8, 1}, {16, 16, 1}})
    for (const std::size_t rows : {1, 2})
      for (const int ahead : {0, 1, 2})
        for (const std::size_t planes : {16, 32, 64})
          for (const int unroll : {1, 4}) {
            if (unroll > 1 && planes != 32) continue;
            Form form{fmt::format("7 points: march through {} planes, {} rows, {} ahead, turns of "
                                  "{}, groups of {} x {}",
                                  planes, rows, ahead, unroll, local[0], local[1]),
                      "march3",
                      fmt::format(" -DPLACE=int -DR={} -DROWS={} -DAHEAD={} -DUNROLL={}", planes,
                                  rows, ahead, unroll)};
            form.along = 4;
            form.slow = planes;
            form.rows = rows;
            form.local = local;
            forms.push_back(form);
          }
}

std::vector<Form> formsOfCubes() {
  std::vector<Form> forms;
  for (const char* place : {"ulong", "uint"}) {
    const std::string places = fmt::format(" -DPLACE={}", place);
    forms.push_back({fmt::format("7 points, {}: a cell per work-item", place),
                     "points3",
                     places,
                     1,
                     1,
                     {64, 2, 1}});
    for (const std::size_t planes : {2, 4, 8})
      forms.push_back({fmt::format("7 points, {}: columns of {}", place, planes),
                       "columns3",
                       places + fmt::format(" -DR={}", planes),
                       1,
                       planes,
                       {64, 2, 1}});
  }
  for (const auto& local : {std::vector<std::size_t>{64, 2, 1}, {32, 8, 1}, {16, 16, 1}})
    for (const std::size_t planes : {2, 4, 8}) {
      Form form{fmt::format("7 points: vectors of 4, {} planes, groups of {} x {}", planes,
                            local[0], local[1]),
                "vectors3", fmt::format(" -DPLACE=uint -DR={}", planes)};
      form.along = 4;
      form.slow = planes;
      form.local = local;
      forms.push_back(form);
    }
  addMarches(forms);
  return forms;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    if (!options.csv.empty()) csv_.open(options.csv);
    if (csv_.is_open()) csv_ << "form,cells,us_per_step,gb_per_s,of_copy\n";
  }

  void run(std::vector<Form> forms, std::size_t side, std::size_t dims) {
    std::erase_if(forms, [&](const Form& form) {
      return form.kernel != "copyVector" && form.name.find(options_.only) == std::string::npos;
    });
    check(forms, dims == 2 ? 512 : 64, dims);
    const std::vector<float> values = someValues(side, dims);
    const std::size_t cells = values.size();
    const cl_mem in = raw_.buffer(cells * sizeof(float), values.data());
    const cl_mem out = raw_.buffer(cells * sizeof(float));
    std::vector<std::function<void()>> launches;
    for (const Form& form : forms) launches.push_back(launchOf(form, out, in, side, dims));
    std::vector<std::vector<double>> seconds(forms.size());
    for (int round = 0; round <= options_.rounds; ++round)
      for (std::size_t i = 0; i < forms.size(); ++i) {
        const double once = timeOf(launches[i]);
        if (round > 0) seconds[i].push_back(once);
      }
    for (std::size_t i = 0; i < forms.size(); ++i) {
      std::sort(seconds[i].begin(), seconds[i].end());
      report(forms[i], cells, seconds[i][seconds[i].size() / 2] / forms[i].steps);
    }
    clReleaseMemObject(in);
    clReleaseMemObject(out);
  }

 private:
  static std::vector<float> someValues(std::size_t side, std::size_t dims) {
    std::vector<float> values(static_cast<std::size_t>(std::pow(side, dims)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i * 2654435761U % 1000) * 1e-3F;
    return values;
  }

  /// All forms on a small grid against the simplest one.
  void check(const std::vector<Form>& forms, std::size_t side, std::size_t dims) {
    const std::vector<float> values = someValues(side, dims);
    const cl_mem in = raw_.buffer(values.size() * sizeof(float), values.data());
    const cl_mem out = raw_.buffer(values.size() * sizeof(float));
    for (const Form& form : forms) {
      launchOf(form, out, in, side, dims)();
      if (contents(out, values.size()) != expected(form, values, side, dims))
        throw std::runtime_error(form.name + ": wrong");
    }
    clReleaseMemObject(in);
    clReleaseMemObject(out);
  }

  std::vector<float> contents(cl_mem buffer, std::size_t cells) {
    std::vector<float> values(cells);
    must(clEnqueueReadBuffer(raw_.queue(), buffer, CL_TRUE, 0, cells * sizeof(float), values.data(),
                             0, nullptr, nullptr),
         "clEnqueueReadBuffer");
    return values;
  }

  /// The values after `sweeps` sweeps, a cell per work-item; a copy has none.
  const std::vector<float>& expected(const Form& form, const std::vector<float>& values,
                                     std::size_t side, std::size_t dims) {
    const bool isCopy = form.kernel.starts_with("copy");
    std::vector<float>& result = expected_[{dims, isCopy ? 0 : form.steps}];
    if (!result.empty()) return result;
    result = values;
    for (int step = 0; !isCopy && step < form.steps; ++step) {
      const cl_mem from = raw_.buffer(result.size() * sizeof(float), result.data());
      const cl_mem to = raw_.buffer(result.size() * sizeof(float));
      launchOf({"", dims == 2 ? "points" : "points3", "", 1, 1,
                dims == 2 ? std::vector<std::size_t>{64, 4} : std::vector<std::size_t>{64, 2, 1}},
               to, from, side, dims)();
      result = contents(to, result.size());
      clReleaseMemObject(from);
      clReleaseMemObject(to);
    }
    return result;
  }

  std::function<void()> launchOf(const Form& form, cl_mem out, cl_mem in, std::size_t side,
                                 std::size_t dims) {
    const std::string options = perf::kBuildOptions + form.options;
    cl_kernel& kernel = kernels_[form.kernel + options];
    if (kernel == nullptr) kernel = raw_.kernel(kSource, form.kernel.c_str(), options.c_str());
    std::vector<std::size_t> global(dims, side);
    global[0] /= form.along;
    global[dims - 1] /= form.slow;
    global[1] /= form.rows;
    if (!form.tile.empty())
      for (std::size_t d = 0; d < dims; ++d)
        global[d] = (side + form.tile[d] - 1) / form.tile[d] * form.local[d];
    std::vector<std::size_t> local = form.local;
    for (std::size_t d = 0; d < dims; ++d)
      while (global[d] % local[d] != 0) local[d] /= 2;
    return [this, kernel, global, local, out, in, side] {
      perf::Raw::set(kernel, 0, out);
      perf::Raw::set(kernel, 1, in);
      perf::Raw::set(kernel, 2, static_cast<cl_uint>(side));
      must(clEnqueueNDRangeKernel(raw_.queue(), kernel, static_cast<cl_uint>(global.size()),
                                  nullptr, global.data(), local.data(), 0, nullptr, nullptr),
           "clEnqueueNDRangeKernel");
    };
  }

  /// Seconds of one launch among so many that the host's calls do not show.
  double timeOf(const std::function<void()>& launch) {
    constexpr int kLaunches = 20;
    raw_.finish();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) launch();
    raw_.finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           kLaunches;
  }

  void report(const Form& form, std::size_t cells, double seconds) {
    const double rate = 8 * static_cast<double>(cells) / seconds;
    if (form.kernel == "copyVector") copied_ = rate;
    fmt::print("{:<52} {:>9.1f} us {:>8.0f} GB/s {:>6.2f}\n", form.name, seconds * 1e6, rate * 1e-9,
               copied_ > 0 ? rate / copied_ : 0);
    if (csv_.is_open())
      csv_ << fmt::format("\"{}\",{},{:.2f},{:.1f},{:.4f}\n", form.name, cells, seconds * 1e6,
                          rate * 1e-9, copied_ > 0 ? rate / copied_ : 0)
           << std::flush;
    std::fflush(stdout);
  }

  const Options& options_;
  perf::Raw raw_;
  std::ofstream csv_;
  /// By name and options.
  std::map<std::string, cl_kernel> kernels_;
  /// By dimensions and steps.
  std::map<std::pair<std::size_t, int>, std::vector<float>> expected_;
  double copied_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app("One sweep over a grid in forms for GPUs, by hand", "hpl_gpu_forms_bench");
  app.add_option("--plane", options.plane, "Side of the square, a multiple of 512");
  app.add_option("--cube", options.cube, "Side of the cube, a multiple of 64");
  app.add_option("--rounds", options.rounds, "Medians of so many")->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "Only forms whose names have this, beside a copy");
  app.add_option("--csv", options.csv, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  if (options.plane % 512 != 0 || options.cube % 64 != 0 || options.plane == 0 ||
      options.cube == 0) {
    fmt::print(stderr, "hpl_gpu_forms_bench: --plane takes multiples of 512, --cube of 64\n");
    return 2;
  }
  Bench bench(options);
  bench.run(formsOfPlanes(), options.plane, 2);
  bench.run(formsOfCubes(), options.cube, 3);
} catch (const std::exception& error) {
  fmt::print(stderr, "hpl_gpu_forms_bench: {}\n", error.what());
  return 1;
}

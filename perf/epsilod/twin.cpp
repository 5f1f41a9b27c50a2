// SPDX-License-Identifier: Apache-2.0
// The hand-written twin of samples/epsilod.cpp for perf/epsilod.sh: MPI and OpenCL, one device for
// each rank, bands of rows, borders first and the exchange beside the interior (EPSILOD, Algorithm
// 1). The CPU of a node is divided among its ranks, as the library does.
//
//     mpirun -n 2 hpl_epsilod_twin STENCIL ROWS COLUMNS ITERATIONS [CSV]
//
// Checks its own result on small sizes, appends a line as `epsilod --csv` does, and returns 1 if
// cells are wrong.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "hpl_epsilod_twin: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) fail(std::string(what) + ": OpenCL error " + std::to_string(status));
}

struct Neighbour {
  int y, x;
  float weight;
};

struct Pattern {
  int up = 0, down = 0, left = 0, right = 0;
  float factor = 1;
  std::vector<Neighbour> neighbours;
};

Pattern make(int top, int first, int columns, float factor, const std::vector<float>& weights) {
  Pattern p;
  p.factor = factor;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const int y = top + static_cast<int>(k) / columns, x = first + static_cast<int>(k) % columns;
    if (weights[k] == 0) continue;
    p.neighbours.push_back({y, x, weights[k]});
    p.up = std::max(p.up, -y);
    p.down = std::max(p.down, y);
    p.left = std::max(p.left, -x);
    p.right = std::max(p.right, x);
  }
  return p;
}

Pattern patternOf(const std::string& name) {
  if (name == "2d4") return make(-1, -1, 3, 4, {0, 1, 0, 1, 0, 1, 0, 1, 0});
  if (name == "2d9") return make(-1, -1, 3, 16, {1, 2, 1, 2, 4, 2, 1, 2, 1});
  if (name == "2d9nc")
    return make(-2, -2, 5, 16,
                {0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 2, 4, 2, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0});
  if (name == "2d5") return make(-2, -2, 3, 16, {0, 0, 1, 0, 0, 3, 1, 3, 8});
  fail("the stencil is 2d4, 2d9, 2d9nc or 2d5, not " + name);
}

/// Without loops, as EPSILOD's tool writes it, and without branches, which would keep PoCL from
/// vectorising it: the ids are those of cells that have all neighbours.
std::string sourceOf(const Pattern& p) {
  std::string sum;
  char term[96];
  for (const Neighbour& n : p.neighbours) {
    std::snprintf(term, sizeof term, "%s%.1ff * in[i + (%d) * w + (%d)]", sum.empty() ? "" : " + ",
                  static_cast<double>(n.weight), n.y, n.x);
    sum += term;
  }
  char text[512];
  std::snprintf(text, sizeof text,
                "kernel void jacobi(global float* restrict out, global const float* restrict in,\n"
                "                 int w) {\n"
                "  const int i = get_global_id(1) * w + get_global_id(0);\n"
                "  out[i] = (");
  std::snprintf(term, sizeof term, ") / %.1ff;\n}\n", static_cast<double>(p.factor));
  return text + sum + term;
}

/// This rank's device: of a CPU its part.
cl_device_id deviceOf(int rank, int ranks) {
  cl_platform_id platform = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  cl_device_id devices[64];
  cl_uint count = 0;
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 64, devices, &count), "clGetDeviceIDs");
  cl_device_id device = devices[static_cast<cl_uint>(rank) % std::min<cl_uint>(count, 64)];
  cl_device_type type = 0;
  cl_uint units = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  // One rank gets one part of as many as TWIN_PARTS says, so that it can be compared.
  const char* const wanted = std::getenv("TWIN_PARTS");
  const cl_uint parts =
      wanted != nullptr ? static_cast<cl_uint>(std::atoi(wanted)) : static_cast<cl_uint>(ranks);
  if (type != CL_DEVICE_TYPE_CPU || parts < 2 || units < parts) return device;
  const cl_device_partition_property how[] = {
      CL_DEVICE_PARTITION_EQUALLY, static_cast<cl_device_partition_property>(units / parts), 0};
  std::vector<cl_device_id> all(units);
  cl_uint made = 0;
  check(clCreateSubDevices(device, how, units, all.data(), &made), "clCreateSubDevices");
  return all[static_cast<cl_uint>(rank) % made];
}

float startOf(int y, int x) {
  return static_cast<float>((y * 131 + x * 17) % 101) + (y == 0 ? 100.0f : 0.0f);
}

/// One rank's band: rows [first - before, first + own + after) of the array.
struct Band {
  int rank, ranks, rows, columns;
  int first, own, before, after;
  Pattern pattern;

  int height() const { return before + own + after; }
  bool hasPrevious() const { return rank > 0; }
  bool hasNext() const { return rank + 1 < ranks; }
  /// Rows that the previous rank reads of this one, and the next rank.
  int toPrevious() const { return hasPrevious() ? pattern.down : 0; }
  int toNext() const { return hasNext() ? pattern.up : 0; }
};

Band bandOf(int rank, int ranks, int rows, int columns, const Pattern& pattern) {
  Band band{rank, ranks, rows, columns, 0, 0, 0, 0, pattern};
  const int each = rows / ranks, more = rows % ranks;
  band.first = rank * each + std::min(rank, more);
  band.own = each + (rank < more ? 1 : 0);
  if (band.own < pattern.up + pattern.down) fail("there are too few rows for so many ranks");
  band.before = rank > 0 ? pattern.up : 0;
  band.after = rank + 1 < ranks ? pattern.down : 0;
  return band;
}

class Twin {
 public:
  explicit Twin(const Band& band) : band_(band) {
    device_ = deviceOf(band.rank, band.ranks);
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    compute_ = clCreateCommandQueue(context_, device_, 0, &status);
    check(status, "clCreateCommandQueue");
    transfer_ = clCreateCommandQueue(context_, device_, 0, &status);
    check(status, "clCreateCommandQueue");
    const std::string text = sourceOf(band.pattern);
    const char* source = text.c_str();
    cl_program program = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
    kernel_ = clCreateKernel(program, "jacobi", &status);
    check(status, "clCreateKernel");
    for (cl_mem& buffer : buffers_) {
      buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes(band.height()), nullptr, &status);
      check(status, "clCreateBuffer");
    }
    const auto cells = [&](int rows) {
      return static_cast<std::size_t>(rows) * static_cast<std::size_t>(band_.columns);
    };
    sent_[0].resize(cells(band.toPrevious()));
    sent_[1].resize(cells(band.toNext()));
    received_[0].resize(cells(band.before));
    received_[1].resize(cells(band.after));
  }

  double run(int iterations) {
    set();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < iterations; ++i) step(i + 1 == iterations);
    clFinish(compute_);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
  }

  /// This rank's own cells.
  std::vector<float> cells() {
    std::vector<float> result(static_cast<std::size_t>(band_.own) *
                              static_cast<std::size_t>(band_.columns));
    check(clEnqueueReadBuffer(compute_, buffers_[0], CL_TRUE, bytes(band_.before), bytes(band_.own),
                              result.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return result;
  }

 private:
  std::size_t bytes(int rows) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(band_.columns) * sizeof(float);
  }

  void set() {
    std::vector<float> start;
    for (int y = 0; y < band_.height(); ++y)
      for (int x = 0; x < band_.columns; ++x)
        start.push_back(startOf(band_.first - band_.before + y, x));
    for (cl_mem buffer : buffers_)
      check(clEnqueueWriteBuffer(compute_, buffer, CL_TRUE, 0, bytes(band_.height()), start.data(),
                                 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
  }

  /// Rows [from, to) of the band, as far as they have all neighbours.
  cl_event launch(int from, int to) {
    const int top = band_.first - band_.before;
    from = std::max(from, band_.pattern.up - top);
    to = std::min(to, band_.rows - band_.pattern.down - top);
    if (from >= to) return nullptr;
    check(clSetKernelArg(kernel_, 0, sizeof(cl_mem), &buffers_[1]), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 1, sizeof(cl_mem), &buffers_[0]), "clSetKernelArg");
    check(clSetKernelArg(kernel_, 2, sizeof(int), &band_.columns), "clSetKernelArg");
    const int left = band_.pattern.left, right = band_.pattern.right;
    const std::size_t group[] = {static_cast<std::size_t>(band_.columns - left - right), 1};
    const std::size_t first[] = {static_cast<std::size_t>(left), static_cast<std::size_t>(from)};
    const std::size_t global[] = {static_cast<std::size_t>(band_.columns - left - right),
                                  static_cast<std::size_t>(to - from)};
    cl_event event = nullptr;
    check(clEnqueueNDRangeKernel(compute_, kernel_, 2, first, global, group,
                                 static_cast<cl_uint>(writes_.size()),
                                 writes_.empty() ? nullptr : writes_.data(), &event),
          "clEnqueueNDRangeKernel");
    return event;
  }

  void step(bool isLast) {
    const int begin = band_.before, end = band_.before + band_.own;
    const int upper = begin + band_.toPrevious(), lower = end - band_.toNext();
    cl_event borders[2] = {launch(begin, upper), launch(lower, end)};
    cl_event inner = launch(upper, lower);
    for (cl_event event : writes_) clReleaseEvent(event);
    writes_.clear();
    clFlush(compute_);
    if (!isLast) exchange(borders, begin, lower);
    for (cl_event event : borders)
      if (event != nullptr) clReleaseEvent(event);
    if (inner != nullptr) {
      if (before_ != nullptr) clReleaseEvent(before_);
      before_ = inner;
    }
    std::swap(buffers_[0], buffers_[1]);
  }

  void exchange(cl_event* borders, int begin, int lower) {
    MPI_Request requests[4];
    int count = 0;
    const auto floats = [](const std::vector<float>& v) { return static_cast<int>(v.size()); };
    const int rows[2] = {begin, lower};
    for (std::size_t side = 0; side < 2; ++side)
      if (!sent_[side].empty())
        check(clEnqueueReadBuffer(transfer_, buffers_[1], CL_FALSE, bytes(rows[side]),
                                  sent_[side].size() * sizeof(float), sent_[side].data(),
                                  borders[side] != nullptr ? 1 : 0,
                                  borders[side] != nullptr ? &borders[side] : nullptr, nullptr),
              "clEnqueueReadBuffer");
    // The writes of the last exchange are done by now, too, and their memory is free.
    clFinish(transfer_);
    const int peers[2] = {band_.rank - 1, band_.rank + 1};
    for (std::size_t side = 0; side < 2; ++side)
      if (!received_[side].empty())
        MPI_Irecv(received_[side].data(), floats(received_[side]), MPI_FLOAT, peers[side], 0,
                  MPI_COMM_WORLD, &requests[count++]);
    for (std::size_t side = 0; side < 2; ++side)
      if (!sent_[side].empty())
        MPI_Isend(sent_[side].data(), floats(sent_[side]), MPI_FLOAT, peers[side], 0,
                  MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    const int ghosts[2] = {0, band_.before + band_.own};
    for (std::size_t side = 0; side < 2; ++side) {
      if (received_[side].empty()) continue;
      cl_event event = nullptr;
      check(clEnqueueWriteBuffer(transfer_, buffers_[1], CL_FALSE, bytes(ghosts[side]),
                                 received_[side].size() * sizeof(float), received_[side].data(),
                                 before_ != nullptr ? 1 : 0,
                                 before_ != nullptr ? &before_ : nullptr, &event),
            "clEnqueueWriteBuffer");
      writes_.push_back(event);
    }
    clFlush(transfer_);
  }

  Band band_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue compute_ = nullptr, transfer_ = nullptr;
  cl_kernel kernel_ = nullptr;
  /// The buffer that is read, and the one that is written.
  cl_mem buffers_[2] = {};
  /// To and from the previous rank, and the next one.
  std::vector<float> sent_[2], received_[2];
  /// Writes of ghosts, for which the next step waits.
  std::vector<cl_event> writes_;
  /// The last kernel of the step before, which reads the ghosts that are to be overwritten.
  cl_event before_ = nullptr;
};

/// Whether the band's cells are those of a plain loop over the whole array.
bool isRight(const Band& band, const std::vector<float>& cells, int iterations) {
  const Pattern& p = band.pattern;
  const auto at = [&](int y, int x) { return static_cast<std::size_t>(y * band.columns + x); };
  std::vector<float> now;
  for (int y = 0; y < band.rows; ++y)
    for (int x = 0; x < band.columns; ++x) now.push_back(startOf(y, x));
  std::vector<float> next = now;
  for (int i = 0; i < iterations; ++i, std::swap(now, next))
    for (int y = p.up; y + p.down < band.rows; ++y)
      for (int x = p.left; x + p.right < band.columns; ++x) {
        float sum = 0;
        for (const Neighbour& n : p.neighbours) sum += n.weight * now[at(y + n.y, x + n.x)];
        next[at(y, x)] = sum / p.factor;
      }
  for (int y = 0; y < band.own; ++y)
    for (int x = 0; x < band.columns; ++x)
      if (!(std::abs(cells[at(y, x)] - now[at(band.first + y, x)]) < 1e-3f)) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5) fail("give STENCIL ROWS COLUMNS ITERATIONS [CSV]");
  const int rows = std::atoi(argv[2]), columns = std::atoi(argv[3]);
  const int iterations = std::atoi(argv[4]);
  if (rows < 5 || columns < 5 || iterations < 1) fail("give 5 or more cells, and an iteration");
  const Pattern pattern = patternOf(argv[1]);
  const Band band = bandOf(rank, ranks, rows, columns, pattern);
  Twin twin(band);
  twin.run(2);  // what the driver compiles at the first launch
  const double seconds = twin.run(iterations);
  int right = 1;
  if (1.0 * rows * columns * iterations < 1e8)
    right = isRight(band, twin.cells(), iterations) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const double operations = 2.0 * static_cast<double>(pattern.neighbours.size()) + 1;
  const double gflops = 1e-9 * operations * rows * columns * iterations / seconds;
  if (rank == 0) {
    std::printf("%s by hand: %d iterations in %.4f s, %.2f GFLOPS, %d ranks%s\n", argv[1],
                iterations, seconds, gflops, ranks, right != 0 ? "" : ", WRONG cells");
    if (argc > 5)
      std::ofstream(argv[5], std::ios::app)
          << argv[1] << ",twin," << rows << ',' << columns << ',' << iterations << ',' << ranks
          << ',' << ranks << ',' << seconds << ',' << gflops << '\n';
  }
  MPI_Finalize();
  return right != 0 ? 0 : 1;
}

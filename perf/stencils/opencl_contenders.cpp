// SPDX-License-Identifier: Apache-2.0
#include "stencils/gauss_source.h"
#include "stencils/opencl_plan.h"

namespace perf::stencils {
namespace {

const std::string kRowsSource =
#include "stencils/rows.cl.h"
    ;
const std::string kLifeSource =
#include "stencils/life.cl.h"
    ;
const std::string kJacobiSource =
#include "stencils/jacobi.cl.h"
    ;
const std::string kJacobi3dSource =
#include "stencils/jacobi3d.cl.h"
    ;
const std::string kCannySource =
#include "stencils/canny.cl.h"
#include "stencils/canny_kernels.cl.h"
    ;
const std::string kShwaSource =
#include "stencils/shwa.cl.h"
    ;
const std::string kTileSource =
#include "stencils/tile.cl.h"
    ;

/// Rows of a work-item's band.
constexpr cl_int kBand = 16;

std::size_t groups(int cells, int perGroup) {
  return static_cast<std::size_t>((cells + perGroup - 1) / perGroup);
}

std::size_t rounded(int cells, int multiple) {
  return groups(cells, multiple) * static_cast<std::size_t>(multiple);
}

/// Iterations that read one buffer and write another one, by turns. `launch` binds the kernel to
/// (out, in).
template <class T>
Contender pingPong(const char* name, const Device& device, const Problem& problem,
                   const std::function<Launch(const Buffer&, const Buffer&)>& launch) {
  const Buffer a = device->over(problem.first, problem.points() * sizeof(T));
  const Buffer b = device->over(problem.second, problem.points() * sizeof(T));
  std::vector<Phase> phases = {{{launch(b, a)}, b}, {{launch(a, b)}, a}};
  const std::vector<T> initial(problem.values.begin(), problem.values.end());
  return launchPhases(
      name, device, std::move(phases),
      [device, a, b, initial] {
        device->write(a, initial);
        device->write(b, initial);
      },
      [device, count = problem.points()](const Buffer& result) {
        return device->read<T>(result, count);
      });
}

/// Two kernels of two dimensions that differ in their shape: bands of the rows from `border` on,
/// and tiles.
template <class T>
std::vector<Contender> planar(const Problem& problem, const std::string& source, const char* kernel,
                              const char* tileKernel, int border) {
  const auto device = std::make_shared<ClDevice>();
  const Program rows = device->program(kRowsSource + source);
  const Program tile = device->program(gaussMask() + kTileSource);
  const cl_int width = problem.width, height = problem.height;
  return {pingPong<T>(kRows, device, problem,
                      [&](const Buffer& out, const Buffer& in) {
                        return Launch{device->bind(rows, kernel, out, in, width, height, kBand),
                                      {groups(height - 2 * border, kBand)},
                                      {1}};
                      }),
          pingPong<T>(kTile, device, problem, [&](const Buffer& out, const Buffer& in) {
            return Launch{device->bind(tile, tileKernel, out, in, width, height),
                          {rounded(width, 16), rounded(height, 16)},
                          {16, 16}};
          })};
}

std::vector<Contender> solid(const Problem& problem, const char* kernel, const char* pointKernel) {
  const auto device = std::make_shared<ClDevice>();
  const Program rows = device->program(kRowsSource + kJacobi3dSource);
  const Program point = device->program(gaussMask() + kTileSource);
  const cl_int width = problem.width, height = problem.height, depth = problem.depth;
  const cl_int planes = 8;
  return {pingPong<float>(kRows, device, problem,
                          [&](const Buffer& out, const Buffer& in) {
                            return Launch{device->bind(rows, kernel, out, in, width, height, depth,
                                                       kBand, planes),
                                          {groups(height - 2, kBand), groups(depth - 2, planes)},
                                          {1, 1}};
                          }),
          pingPong<float>(kPoint, device, problem, [&](const Buffer& out, const Buffer& in) {
            return Launch{device->bind(point, pointKernel, out, in, width, height, depth),
                          {rounded(width, 256), static_cast<std::size_t>(height),
                           static_cast<std::size_t>(depth)},
                          {256, 1, 1}};
          })};
}

/// The squares of the thresholds 20 and 60, in sixteenths.
constexpr cl_int kLow = 16 * 20 * 16 * 20;
constexpr cl_int kHigh = 16 * 60 * 16 * 60;

std::vector<Contender> canny(const Problem& problem) {
  const auto device = std::make_shared<ClDevice>();
  const Program rows = device->program(kRowsSource + kCannySource);
  const Program tile = device->program(gaussMask() + kTileSource);
  const cl_int w = problem.width, h = problem.height;
  const std::size_t points = problem.points();
  const Buffer picture = device->buffer(points), smoothed = device->buffer(2 * points);
  const Buffer strength = device->buffer(4 * points), direction = device->buffer(points);
  const Buffer ridges = device->buffer(4 * points), labels = device->buffer(points);
  const std::vector<std::size_t> bands = {groups(h, kBand)}, one = {1};
  const std::vector<std::size_t> grid = {rounded(w, 16), rounded(h, 16)}, square = {16, 16};
  // Few long bands: each warms its buffers up once.
  const cl_int longBand = static_cast<cl_int>(4 * groups(h, 32));
  const std::size_t items = groups(h, longBand);
  const Buffer scratch = device->buffer(56 * static_cast<std::size_t>(w) * items);

  const auto contender = [&](const char* name, std::vector<Launch> launches) {
    const std::vector<unsigned char> initial(problem.values.begin(), problem.values.end());
    return launchPhases(
        name, device, {{std::move(launches), labels}},
        [device, picture, initial] { device->write(picture, initial); },
        [device, points](const Buffer& result) {
          return device->read<unsigned char>(result, points);
        });
  };
  return {
      contender(
          kRows,
          {{device->bind(rows, "smooth", smoothed, picture, w, h, kBand), bands, one},
           {device->bind(rows, "gradient", strength, direction, smoothed, w, h, kBand), bands, one},
           {device->bind(rows, "thin", ridges, strength, direction, w, h, kBand), bands, one},
           {device->bind(rows, "classify", labels, ridges, w, h, kBand, kLow, kHigh), bands, one}}),
      contender(kFused, {{device->bind(rows, "fused", labels, picture, scratch, w, h, longBand,
                                       kLow, kHigh),
                          {items},
                          one}}),
      contender(
          kTile,
          {{device->bind(tile, "smoothTile", smoothed, picture, w, h), grid, square},
           {device->bind(tile, "gradientTile", strength, direction, smoothed, w, h), grid, square},
           {device->bind(tile, "thinTile", ridges, strength, direction, w, h), grid, square},
           {device->bind(tile, "classifyTile", labels, ridges, w, h, kLow, kHigh), grid, square}})};
}

std::vector<Contender> shwa(const Problem& problem) {
  const auto device = std::make_shared<ClDevice>();
  const Program program = device->program(kRowsSource + kShwaSource);
  const cl_int w = problem.width, h = problem.height;
  const std::size_t points = problem.points();
  const Buffer water = device->buffer(16 * points), change = device->buffer(16 * points);
  const Buffer ground = device->buffer(4 * points), speed = device->buffer(4 * points);
  const Buffer fastest = device->buffer(4 * static_cast<std::size_t>(h));
  const Buffer clock = device->buffer(3 * sizeof(float));
  device->write(ground, problem.ground);
  const cl_int band = 8;  // BAND of the source
  const cl_float reach = 0.2f, cellSize = 1.0f;
  const std::vector<std::size_t> bands = {groups(h, band)}, one = {1};
  return {launchPhases(
      kRows, device,
      {{{{device->bind(program, "flows", change, speed, water, ground, w, h, band), bands, one},
         {device->bind(program, "fastestOfRows", fastest, speed, w, h, band), bands, one},
         {device->bind(program, "advanceClock", clock, fastest, h, reach), one, one},
         {device->bind(program, "update", water, change, clock, cellSize, w, h, band), bands, one}},
        water}},
      [device, water, clock, initial = problem.values] {
        device->write(water, initial);
        device->write(clock, std::vector<float>(3, 0.0f));
      },
      [device, points](const Buffer& result) { return device->read<float>(result, 4 * points); })};
}

/// As many bytes as the problem's points have at 8 each.
Contender copy(const Problem& problem) {
  const auto device = std::make_shared<ClDevice>();
  const Program program = device->program(gaussMask() + kTileSource);
  constexpr std::size_t kItems = 64;
  const std::size_t vectors = (problem.points() + 64 * kItems - 1) / (64 * kItems);
  const cl_ulong share = 16 * vectors;
  const std::size_t floats = 4 * share * kItems;
  const Buffer out = device->buffer(floats * sizeof(float));
  const Buffer in = device->buffer(floats * sizeof(float));
  device->write(in, std::vector<float>(floats, 1.0f));
  const Launch launch =
      device->isCpu() ? Launch{device->bind(program, "copyAll", out, in, share), {kItems}, {1}}
                      : Launch{device->bind(program, "copyVector", out, in), {floats / 4}, {256}};
  Contender contender = launchPhases(kCopy, device, {{{launch}, out}}, [] {}, {});
  contender.bytesPerPoint = 8;
  return contender;
}

}  // namespace

std::vector<Contender> openClContenders(const Problem& problem) {
  const std::string& name = problem.workload;
  std::vector<Contender> all =
      name == "life"         ? planar<cl_int>(problem, kLifeSource, "life", "lifeTile", 0)
      : name == "gauss"      ? planar<float>(problem, gaussRows(), "gauss", "gaussTile", 5)
      : name == "jacobi5"    ? planar<float>(problem, kJacobiSource, "jacobi5", "jacobi5Tile", 1)
      : name == "jacobi9"    ? planar<float>(problem, kJacobiSource, "jacobi9", "jacobi9Tile", 1)
      : name == "jacobi3d7"  ? solid(problem, "jacobi7", "jacobi7Point")
      : name == "jacobi3d27" ? solid(problem, "jacobi27", "jacobi27Point")
      : name == "canny"      ? canny(problem)
                             : shwa(problem);
  all.push_back(copy(problem));
  return all;
}

}  // namespace perf::stencils

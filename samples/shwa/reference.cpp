// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/reference.h"

#include <algorithm>
#include <cmath>

namespace samples::shwa {
namespace {

struct Velocity {
  float normal;
  float tangential;
};

/// Flow through a face; `push` is the momentum flow along the normal without the pressure of the
/// reconstructed water of the first ([0]) and the second ([1]) cell.
struct FaceFlow {
  float mass = 0;
  float push[2] = {0, 0};
  float tangential = 0;
  float pollutant = 0;
};

bool flows(const Cell& cell) { return cell.depth > kThinnest; }

Velocity velocity(const Cell& cell, bool vertical) {
  if (!flows(cell)) return {0, 0};
  const float u = cell.alongX / cell.depth;
  const float v = cell.alongY / cell.depth;
  return vertical ? Velocity{v, u} : Velocity{u, v};
}

float concentration(const Cell& cell) {
  return cell.depth > 0 ? cell.pollutant / cell.depth : 0.0f;
}

/// Harten, Lax and van Leer, with hydrostatic reconstruction.
FaceFlow faceFlow(const Cell& a, float groundA, const Cell& b, float groundB, bool vertical) {
  const float ground = std::max(groundA, groundB);
  const float depth[2] = {std::max((a.depth + groundA) - ground, 0.0f),
                          std::max((b.depth + groundB) - ground, 0.0f)};
  const Velocity speed[2] = {velocity(a, vertical), velocity(b, vertical)};
  float wave[2];
  float discharge[2];
  float pressure[2];
  float momentum[2];
  for (int i = 0; i < 2; ++i) {
    wave[i] = std::sqrt(kGravity * depth[i]);
    discharge[i] = depth[i] * speed[i].normal;
    pressure[i] = 0.5f * kGravity * depth[i] * depth[i];
    momentum[i] = discharge[i] * speed[i].normal + pressure[i];
  }
  const float frontA = depth[1] > 0 ? wave[0] : 2 * wave[0];
  const float frontB = depth[0] > 0 ? wave[1] : 2 * wave[1];
  const float slowest = std::min({speed[0].normal - wave[0], speed[1].normal - frontB, 0.0f});
  const float fastest = std::max({speed[1].normal + wave[1], speed[0].normal + frontA, 0.0f});
  const float weight = slowest / std::max(fastest - slowest, 1e-12f);
  const float total = momentum[0] - weight * ((momentum[1] - momentum[0]) -
                                              fastest * (discharge[1] - discharge[0]));

  FaceFlow flow;
  flow.mass =
      discharge[0] - weight * ((discharge[1] - discharge[0]) - fastest * (depth[1] - depth[0]));
  flow.push[0] = total - pressure[0];
  flow.push[1] = total - pressure[1];
  const bool forward = flow.mass > 0;
  flow.tangential = flow.mass * speed[forward ? 0 : 1].tangential;
  flow.pollutant = flow.mass * concentration(forward ? a : b);
  return flow;
}

/// The flows through all faces between neighbours in a row (or in a column): entry (row, column)
/// lies between that cell and the next one.
Raster<FaceFlow> allFlows(const Raster<Cell>& cells, const Raster<float>& ground, bool vertical) {
  Raster<FaceFlow> faces(cells.extent());
  for (int row = 0; row + (vertical ? 1 : 0) < cells.height(); ++row) {
    for (int column = 0; column + (vertical ? 0 : 1) < cells.width(); ++column) {
      const int nextRow = row + (vertical ? 1 : 0);
      const int nextColumn = column + (vertical ? 0 : 1);
      faces.at(row, column) =
          faceFlow(cells.at(row, column), ground.at(row, column), cells.at(nextRow, nextColumn),
                   ground.at(nextRow, nextColumn), vertical);
    }
  }
  return faces;
}

float fastestWave(const Raster<Cell>& cells) {
  float fastest = 0;
  for (int row = 1; row + 1 < cells.height(); ++row) {
    for (int column = 1; column + 1 < cells.width(); ++column) {
      const Cell& cell = cells.at(row, column);
      const Velocity v = velocity(cell, false);
      const float speed = std::max(std::abs(v.normal), std::abs(v.tangential));
      fastest = std::max(fastest, speed + std::sqrt(kGravity * cell.depth));
    }
  }
  return fastest;
}

Cell advanced(const Cell& cell, const FaceFlow& west, const FaceFlow& east, const FaceFlow& north,
              const FaceFlow& south, float factor) {
  Cell next;
  next.depth = cell.depth + factor * ((west.mass - east.mass) + (north.mass - south.mass));
  next.depth = std::max(next.depth, 0.0f);
  next.pollutant = cell.pollutant + factor * ((west.pollutant - east.pollutant) +
                                              (north.pollutant - south.pollutant));
  next.pollutant = std::max(next.pollutant, 0.0f);
  if (flows(next)) {
    next.alongX = cell.alongX +
                  factor * ((west.push[1] - east.push[0]) + (north.tangential - south.tangential));
    next.alongY = cell.alongY +
                  factor * ((west.tangential - east.tangential) + (north.push[1] - south.push[0]));
  }
  return next;
}

}  // namespace

State referenceRun(const Input& input, int steps, float courant) {
  State state{input.water, 0, steps};
  float time = 0;
  float lost = 0;
  for (int step = 0; step < steps; ++step) {
    const Raster<FaceFlow> across = allFlows(state.cells, input.ground, false);
    const Raster<FaceFlow> down = allFlows(state.cells, input.ground, true);
    const float seconds = courant * input.cellSize / std::max(fastestWave(state.cells), 1e-6f);
    const float factor = seconds / input.cellSize;
    for (int row = 1; row + 1 < state.cells.height(); ++row) {
      for (int column = 1; column + 1 < state.cells.width(); ++column) {
        Cell& cell = state.cells.at(row, column);
        cell = advanced(cell, across.at(row, column - 1), across.at(row, column),
                        down.at(row - 1, column), down.at(row, column), factor);
      }
    }
    const float due = seconds - lost;
    const float sum = time + due;
    lost = (sum - time) - due;
    time = sum;
  }
  state.time = static_cast<double>(time) - static_cast<double>(lost);
  return state;
}

}  // namespace samples::shwa

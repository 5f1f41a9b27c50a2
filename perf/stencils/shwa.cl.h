// SPDX-License-Identifier: Apache-2.0
// The kernels of samples/shwa. A cell is a float4, so 16 cells are turned into a vector of each of
// their variables. The flow across a face is computed once per row: it leaves one cell and enters
// the next. Two rows at a time share the faces between them.
R"CLC(
#define GRAVITY 9.81f
#define THINNEST 1e-4f

/* Rows of a band at most. */
#define BAND 8

/* 16 cells. */
typedef struct { FL depth, ground, level, u, v, concentration; } Cells;
/* What crosses 16 faces. */
typedef struct { FL mass, before, after, past, pollutant; } Flow;

#define PICK(c, k) (FL)((c##0).k, (c##1).k, (c##2).k, (c##3).k)

VECTORS Cells cellsAt(const __global float* water, const __global float* ground, size_t i) {
  Cells s;
  const __global float* q = water + 4 * i;
  FL c0 = LDFL(q), c1 = LDFL(q + 16), c2 = LDFL(q + 32), c3 = LDFL(q + 48);
  FL nothing = 0.0f;
  s.depth = PICK(c, s048c);
  s.ground = LDFL(ground + i);
  s.level = s.depth + s.ground;
  s.u = select(nothing, PICK(c, s159d) / s.depth, s.depth > THINNEST);
  s.v = select(nothing, PICK(c, s26ae) / s.depth, s.depth > THINNEST);
  s.concentration = select(nothing, PICK(c, s37bf) / s.depth, s.depth > 0.0f);
  return s;
}

VECTORS Flow across(Cells l, Cells r, FL lTowards, FL rTowards, FL lPast, FL rPast) {
  FL sill = fmax(l.ground, r.ground);
  FL hl = fmax(l.level - sill, 0.0f), hr = fmax(r.level - sill, 0.0f);
  FL cl = sqrt(GRAVITY * hl), cr = sqrt(GRAVITY * hr);
  FL left = fmin(fmin(lTowards - cl, rTowards - select(2.0f * cr, cr, hl > 0.0f)), 0.0f);
  FL right = fmax(fmax(rTowards + cr, lTowards + select(2.0f * cl, cl, hr > 0.0f)), 0.0f);
  FL ql = hl * lTowards, qr = hr * rTowards;
  FL pl = 0.5f * GRAVITY * hl * hl, pr = 0.5f * GRAVITY * hr * hr;
  FL ml = ql * lTowards + pl, mr = qr * rTowards + pr;
  FL weight = left / fmax(right - left, 1e-12f);
  FL momentum = ml - weight * ((mr - ml) - right * (qr - ql));
  Flow f;
  f.mass = ql - weight * ((qr - ql) - right * (hr - hl));
  f.before = momentum - pl;
  f.after = momentum - pr;
  f.past = f.mass * select(rPast, lPast, f.mass > 0.0f);
  f.pollutant = f.mass * select(r.concentration, l.concentration, f.mass > 0.0f);
  return f;
}

VECTORS Flow acrossX(Cells l, Cells r) { return across(l, r, l.u, r.u, l.v, r.v); }
VECTORS Flow acrossY(Cells l, Cells r) { return across(l, r, l.v, r.v, l.u, r.u); }

/* The flow through the faces one to the left; the first one belongs to the vector before. */
VECTORS Flow westOf(Flow before, Flow east) {
  Flow f;
  f.mass = LEFT(FL, before.mass, east.mass);
  f.after = LEFT(FL, before.after, east.after);
  f.past = LEFT(FL, before.past, east.past);
  f.pollutant = LEFT(FL, before.pollutant, east.pollutant);
  return f;
}

#define MIX(a, b, c, d, i, j, k, l)                                                        \
  (FL)((a).i, (b).i, (c).i, (d).i, (a).j, (b).j, (c).j, (d).j, (a).k, (b).k, (c).k, (d).k, \
       (a).l, (b).l, (c).l, (d).l)

VECTORS void storeChange(__global float* o, Flow west, Flow east, Flow north, Flow south) {
  FL a = (west.mass - east.mass) + (north.mass - south.mass);
  FL b = (west.after - east.before) + (north.past - south.past);
  FL c = (west.past - east.past) + (north.after - south.before);
  FL d = (west.pollutant - east.pollutant) + (north.pollutant - south.pollutant);
  STFL(o, MIX(a, b, c, d, s0, s1, s2, s3));
  STFL(o + 16, MIX(a, b, c, d, s4, s5, s6, s7));
  STFL(o + 32, MIX(a, b, c, d, s8, s9, sa, sb));
  STFL(o + 48, MIX(a, b, c, d, sc, sd, se, sf));
}

VECTORS FL speedOf(Cells s) { return fmax(fabs(s.u), fabs(s.v)) + sqrt(GRAVITY * s.depth); }

/* The cells one to the right. */
VECTORS Cells eastOf(Cells here, Cells next) {
  Cells s;
  s.ground = RIGHT(FL, here.ground, next.ground);
  s.level = RIGHT(FL, here.level, next.level);
  s.u = RIGHT(FL, here.u, next.u);
  s.v = RIGHT(FL, here.v, next.v);
  s.concentration = RIGHT(FL, here.concentration, next.concentration);
  return s;
}

/* A vector of one row anywhere in the inside. */
VECTORS void flowsAt(__global float* change, __global float* speed, const __global float* water,
             const __global float* ground, size_t i, size_t w) {
  Cells here = cellsAt(water, ground, i);
  Flow west = acrossX(cellsAt(water, ground, i - 1), here);
  Flow east = acrossX(here, cellsAt(water, ground, i + 1));
  Flow north = acrossY(cellsAt(water, ground, i - w), here);
  Flow south = acrossY(here, cellsAt(water, ground, i + w));
  storeChange(change + 4 * i, west, east, north, south);
  STFL(speed + i, speedOf(here));
}

/* The cells of the ring are the wall: nothing changes there. */
void still(__global float* change, __global float* speed, size_t i) {
  for (int k = 0; k < 4; k++) change[4 * i + k] = 0.0f;
  speed[i] = 0.0f;
}

WIDE void flows(__global float* change, __global float* speed, const __global float* water,
                const __global float* ground, int width, int height, int band) {
  const size_t w = width, h = height, y0 = get_global_id(0) * band;
  const size_t first = max(y0, (size_t)1), end = min(y0 + band, h - 1);
  const int rows = (int)(end - first);
  Cells here[BAND + 1]; /* of each row, and of the one below */
  Flow east[BAND];      /* what the vector to the left sends */
  for (int j = 0; j < rows; j++) here[j] = cellsAt(water, ground, (first + j) * w);
  size_t x = 0;
  for (; x + 2 * V <= w; x += V) {
    size_t i = first * w + x;
    Flow north = acrossY(cellsAt(water, ground, i - w), here[0]);
    here[rows] = cellsAt(water, ground, i + rows * w);
    for (int j = 0; j < rows; j++, i += w) {
      Cells next = cellsAt(water, ground, i + V);
      Flow flow = acrossX(here[j], eastOf(here[j], next));
      Flow south = acrossY(here[j], here[j + 1]);
      storeChange(change + 4 * i, westOf(east[j], flow), flow, north, south);
      STFL(speed + i, speedOf(here[j]));
      here[j] = next;
      east[j] = flow;
      north = south;
    }
  }
  for (; x < w - 1; x += V)
    for (int j = 0; j < rows; j++)
      flowsAt(change, speed, water, ground, (first + j) * w + min(x, w - 1 - V), w);
  for (int j = 0; j < rows; j++) {
    still(change, speed, (first + j) * w);
    still(change, speed, (first + j) * w + w - 1);
  }
  if (y0 == 0)
    for (size_t k = 0; k < w; k++) still(change, speed, k);
  if (y0 + band >= h)
    for (size_t k = 0; k < w; k++) still(change, speed, (h - 1) * w + k);
}

WIDE void fastestOfRows(__global float* fastest, const __global float* speed, int width, int height,
                        int band) {
  const size_t w = width, y0 = get_global_id(0) * band, end = min(y0 + band, (size_t)height);
  for (size_t y = y0; y < end; y++) {
    FL most = 0.0f;
    for (size_t x = 0; x < w; x += V) most = fmax(most, LDFL(speed + y * w + min(x, w - V)));
    float8 a = fmax(most.lo, most.hi);
    float4 b = fmax(a.lo, a.hi);
    fastest[y] = fmax(fmax(b.x, b.y), fmax(b.z, b.w));
  }
}

/* clock: the step, the time, and what of the time its float could not hold. */
__kernel void advanceClock(__global float* clock, const __global float* fastest, int rows,
                           float reach) {
  float most = 1e-6f;
  for (int y = 0; y < rows; y++) most = fmax(most, fastest[y]);
  float step = reach / most, due = step - clock[2], before = clock[1], time = before + due;
  clock[0] = step;
  clock[1] = time;
  clock[2] = (time - before) - due;
}

/* Four cells: of each the depth, two discharges and the pollutant. */
VECTORS FL updated(FL cells, FL change, float factor) {
  FL next = cells + factor * change, nothing = 0.0f;
  FL positive = fmax(next, 0.0f);
  FL moving = select(nothing, next, positive.s000044448888cccc > THINNEST);
  return (FL)(positive.s0, moving.s12, positive.s34, moving.s56, positive.s78, moving.s9a,
              positive.sbc, moving.sde, positive.sf);
}

WIDE void update(__global float* water, const __global float* change, const __global float* clock,
                 float cellSize, int width, int height, int band) {
  const size_t w = width, h = height, y0 = get_global_id(0) * band;
  const float factor = clock[0] / cellSize;
  for (size_t y = max(y0, (size_t)1); y < min(y0 + band, h - 1); y++) {
    __global float* q = water + 4 * y * w;
    const __global float* c = change + 4 * y * w;
    size_t i = 4;
    for (; i + 16 <= 4 * (w - 1); i += 16) STFL(q + i, updated(LDFL(q + i), LDFL(c + i), factor));
    for (; i < 4 * (w - 1); i += 4) {
      FL cell = 0.0f, more = 0.0f;
      cell.s0123 = vload4(0, q + i);
      more.s0123 = vload4(0, c + i);
      vstore4(updated(cell, more, factor).s0123, 0, q + i);
    }
  }
}
)CLC"

// Geometry of the safety filter: a body of points, its gaps from solids and between its own points, and motions to rest.
//
// Plain C++ on arrays in rows; `kernel.cpp` makes it available in Python. A posture has `nq` joint positions, a frame for
// each joint (three rows of a rotation, each followed by the position), and `count` points.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace safety_filter {

using Index = std::int64_t;

constexpr Index FRAME = 12;  // numbers of a frame
constexpr Index SOLID = 16;  // numbers of a solid: rotation (3, 3), centre, half sides, and 1 for a cylinder
constexpr Index GAP = 3;     // numbers of a gap: solid, point, and the second point or -1
constexpr double INFINITE = std::numeric_limits<double>::infinity();

// Chain of joints with points on its links. Joints turn about the z axes of their frames, or slide along them.
struct Body {
  Index nq, count;
  const double* joints;  // (nq, FRAME): frame of each joint at position 0, in that of the previous joint
  const Index* slides;   // (nq,): 1 for a joint that slides
  const Index* link;     // (count,): joint that moves each point, or -1
  const double* local;   // (count, 3): points in the frames of their links [m]
};

inline void place(const Body& body, const double* qpos, double* frames, double* points) {
  for (Index joint = 0; joint < body.nq; ++joint) {
    const double *fixed = body.joints + FRAME * joint, q = qpos[joint];
    const bool slides = body.slides[joint] != 0;
    const double c = slides ? 1.0 : std::cos(q), s = slides ? 0.0 : std::sin(q);
    double *frame = frames + FRAME * joint, turned[FRAME];
    for (int row = 0; row < 3; ++row) {
      const double x = fixed[4 * row], y = fixed[4 * row + 1], z = fixed[4 * row + 2];
      turned[4 * row] = c * x + s * y;
      turned[4 * row + 1] = c * y - s * x;
      turned[4 * row + 2] = z;
      turned[4 * row + 3] = fixed[4 * row + 3] + (slides ? q * z : 0.0);
    }
    if (joint == 0) {
      std::copy(turned, turned + FRAME, frame);
      continue;
    }
    for (int row = 0; row < 3; ++row) {
      const double* left = frame - FRAME + 4 * row;
      for (int column = 0; column < 4; ++column)
        frame[4 * row + column] = left[0] * turned[column] + left[1] * turned[4 + column] +
                                  left[2] * turned[8 + column] + (column == 3 ? left[3] : 0.0);
    }
  }
  for (Index point = 0; point < body.count; ++point) {
    const double *at = body.local + 3 * point, *frame = frames + FRAME * body.link[point];
    for (int row = 0; row < 3; ++row, frame += 4)
      points[3 * point + row] =
          body.link[point] < 0 ? at[row] : frame[0] * at[0] + frame[1] * at[1] + frame[2] * at[2] + frame[3];
  }
}

// Derivatives (nq,) along `normal` of a point `at` (3,) on `link`, multiplied by `sign` and added to `result`.
inline void add_slopes(const Body& body, const double* frames, const double* at, Index link, const double* normal,
                       double sign, double* result) {
  for (Index joint = 0; joint <= link; ++joint) {
    const double* frame = frames + FRAME * joint;
    double x = frame[2], y = frame[6], z = frame[10];  // the joint's axis
    if (!body.slides[joint]) {
      const double a = at[0] - frame[3], b = at[1] - frame[7], c = at[2] - frame[11], u = x, v = y, w = z;
      x = v * c - w * b, y = w * a - u * c, z = u * b - v * a;
    }
    result[joint] += sign * (normal[0] * x + normal[1] * y + normal[2] * z);
  }
}

// Signed distance from a solid of the point `away` from its centre, and its gradient unless `normal` is null.
inline double distance(const double* solid, const double* away, double* normal) {
  const double* halves = solid + 12;
  const bool cylinder = solid[15] != 0.0;
  double local[3], grows[3], beyond[3], squared = 0.0, across = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    local[axis] = solid[axis] * away[0] + solid[3 + axis] * away[1] + solid[6 + axis] * away[2];
  for (int axis = 0; axis < 3; ++axis) beyond[axis] = std::abs(local[axis]);
  if (cylinder) {
    across = std::hypot(local[0], local[1]);
    beyond[0] = across;
    beyond[1] = 0.0;
  }
  int deepest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    beyond[axis] -= halves[axis];
    if (beyond[axis] > beyond[deepest]) deepest = axis;
    if (beyond[axis] > 0.0) squared += beyond[axis] * beyond[axis];
  }
  const double length = std::sqrt(squared), value = length > 0.0 ? length : std::min(beyond[deepest], 0.0);
  if (normal == nullptr) return value;
  for (int axis = 0; axis < 3; ++axis) {
    double part = length > 0.0 ? std::max(beyond[axis], 0.0) / length : (axis == deepest ? 1.0 : 0.0);
    grows[axis] = std::copysign(part, local[axis]);
  }
  if (cylinder) {
    const double part = std::abs(grows[0]);
    grows[0] = across > 0.0 ? part * local[0] / across : part;  // on the axis all radial directions are equivalent
    grows[1] = across > 0.0 ? part * local[1] / across : 0.0;
  }
  for (int axis = 0; axis < 3; ++axis)
    normal[axis] = solid[3 * axis] * grows[0] + solid[3 * axis + 1] * grows[1] + solid[3 * axis + 2] * grows[2];
  return value;
}

// Gaps of a body's points from solids, and between pairs of its points.
struct Gaps {
  Index many;
  const double* solids;   // (z, SOLID)
  const Index* between;   // (many, GAP)
  const double* kept;     // (many,): subtracted from distances [m]
  const double* weights;  // (many,): moving points of each gap

  // Vector of a gap at one posture: from the centre of the solid, or from the second point, to the point.
  void way(Index gap, const double* points, double* away) const {
    const Index* of = between + GAP * gap;
    const double* from = of[2] < 0 ? solids + SOLID * of[0] + 9 : points + 3 * of[2];
    for (int axis = 0; axis < 3; ++axis) away[axis] = points[3 * of[1] + axis] - from[axis];
  }

  // Clearance of a gap at one posture [m], and its gradient by the point unless `normal` is null.
  double clearance(Index gap, const double* points, double* normal = nullptr) const {
    const Index* of = between + GAP * gap;
    double away[3];
    way(gap, points, away);
    if (of[2] >= 0 && normal == nullptr)
      return std::sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2]) - kept[gap];
    return distance(solids + SOLID * of[0], away, normal) - kept[gap];
  }
};

// Bound on the deviation of points from their chords between the postures `here` and `there` (nq,) [m].
inline double sag(Index nq, const double* here, const double* there, const double* off, const double* bend,
                  const double* most) {
  double sum = 0.0;
  for (Index i = 0; i < nq; ++i) {
    double turned = 0.0;
    for (Index j = 0; j < nq; ++j) turned += bend[nq * i + j] * std::abs(there[j] - here[j]);
    sum += 0.125 * std::abs(there[i] - here[i]) * turned + off[i] * most[i];
  }
  return sum;
}

// A hold of `qacc` and the braking after it. Writes positions now, after the hold, at up to `most` times of braking, and
// where immediate braking ends to `way` (samples + 3, nq), deviations to `off` (samples + 1, nq); returns the samples.
inline Index way_to_rest(Index nq, const double* qpos, const double* qvel, const double* qacc, const double* braking,
                         double dt, Index most, double* way, double* off) {
  double longest = 1.0;
  for (Index joint = 0; joint < nq; ++joint) {
    const double velocity = qvel[joint] + dt * qacc[joint];
    longest = std::max(longest, std::ceil(std::abs(velocity) / (braking[joint] * dt) - 1e-9));
  }
  const Index samples = longest < most ? static_cast<Index>(longest) : most;
  const double step = longest * dt / samples;
  for (Index joint = 0; joint < nq; ++joint) {
    const double here = qpos[joint], now = qvel[joint], acceleration = qacc[joint], least = braking[joint];
    const double velocity = now + dt * acceleration, after = here + 0.5 * dt * (now + velocity);
    const double stages = std::ceil(std::abs(velocity) / (least * dt) - 1e-9);
    const double slowing = 0.5 * velocity / (dt * std::max(stages, 1.0));
    double* at = way + joint;
    at[0] = here;
    at[nq] = after;
    off[joint] = std::abs(acceleration) * 0.125 * dt * dt;
    for (Index k = 1; k <= samples; ++k) {
      const double time = std::min(k * step, dt * stages);
      at[nq * (k + 1)] = after + time * (velocity - slowing * time);
      const double moved = std::abs(at[nq * (k + 1)] - at[nq * k]);
      off[nq * k + joint] = std::min(moved, std::abs(slowing) * 0.25 * step * step);
    }
    at[nq * (samples + 2)] = here + now * (0.5 * std::abs(now) / least + 0.5 * dt);
  }
  return samples;
}

// Lower bound on a convex function on [0, 1] by its values and slopes at both ends.
inline double tangents(double here, double there, double leaving, double arriving) {
  if (leaving >= 0.0) return here;
  if (arriving <= 0.0) return there;
  const double turn = std::max(arriving - leaving, 1e-12);
  const double meeting = std::min(std::max((there - here - arriving) / -turn, 0.0), 1.0);
  return std::min(here + leaving * meeting, here);
}

// Motion of a body through `steps + 1` postures, and perhaps more postures that do not belong to it.
struct Path {
  Index steps = 0, count = 0;
  std::vector<double> frames, points;  // (n, nq, FRAME), (n, count, 3)
  std::vector<double> between;         // (steps,): deviation of points from their chords [m]
  std::vector<double> lengths;         // (steps + 1, count): length of each point's way from the first posture [m]

  void follow(const Body& body, const double* qpos, Index postures, Index moves) {
    steps = moves, count = body.count;
    frames.resize(postures * body.nq * FRAME);
    points.resize(postures * count * 3);
    for (Index k = 0; k < postures; ++k)
      place(body, qpos + body.nq * k, frames.data() + FRAME * body.nq * k, points.data() + 3 * count * k);
    lengths.assign((steps + 1) * count, 0.0);
    for (Index at = 0; at < steps * count; ++at) {
      double squared = 0.0;
      for (int axis = 0; axis < 3; ++axis) {
        const double moved = points[3 * (at + count) + axis] - points[3 * at + axis];
        squared += moved * moved;
      }
      lengths[at + count] = lengths[at] + std::sqrt(squared);
    }
  }
  const double* posture(Index k) const { return points.data() + 3 * count * k; }
};

// Lower bound on the clearances along a path. A gap whose clearance is violated at the start may shrink by `shrinks`
// [m]. Parts of the path whose ends alone show that a gap stays above `enough` >= 0 are not looked at any closer.
class Clearance {
 public:
  Clearance(const Gaps& gaps, const Path& path, double shrinks, double enough)
      : gaps_(gaps), path_(path), shrinks_(shrinks), enough_(enough) {
    if (path.steps == 0) return;
    worst_ = *std::max_element(path.between.begin(), path.between.end());
    for (gap_ = 0; gap_ < gaps.many; ++gap_) {
      first_ = gaps.clearance(gap_, path.posture(0));
      look(0, path.steps, first_, gaps.clearance(gap_, path.posture(path.steps)));
    }
  }
  double least() const { return least_; }
  Index lost() const { return lost_; }  // the first gap that is not kept, or -1

 private:
  void look(Index i, Index j, double here, double there) {
    if (j == i + 1) return step(i, here, there);
    const Index* of = gaps_.between + GAP * gap_;
    double length = path_.lengths[j * path_.count + of[1]] - path_.lengths[i * path_.count + of[1]];
    if (of[2] >= 0) length += path_.lengths[j * path_.count + of[2]] - path_.lengths[i * path_.count + of[2]];
    const double bound = 0.5 * (here + there - length) - gaps_.weights[gap_] * worst_;
    if (bound >= enough_) {
      least_ = std::min(least_, bound);
      return;
    }
    const Index middle = (i + j) / 2;
    const double value = gaps_.clearance(gap_, path_.posture(middle));
    look(i, middle, here, value);
    look(middle, j, value, there);
  }

  void step(Index k, double here, double there) {
    double start[3], end[3], chord[3], squared = 0.0, normal[3], leaving = 0.0, arriving = 0.0;
    gaps_.way(gap_, path_.posture(k), start);
    gaps_.way(gap_, path_.posture(k + 1), end);
    for (int axis = 0; axis < 3; ++axis) {
      chord[axis] = end[axis] - start[axis];
      squared += chord[axis] * chord[axis];
    }
    const double off = gaps_.weights[gap_] * path_.between[k], asked = std::min(0.0, first_ - off - shrinks_);
    double bound = 0.5 * (here + there - std::sqrt(squared)) - off;
    if (!(bound >= asked)) {
      gaps_.clearance(gap_, path_.posture(k), normal);
      for (int axis = 0; axis < 3; ++axis) leaving += normal[axis] * chord[axis];
      gaps_.clearance(gap_, path_.posture(k + 1), normal);
      for (int axis = 0; axis < 3; ++axis) arriving += normal[axis] * chord[axis];
      bound = tangents(here, there, leaving, arriving) - off;
      if (!(bound >= asked) && lost_ < 0) lost_ = gap_;
    }
    least_ = std::min(least_, bound);
  }

  const Gaps& gaps_;
  const Path& path_;
  const double shrinks_, enough_;
  double worst_ = 0.0, first_ = 0.0, least_ = INFINITE;
  Index gap_ = 0, lost_ = -1;
};

}  // namespace safety_filter

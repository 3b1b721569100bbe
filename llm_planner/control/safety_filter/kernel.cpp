// Compiled inner loops of the safety filter. `kernel.pyi` documents the functions for Python.
//
// Arrays are C-contiguous buffers of float64 or int64. Each function checks their sizes; indices inside are trusted,
// because `bodies` and `distances` make them.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace {

using Index = std::int64_t;

constexpr Index FRAME = 12;  // numbers of a frame: three rows of a rotation, each followed by the position
constexpr Index SOLID = 16;  // numbers of a solid: rotation (3, 3), centre, half sides, and 1 for a cylinder
constexpr Index GAP = 3;     // numbers of a gap: solid, point, and the second point or -1

// A buffer of one argument, released at the end of its scope.
template <typename T>
class Numbers {
 public:
  Numbers(PyObject* object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    held_ = PyObject_GetBuffer(object, &view_, flags) == 0;
    if (!held_) return;
    const char kind = view_.format ? view_.format[0] : '\0';
    const bool fits = std::is_same<T, double>::value ? kind == 'd' : kind == 'l' || kind == 'q';
    if (!fits || view_.itemsize != sizeof(T)) {
      PyErr_Format(PyExc_TypeError, "an array of the kernel has the type '%s'", view_.format ? view_.format : "");
    }
  }
  ~Numbers() {
    if (held_) PyBuffer_Release(&view_);
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  T* data() const { return static_cast<T*>(view_.buf); }
  Index size(int axis) const { return axis < view_.ndim ? view_.shape[axis] : 0; }
  bool has(std::initializer_list<Index> shape) const {
    return view_.ndim == static_cast<int>(shape.size()) && std::equal(shape.begin(), shape.end(), view_.shape);
  }

 private:
  Py_buffer view_{};
  bool held_ = false;
};

using Doubles = Numbers<double>;
using Indices = Numbers<Index>;

bool fits(bool shapes) {
  if (!PyErr_Occurred() && !shapes) PyErr_SetString(PyExc_ValueError, "arrays of the kernel have shapes that disagree");
  return !PyErr_Occurred();
}

bool counts(Py_ssize_t given, Py_ssize_t expected) {
  if (given != expected) PyErr_Format(PyExc_TypeError, "the kernel needs %zd arguments, not %zd", expected, given);
  return given == expected;
}

PyObject* way_to_rest(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles qpos(args[0], false), qvel(args[1], false), qacc(args[2], false), braking(args[3], false);
  const double dt = PyFloat_AsDouble(args[4]);
  const Doubles way(args[5], true), off(args[6], true);
  const Index nq = qpos.size(0), most = off.size(0) - 1;
  if (!fits(qvel.has({nq}) && qacc.has({nq}) && braking.has({nq}) && most > 0 && way.has({most + 3, nq}) &&
            off.has({most + 1, nq})))
    return nullptr;
  double longest = 1.0;
  for (Index joint = 0; joint < nq; ++joint) {
    const double velocity = qvel.data()[joint] + dt * qacc.data()[joint];
    longest = std::max(longest, std::ceil(std::abs(velocity) / (braking.data()[joint] * dt) - 1e-9));
  }
  const Index samples = longest < most ? static_cast<Index>(longest) : most;
  const double step = longest * dt / samples;
  for (Index joint = 0; joint < nq; ++joint) {
    const double here = qpos.data()[joint], now = qvel.data()[joint], acceleration = qacc.data()[joint];
    const double least = braking.data()[joint], velocity = now + dt * acceleration, after = here + 0.5 * dt * (now + velocity);
    const double stages = std::ceil(std::abs(velocity) / (least * dt) - 1e-9);
    const double slowing = 0.5 * velocity / (dt * std::max(stages, 1.0));
    double* at = way.data() + joint;
    at[0] = here;
    at[nq] = after;
    off.data()[joint] = std::abs(acceleration) * 0.125 * dt * dt;
    for (Index k = 1; k <= samples; ++k) {
      const double time = std::min(k * step, dt * stages);
      at[nq * (k + 1)] = after + time * (velocity - slowing * time);
      const double moved = std::abs(at[nq * (k + 1)] - at[nq * k]);
      off.data()[nq * k + joint] = std::min(moved, std::abs(slowing) * 0.25 * step * step);
    }
    at[nq * (samples + 2)] = here + now * (0.5 * std::abs(now) / least + 0.5 * dt);
  }
  return PyLong_FromSsize_t(samples);
}

PyObject* sag(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 5)) return nullptr;
  const Doubles qpos(args[0], false), off(args[1], false), bend(args[2], false), most(args[3], false);
  const Doubles result(args[4], true);
  const Index steps = result.size(0), nq = qpos.size(1), offs = off.size(0);
  if (!fits(qpos.has({steps + 1, nq}) && off.has({offs, nq}) && (offs == 1 || offs == steps) && bend.has({nq, nq}) &&
            most.has({nq})))
    return nullptr;
  for (Index step = 0; step < steps; ++step) {
    const double *here = qpos.data() + nq * step, *there = here + nq, *leaves = off.data() + (offs == 1 ? 0 : nq * step);
    double sum = 0.0;
    for (Index i = 0; i < nq; ++i) {
      double turned = 0.0;
      for (Index j = 0; j < nq; ++j) turned += bend.data()[nq * i + j] * std::abs(there[j] - here[j]);
      sum += 0.125 * std::abs(there[i] - here[i]) * turned + leaves[i] * most.data()[i];
    }
    result.data()[step] = sum;
  }
  Py_RETURN_NONE;
}

PyObject* place(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 6)) return nullptr;
  const Doubles qpos(args[0], false), joints(args[1], false), local(args[3], false);
  const Indices link(args[2], false);
  const Doubles frames(args[4], true), points(args[5], true);
  const Index n = qpos.size(0), nq = qpos.size(1), count = link.size(0);
  if (!fits(qpos.has({n, nq}) && joints.has({nq, FRAME}) && link.has({count}) && local.has({count, 3}) &&
            frames.has({n, nq, FRAME}) && points.has({3, n, count})))
    return nullptr;
  for (Index k = 0; k < n; ++k) {
    const double* before = nullptr;
    for (Index joint = 0; joint < nq; ++joint) {
      const double *fixed = joints.data() + FRAME * joint, q = qpos.data()[nq * k + joint];
      const double c = std::cos(q), s = std::sin(q);
      double* frame = frames.data() + FRAME * (nq * k + joint);
      double turned[FRAME];
      for (int row = 0; row < 3; ++row) {
        const double x = fixed[4 * row], y = fixed[4 * row + 1];
        turned[4 * row] = c * x + s * y;
        turned[4 * row + 1] = c * y - s * x;
        turned[4 * row + 2] = fixed[4 * row + 2];
        turned[4 * row + 3] = fixed[4 * row + 3];
      }
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 4; ++column) {
          if (before == nullptr) {
            frame[4 * row + column] = turned[4 * row + column];
            continue;
          }
          const double* left = before + 4 * row;
          frame[4 * row + column] = left[0] * turned[column] + left[1] * turned[4 + column] +
                                    left[2] * turned[8 + column] + (column == 3 ? left[3] : 0.0);
        }
      }
      before = frame;
    }
    for (Index point = 0; point < count; ++point) {
      const double* at = local.data() + 3 * point;
      const Index on = link.data()[point];
      for (int row = 0; row < 3; ++row) {
        double value = at[row];
        if (on >= 0) {
          const double* left = frames.data() + FRAME * (nq * k + on) + 4 * row;
          value = left[0] * at[0] + left[1] * at[1] + left[2] * at[2] + left[3];
        }
        points.data()[(row * n + k) * count + point] = value;
      }
    }
  }
  Py_RETURN_NONE;
}

PyObject* slopes(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles frames(args[0], false), points(args[1], false), normals(args[5], false), result(args[6], true);
  const Indices link(args[2], false), posture(args[3], false), point(args[4], false);
  const Index n = frames.size(0), nq = frames.size(1), count = link.size(0), rows = posture.size(0);
  if (!fits(frames.has({n, nq, FRAME}) && points.has({3, n, count}) && posture.has({rows}) && point.has({rows}) &&
            normals.has({rows, 3}) && result.has({rows, nq})))
    return nullptr;
  for (Index row = 0; row < rows; ++row) {
    const Index k = posture.data()[row], at = point.data()[row];
    const double* normal = normals.data() + 3 * row;
    for (Index joint = 0; joint < nq; ++joint) {
      double slope = 0.0;
      if (joint <= link.data()[at]) {
        const double* frame = frames.data() + FRAME * (nq * k + joint);
        double lever[3];
        for (int axis = 0; axis < 3; ++axis)
          lever[axis] = points.data()[(axis * n + k) * count + at] - frame[4 * axis + 3];
        const double x = frame[2], y = frame[6], z = frame[10];  // the joint's axis
        slope = normal[0] * (y * lever[2] - z * lever[1]) + normal[1] * (z * lever[0] - x * lever[2]) +
                normal[2] * (x * lever[1] - y * lever[0]);
      }
      result.data()[nq * row + joint] = slope;
    }
  }
  Py_RETURN_NONE;
}

// Signed distance from a solid of the point `away` from its centre, and its gradient.
double distance(const double* solid, const double* away, double* normal) {
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
  const double length = std::sqrt(squared);
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
  return length > 0.0 ? length : std::min(beyond[deepest], 0.0);
}

PyObject* clearances(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles points(args[0], false), solids(args[1], false), kept(args[3], false);
  const Indices gaps(args[2], false);
  const Doubles values(args[4], true), ways(args[5], true), normals(args[6], true);
  const Index n = points.size(1), count = points.size(2), many = gaps.size(0), all = solids.size(0);
  if (!fits(points.has({3, n, count}) && solids.has({all, SOLID}) && gaps.has({many, GAP}) && kept.has({many}) &&
            values.has({many, n}) && ways.has({many, n, 3}) && normals.has({many, n, 3})))
    return nullptr;
  for (Index gap = 0; gap < many; ++gap) {
    const Index* between = gaps.data() + GAP * gap;
    const double* solid = solids.data() + SOLID * between[0];
    for (Index k = 0; k < n; ++k) {
      double* away = ways.data() + 3 * (n * gap + k);
      for (int axis = 0; axis < 3; ++axis) {
        const double* row = points.data() + (axis * n + k) * count;
        away[axis] = row[between[1]] - (between[2] < 0 ? solid[9 + axis] : row[between[2]]);
      }
      values.data()[n * gap + k] = distance(solid, away, normals.data() + 3 * (n * gap + k)) - kept.data()[gap];
    }
  }
  Py_RETURN_NONE;
}

// Lower bound on a convex function on [0, 1] by its values and slopes at both ends.
double tangents(double here, double there, double leaving, double arriving) {
  if (leaving >= 0.0) return here;
  if (arriving <= 0.0) return there;
  const double turn = std::max(arriving - leaving, 1e-12);
  const double meeting = std::min(std::max((there - here - arriving) / -turn, 0.0), 1.0);
  return std::min(here + leaving * meeting, here);
}

PyObject* lowest(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 6)) return nullptr;
  const Doubles values(args[0], false), ways(args[1], false), normals(args[2], false);
  const Doubles weights(args[3], false), between(args[4], false);
  const double shrinks = PyFloat_AsDouble(args[5]);
  const Index many = values.size(0), n = values.size(1), steps = between.size(0);
  if (!fits(values.has({many, n}) && ways.has({many, n, 3}) && normals.has({many, n, 3}) && weights.has({many}) &&
            between.has({steps}) && steps < n))
    return nullptr;
  double least = std::numeric_limits<double>::infinity();
  Index lost = -1;
  for (Index gap = 0; gap < many; ++gap) {
    const double *value = values.data() + n * gap, *at = ways.data() + 3 * n * gap, *normal = normals.data() + 3 * n * gap;
    for (Index step = 0; step < steps; ++step) {
      double chord[3], squared = 0.0;
      for (int axis = 0; axis < 3; ++axis) {
        chord[axis] = at[3 * (step + 1) + axis] - at[3 * step + axis];
        squared += chord[axis] * chord[axis];
      }
      const double off = weights.data()[gap] * between.data()[step];
      double bound = 0.5 * (value[step] + value[step + 1] - std::sqrt(squared)) - off;
      const double asked = std::min(0.0, value[0] - off - shrinks);
      if (!(bound >= asked)) {
        double leaving = 0.0, arriving = 0.0;
        for (int axis = 0; axis < 3; ++axis) {
          leaving += normal[3 * step + axis] * chord[axis];
          arriving += normal[3 * (step + 1) + axis] * chord[axis];
        }
        bound = tangents(value[step], value[step + 1], leaving, arriving) - off;
        if (!(bound >= asked) && lost < 0) lost = gap;
      }
      least = std::min(least, bound);
    }
  }
  return Py_BuildValue("dn", least, static_cast<Py_ssize_t>(lost));
}

PyObject* room(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 6)) return nullptr;
  const Doubles values(args[0], false), result(args[5], true);
  const Py_ssize_t rest = PyLong_AsSsize_t(args[1]), half = PyLong_AsSsize_t(args[2]);
  const double gamma = PyFloat_AsDouble(args[3]), margin = PyFloat_AsDouble(args[4]);
  const Index many = values.size(0), n = values.size(1);
  if (!fits(values.has({many, n}) && result.has({many, 2}) && 0 <= half && half <= rest && rest + 1 < n)) return nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (Index gap = 0; gap < many; ++gap) {
    const double *value = values.data() + n * gap, now = value[0], kept = std::min(value[rest + 1], now);
    const double allowed = kept >= 0.0 ? (1.0 - gamma) * kept + gamma * margin : std::min(now, 0.0);
    double* left = result.data() + 2 * gap;
    left[0] = value[rest] - allowed;
    left[1] = value[half] - allowed;
    least = std::min({least, left[0], left[1]});
  }
  return PyFloat_FromDouble(least);
}

PyMethodDef METHODS[] = {
    {"way_to_rest", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(way_to_rest)), METH_FASTCALL, nullptr},
    {"sag", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sag)), METH_FASTCALL, nullptr},
    {"room", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(room)), METH_FASTCALL, nullptr},
    {"place", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(place)), METH_FASTCALL, nullptr},
    {"slopes", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(slopes)), METH_FASTCALL, nullptr},
    {"clearances", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(clearances)), METH_FASTCALL, nullptr},
    {"lowest", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(lowest)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "kernel", "Inner loops of the safety filter.", -1, METHODS,
                      nullptr,               nullptr,  nullptr,                             nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_kernel() { return PyModule_Create(&MODULE); }

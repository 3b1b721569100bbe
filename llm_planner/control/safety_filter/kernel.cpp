// Compiled inner loops of the safety filter for Python; `kernel.pyi` documents them and `model.hpp` has the geometry.
//
// Arrays are C-contiguous buffers of float64 or int64. Each function checks their sizes; indices inside are trusted,
// because `bodies` and `distances` make them.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <initializer_list>
#include <memory>
#include <new>

#include "model.hpp"

namespace {

using namespace safety_filter;

// A buffer of one argument, released at the end of its scope.
template <typename T>
class Numbers {
 public:
  Numbers(PyObject* object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    held_ = !PyErr_Occurred() && PyObject_GetBuffer(object, &view_, flags) == 0;
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
  std::vector<T> copy() const { return std::vector<T>(data(), data() + view_.len / view_.itemsize); }

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

// ---- Functions of arrays ----

PyObject* way_to_rest(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles qpos(args[0], false), qvel(args[1], false), qacc(args[2], false), braking(args[3], false);
  const double dt = PyFloat_AsDouble(args[4]);
  const Doubles way(args[5], true), off(args[6], true);
  const Index nq = qpos.size(0), most = off.size(0) - 1;
  if (!fits(qvel.has({nq}) && qacc.has({nq}) && braking.has({nq}) && most > 0 && way.has({most + 3, nq}) &&
            off.has({most + 1, nq})))
    return nullptr;
  return PyLong_FromSsize_t(safety_filter::way_to_rest(nq, qpos.data(), qvel.data(), qacc.data(), braking.data(), dt,
                                                       most, way.data(), off.data()));
}

PyObject* deviation(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles qpos(args[0], false), qvel(args[1], false), qacc(args[2], false);
  const double dt = PyFloat_AsDouble(args[3]), elapsed = PyFloat_AsDouble(args[4]);
  const Doubles measured(args[5], false), lags(args[6], false);
  const Index stages = qacc.size(0), nq = qacc.size(1);
  if (!fits(qpos.has({stages + 1, nq}) && qvel.has({stages + 1, nq}) && qacc.has({stages, nq}) && measured.has({nq}) &&
            lags.has({lags.size(0)}) && dt > 0.0))
    return nullptr;
  double least = INFINITE;
  for (Index at = 0; at < lags.size(0); ++at) {
    const double time = std::min(std::max(elapsed - lags.data()[at], 0.0), stages * dt);
    const Index stage = static_cast<Index>(time / dt + 1e-6), from = nq * stage;
    const double tau = stage < stages ? std::max(time - stage * dt, 0.0) : 0.0;
    double most = 0.0;
    for (Index joint = 0; joint < nq; ++joint) {
      const double slowing = stage < stages ? 0.5 * tau * qacc.data()[from + joint] : 0.0;
      const double here = qpos.data()[from + joint] + tau * (qvel.data()[from + joint] + slowing);
      most = std::max(most, std::abs(here - measured.data()[joint]));
    }
    least = std::min(least, most);
  }
  return PyFloat_FromDouble(least);
}

PyObject* sag(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 5)) return nullptr;
  const Doubles qpos(args[0], false), off(args[1], false), bend(args[2], false), most(args[3], false);
  const Doubles result(args[4], true);
  const Index steps = result.size(0), nq = qpos.size(1);
  if (!fits(qpos.has({steps + 1, nq}) && off.has({nq}) && bend.has({nq, nq}) && most.has({nq}))) return nullptr;
  for (Index k = 0; k < steps; ++k) {
    const double* here = qpos.data() + nq * k;
    result.data()[k] = safety_filter::sag(nq, here, here + nq, off.data(), bend.data(), most.data());
  }
  Py_RETURN_NONE;
}

PyObject* acceleration_bounds(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 9)) return nullptr;
  const Doubles qpos(args[0], false), qvel(args[1], false), low(args[2], false), high(args[3], false);
  const Doubles velocity(args[4], false), acceleration(args[5], false), braking(args[6], false);
  const double dt = PyFloat_AsDouble(args[7]);
  const Doubles result(args[8], true);
  const Index nq = qpos.size(0);
  if (!fits(qvel.has({nq}) && low.has({nq}) && high.has({nq}) && velocity.has({nq}) && acceleration.has({nq}) &&
            braking.has({nq}) && result.has({2, nq})))
    return nullptr;
  for (Index joint = 0; joint < nq; ++joint) {
    const double here = qpos.data()[joint], now = qvel.data()[joint], most = acceleration.data()[joint];
    const double slowing = braking.data()[joint];
    // The largest next velocity v >= 0 towards a limit `room` ahead: dt (v0 + v) / 2 + s(v) <= room.
    const auto approach = [&](double room, double speed) {
      const double left = std::max(room - 0.5 * dt * speed, 0.0);
      return std::min(velocity.data()[joint], slowing * (std::sqrt(dt * dt + 2.0 * left / slowing) - dt));
    };
    const double fastest = approach(high.data()[joint] - here, now), slowest = -approach(here - low.data()[joint], -now);
    const double upper = std::min(std::max((fastest - now) / dt, -most), most);
    result.data()[nq + joint] = upper;
    result.data()[joint] = std::min(std::min(std::max((slowest - now) / dt, -most), most), upper);
  }
  Py_RETURN_NONE;
}

PyObject* fill(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 8)) return nullptr;
  const Doubles rows(args[0], true), lower(args[1], true);
  const Py_ssize_t first = PyLong_AsSsize_t(args[2]), column = PyLong_AsSsize_t(args[3]);
  const double penalty = PyFloat_AsDouble(args[4]), least = PyFloat_AsDouble(args[5]);
  const Doubles slopes(args[6], false), needs(args[7], false);
  const Index nq = slopes.size(1), count = slopes.size(0), all = rows.size(0), n = rows.size(1);
  if (!fits(rows.has({all, n}) && lower.has({all}) && slopes.has({count, nq}) && needs.has({count}) && first >= 0 &&
            first + count <= all && nq <= column && column < n))
    return nullptr;
  for (Index at = 0; at < count; ++at) {
    const double* slope = slopes.data() + nq * at;
    double *row = rows.data() + n * (first + at), squared = 0.0;
    for (Index joint = 0; joint < nq; ++joint) squared += slope[joint] * slope[joint];
    const double norm = std::sqrt(squared), scale = norm > least ? 1.0 / norm : 0.0;
    std::fill_n(row, n, 0.0);
    for (Index joint = 0; joint < nq; ++joint) row[joint] = slope[joint] * scale;
    row[column] = penalty;
    lower.data()[first + at] = needs.data()[at] * scale;
  }
  Py_RETURN_NONE;
}

bool is_body(const Doubles& joints, const Indices& slides, const Indices& link, const Doubles& local) {
  const Index nq = joints.size(0), count = link.size(0);
  return joints.has({nq, FRAME}) && slides.has({nq}) && link.has({count}) && local.has({count, 3});
}

PyObject* place(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 7)) return nullptr;
  const Doubles qpos(args[0], false), joints(args[1], false), local(args[4], false);
  const Indices slides(args[2], false), link(args[3], false);
  const Doubles frames(args[5], true), points(args[6], true);
  const Index n = qpos.size(0), nq = joints.size(0), count = link.size(0);
  if (!fits(is_body(joints, slides, link, local) && qpos.has({n, nq}) && frames.has({n, nq, FRAME}) &&
            points.has({3, n, count})))
    return nullptr;
  const Body body{nq, count, joints.data(), slides.data(), link.data(), local.data()};
  std::vector<double> placed(3 * count);
  for (Index k = 0; k < n; ++k) {
    safety_filter::place(body, qpos.data() + nq * k, frames.data() + FRAME * nq * k, placed.data());
    for (Index point = 0; point < count; ++point)
      for (Index row = 0; row < 3; ++row) points.data()[(row * n + k) * count + point] = placed[3 * point + row];
  }
  Py_RETURN_NONE;
}

PyObject* slopes(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 8)) return nullptr;
  const Doubles frames(args[0], false), points(args[1], false), normals(args[6], false), result(args[7], true);
  const Indices slides(args[2], false), link(args[3], false), posture(args[4], false), point(args[5], false);
  const Index n = frames.size(0), nq = frames.size(1), count = link.size(0), rows = posture.size(0);
  if (!fits(frames.has({n, nq, FRAME}) && points.has({3, n, count}) && slides.has({nq}) && posture.has({rows}) &&
            point.has({rows}) && normals.has({rows, 3}) && result.has({rows, nq})))
    return nullptr;
  const Body body{nq, count, nullptr, slides.data(), link.data(), nullptr};
  std::fill_n(result.data(), rows * nq, 0.0);
  for (Index row = 0; row < rows; ++row) {
    const Index k = posture.data()[row], at = point.data()[row];
    double place[3];
    for (Index axis = 0; axis < 3; ++axis) place[axis] = points.data()[(axis * n + k) * count + at];
    add_slopes(body, frames.data() + FRAME * nq * k, place, link.data()[at], normals.data() + 3 * row, 1.0,
               result.data() + nq * row);
  }
  Py_RETURN_NONE;
}

PyObject* clearances(PyObject*, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 6)) return nullptr;
  const Doubles points(args[0], false), solids(args[1], false), kept(args[3], false);
  const Indices gaps(args[2], false);
  const Doubles values(args[4], true), normals(args[5], true);
  const Index n = points.size(1), count = points.size(2), many = gaps.size(0), all = solids.size(0);
  if (!fits(points.has({3, n, count}) && solids.has({all, SOLID}) && gaps.has({many, GAP}) && kept.has({many}) &&
            values.has({many, n}) && normals.has({many, n, 3})))
    return nullptr;
  const Gaps of{many, solids.data(), gaps.data(), kept.data(), nullptr};
  std::vector<double> placed(3 * count);
  for (Index k = 0; k < n; ++k) {
    for (Index point = 0; point < count; ++point)
      for (Index row = 0; row < 3; ++row) placed[3 * point + row] = points.data()[(row * n + k) * count + point];
    for (Index gap = 0; gap < many; ++gap)
      values.data()[n * gap + k] = of.clearance(gap, placed.data(), normals.data() + 3 * (n * gap + k));
  }
  Py_RETURN_NONE;
}

// ---- Model: a body and its gaps ----

struct Model {
  Index nq = 0;
  std::vector<double> joints, local, bend, most, solids, kept, weights, reach;
  std::vector<Index> slides, link, gaps;

  Index many() const { return static_cast<Index>(kept.size()); }
  Body body() const {
    return {nq, static_cast<Index>(link.size()), joints.data(), slides.data(), link.data(), local.data()};
  }
  Gaps between() const { return {many(), solids.data(), gaps.data(), kept.data(), weights.data()}; }
  Index solid(Index gap) const { return gap < 0 ? -1 : gaps[GAP * gap]; }

  // Point 0, and the gaps that can close to `more` [m] while joints move by `way` (nq,) from `qpos` (nq,).
  std::shared_ptr<const Model> near(const double* qpos, const double* way, double more) const {
    const auto part = std::make_shared<Model>();
    part->nq = nq, part->joints = joints, part->slides = slides, part->bend = bend, part->most = most;
    part->solids = solids;
    Path here;
    here.follow(body(), qpos, 1, 0);
    std::vector<Index> place(link.size(), -1);
    place[0] = 0;
    for (Index gap = 0; gap < many(); ++gap) {
      double closes = more * weights[gap];
      for (Index joint = 0; joint < nq; ++joint) closes += reach[nq * gap + joint] * way[joint];
      if (!(between().clearance(gap, here.posture(0)) < closes)) continue;
      const Index* of = gaps.data() + GAP * gap;
      part->gaps.insert(part->gaps.end(), of, of + GAP);
      part->kept.push_back(kept[gap]), part->weights.push_back(weights[gap]);
      part->reach.insert(part->reach.end(), reach.begin() + nq * gap, reach.begin() + nq * (gap + 1));
      place[of[1]] = 0;
      if (of[2] >= 0) place[of[2]] = 0;
    }
    for (Index point = 0; point < static_cast<Index>(link.size()); ++point) {
      if (place[point] < 0) continue;
      place[point] = static_cast<Index>(part->link.size());
      part->link.push_back(link[point]);
      part->local.insert(part->local.end(), local.begin() + 3 * point, local.begin() + 3 * (point + 1));
    }
    for (Index at = 0; at < GAP * part->many(); ++at)
      if (at % GAP > 0 && part->gaps[at] >= 0) part->gaps[at] = place[part->gaps[at]];
    return part;
  }
};

using Shared = std::shared_ptr<const Model>;

// Look ahead over a hold and the braking after it. Postures: 0 now, 1 after the hold, on to `steps` at rest, and last
// where immediate braking ends.
struct Ahead {
  Shared model;
  Path path;
  double dt = 0.0;
  std::vector<double> velocity, braking;
  std::vector<double> room;  // (M, 2): what clearances exceed their barriers by, at rest and half way there [m]
  double gamma = -1.0, margin = 0.0, least = 0.0;  // of `room`

  Index half() const { return 1 + path.steps / 2; }
  const double* frames(Index k) const { return path.frames.data() + FRAME * model->nq * k; }

  void look(const double* qpos, const double* qvel, const double* qacc, Index most) {
    const Index nq = model->nq;
    std::vector<double> way((most + 3) * nq), off((most + 1) * nq);
    const Index samples = safety_filter::way_to_rest(nq, qpos, qvel, qacc, braking.data(), dt, most, way.data(), off.data());
    path.follow(model->body(), way.data(), samples + 3, samples + 1);
    path.between.resize(samples + 1);
    for (Index k = 0; k <= samples; ++k) {
      const double* here = way.data() + nq * k;
      path.between[k] = safety_filter::sag(nq, here, here + nq, off.data() + nq * k, model->bend.data(), model->most.data());
    }
    velocity.resize(nq);
    for (Index joint = 0; joint < nq; ++joint) velocity[joint] = qvel[joint] + dt * qacc[joint];
  }

  // Computes `room` for a barrier, and returns the least.
  double exceed(double gamma_, double margin_) {
    if (gamma == gamma_ && margin == margin_) return least;
    const Gaps gaps = model->between();
    gamma = gamma_, margin = margin_, least = INFINITE;
    room.resize(2 * gaps.many);
    for (Index gap = 0; gap < gaps.many; ++gap) {
      const double now = gaps.clearance(gap, path.posture(0));
      const double kept = std::min(gaps.clearance(gap, path.posture(path.steps + 1)), now);
      const double allowed = kept >= 0.0 ? (1.0 - gamma) * kept + gamma * margin : std::min(now, 0.0);
      double* left = room.data() + 2 * gap;
      left[0] = gaps.clearance(gap, path.posture(path.steps)) - allowed;
      left[1] = gaps.clearance(gap, path.posture(half())) - allowed;
      least = std::min({least, left[0], left[1]});
    }
    return least;
  }

  struct Row {
    double need;
    Index gap, place;
  };

  // The `most` most urgent of the rows that an acceleration within twice the limits can violate.
  std::vector<Row> relevant(const double* moved, Index most) const {
    const Index nq = model->nq;
    std::vector<Row> rows;
    for (Index gap = 0; gap < static_cast<Index>(room.size()) / 2; ++gap) {
      for (Index place = 0; place < 2; ++place) {
        double changes = 0.0;
        for (Index joint = 0; joint < nq; ++joint) changes += model->reach[nq * gap + joint] * moved[nq * place + joint];
        if (room[2 * gap + place] < 2.0 * changes) rows.push_back({-room[2 * gap + place], gap, place});
      }
    }
    if (static_cast<Index>(rows.size()) > most) {
      std::nth_element(rows.begin(), rows.begin() + most, rows.end(), [](const Row& a, const Row& b) { return a.need > b.need; });
      rows.resize(most);
    }
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.gap != b.gap ? a.gap < b.gap : a.place < b.place; });
    return rows;
  }

  // How joints move to the posture at rest and half way there, (2, nq), by a change of the acceleration by its limit.
  std::vector<double> moved(const double* acceleration) const {
    const Index nq = model->nq;
    std::vector<double> result(2 * nq);
    for (Index joint = 0; joint < nq; ++joint) {
      const double direct = 0.5 * dt * dt, later = dt * (std::abs(velocity[joint]) / braking[joint] + 0.5 * dt);
      result[joint] = (direct + later) * acceleration[joint];
      result[nq + joint] = (direct + 0.75 * later) * acceleration[joint];
    }
    return result;
  }

  // Slope (nq,) of the clearance of a row.
  void slope(const Row& row, double* result) const {
    const Body body = model->body();
    const Gaps gaps = model->between();
    const Index k = row.place == 0 ? path.steps : half(), *of = gaps.between + GAP * row.gap;
    double normal[3];
    gaps.clearance(row.gap, path.posture(k), normal);
    std::fill_n(result, body.nq, 0.0);
    add_slopes(body, frames(k), path.posture(k) + 3 * of[1], body.link[of[1]], normal, 1.0, result);
    if (of[2] >= 0) add_slopes(body, frames(k), path.posture(k) + 3 * of[2], body.link[of[2]], normal, -1.0, result);
  }
};

// A Python object that holds a C++ value.
template <typename T>
struct Holder {
  PyObject_HEAD
  T value;
};

template <typename T>
T& held(PyObject* self) {
  return reinterpret_cast<Holder<T>*>(self)->value;
}

template <typename T>
void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  held<T>(self).~T();
  type->tp_free(self);
  Py_DECREF(type);
}

template <typename T>
PyObject* create(PyObject* type, T value) {
  PyObject* self = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0);
  if (self != nullptr) new (&held<T>(self)) T(std::move(value));
  return self;
}

PyObject *model_type = nullptr, *ahead_type = nullptr;

PyObject* model_new(PyTypeObject*, PyObject* args, PyObject*) {
  PyObject* given[11];
  if (!PyArg_ParseTuple(args, "OOOOOOOOOOO", given, given + 1, given + 2, given + 3, given + 4, given + 5, given + 6,
                        given + 7, given + 8, given + 9, given + 10))
    return nullptr;
  const Doubles joints(given[0], false), local(given[3], false), bend(given[4], false), most(given[5], false);
  const Indices slides(given[1], false), link(given[2], false), gaps(given[7], false);
  const Doubles solids(given[6], false), kept(given[8], false), weights(given[9], false), reach(given[10], false);
  const Index nq = joints.size(0), many = gaps.size(0);
  if (!fits(is_body(joints, slides, link, local) && bend.has({nq, nq}) && most.has({nq}) &&
            solids.has({solids.size(0), SOLID}) && gaps.has({many, GAP}) && kept.has({many}) && weights.has({many}) &&
            reach.has({many, nq}) && link.size(0) > 0))
    return nullptr;
  const auto model = std::make_shared<Model>();
  model->nq = nq, model->joints = joints.copy(), model->slides = slides.copy(), model->link = link.copy();
  model->local = local.copy(), model->bend = bend.copy(), model->most = most.copy(), model->solids = solids.copy();
  model->gaps = gaps.copy(), model->kept = kept.copy(), model->weights = weights.copy(), model->reach = reach.copy();
  return create<Shared>(model_type, model);
}

Py_ssize_t model_length(PyObject* self) { return held<Shared>(self)->many(); }

PyObject* model_widened(PyObject* self, PyObject* margin) {
  const double more = PyFloat_AsDouble(margin);
  if (PyErr_Occurred()) return nullptr;
  const auto wider = std::make_shared<Model>(*held<Shared>(self));
  for (Index gap = 0; gap < wider->many(); ++gap) wider->kept[gap] += more * wider->weights[gap];
  return create<Shared>(model_type, wider);
}

PyObject* model_near(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 3)) return nullptr;
  const Doubles qpos(args[0], false), way(args[1], false);
  const double more = PyFloat_AsDouble(args[2]);
  const Index nq = held<Shared>(self)->nq;
  if (!fits(qpos.has({nq}) && way.has({nq}))) return nullptr;
  return create<Shared>(model_type, held<Shared>(self)->near(qpos.data(), way.data(), more));
}

PyObject* model_least(PyObject* self, PyObject* argument) {
  const Doubles qpos(argument, false);
  const Model& model = *held<Shared>(self);
  const Index n = qpos.size(0);
  if (!fits(qpos.has({n, model.nq}))) return nullptr;
  Path path;
  path.follow(model.body(), qpos.data(), n, 0);
  double least = INFINITE;
  for (Index k = 0; k < n; ++k)
    for (Index gap = 0; gap < model.many(); ++gap) least = std::min(least, model.between().clearance(gap, path.posture(k)));
  return PyFloat_FromDouble(least);
}

PyObject* model_path(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 4)) return nullptr;
  const Doubles qpos(args[0], false), between(args[1], false);
  const double shrinks = PyFloat_AsDouble(args[2]), enough = PyFloat_AsDouble(args[3]);
  const Model& model = *held<Shared>(self);
  const Index steps = between.size(0);
  if (!fits(between.has({steps}) && qpos.has({steps + 1, model.nq}))) return nullptr;
  Path path;
  path.follow(model.body(), qpos.data(), steps + 1, steps);
  path.between = between.copy();
  double farthest = 0.0;
  for (Index k = 0; k < steps; ++k)
    farthest = std::max(farthest, path.lengths[path.count * (k + 1)] - path.lengths[path.count * k]);
  const Clearance clearance(model.between(), path, shrinks, enough);
  return Py_BuildValue("dnd", clearance.least(), static_cast<Py_ssize_t>(model.solid(clearance.lost())), farthest);
}

PyObject* model_look_ahead(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 6)) return nullptr;
  const Doubles qpos(args[0], false), qvel(args[1], false), qacc(args[2], false), braking(args[3], false);
  const double dt = PyFloat_AsDouble(args[4]);
  const Py_ssize_t samples = PyLong_AsSsize_t(args[5]);
  const Index nq = held<Shared>(self)->nq;
  if (!fits(qpos.has({nq}) && qvel.has({nq}) && qacc.has({nq}) && braking.has({nq}) && samples > 0)) return nullptr;
  Ahead ahead;
  ahead.model = held<Shared>(self), ahead.dt = dt, ahead.braking = braking.copy();
  ahead.look(qpos.data(), qvel.data(), qacc.data(), samples);
  return create<Ahead>(ahead_type, std::move(ahead));
}

// ---- Ahead ----

PyObject* ahead_unseen(PyObject* self, PyObject*) {
  const std::vector<double>& between = held<Ahead>(self).path.between;
  return Py_BuildValue("dd", between[0], *std::max_element(between.begin() + 1, between.end()));
}

PyObject* ahead_lowest(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 2)) return nullptr;
  const double shrinks = PyFloat_AsDouble(args[0]), enough = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return nullptr;
  const Ahead& ahead = held<Ahead>(self);
  const Clearance clearance(ahead.model->between(), ahead.path, shrinks, enough);
  return Py_BuildValue("dn", clearance.least(), static_cast<Py_ssize_t>(ahead.model->solid(clearance.lost())));
}

PyObject* ahead_room(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 2)) return nullptr;
  const double gamma = PyFloat_AsDouble(args[0]), margin = PyFloat_AsDouble(args[1]);
  if (PyErr_Occurred()) return nullptr;
  return PyFloat_FromDouble(held<Ahead>(self).exceed(gamma, margin));
}

PyObject* ahead_speed(PyObject* self, PyObject* argument) {
  const Ahead& ahead = held<Ahead>(self);
  const Body body = ahead.model->body();
  const Doubles result(argument, true);
  if (!fits(result.has({3, body.nq}))) return nullptr;
  double squared = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    double normal[3] = {0.0, 0.0, 0.0}, along = 0.0, *row = result.data() + body.nq * axis;
    normal[axis] = 1.0;
    std::fill_n(row, body.nq, 0.0);
    add_slopes(body, ahead.frames(1), ahead.path.posture(1), body.link[0], normal, 1.0, row);
    for (Index joint = 0; joint < body.nq; ++joint) along += row[joint] * ahead.velocity[joint];
    squared += along * along;
  }
  return PyFloat_FromDouble(std::sqrt(squared));
}

PyObject* ahead_rows(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  if (!counts(given, 5)) return nullptr;
  const double gamma = PyFloat_AsDouble(args[0]), margin = PyFloat_AsDouble(args[1]);
  const Doubles acceleration(args[2], false), slopes(args[3], true), needs(args[4], true);
  Ahead& ahead = held<Ahead>(self);
  const Index nq = ahead.model->nq, most = needs.size(0);
  if (!fits(acceleration.has({nq}) && slopes.has({most, nq}) && needs.has({most}))) return nullptr;
  ahead.exceed(gamma, margin);
  const std::vector<double> moved = ahead.moved(acceleration.data());
  const std::vector<Ahead::Row> rows = ahead.relevant(moved.data(), most);
  PyObject* solids = PyList_New(static_cast<Py_ssize_t>(rows.size()));
  if (solids == nullptr) return nullptr;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    double* slope = slopes.data() + nq * at;
    ahead.slope(rows[at], slope);
    for (Index joint = 0; joint < nq; ++joint) slope[joint] *= moved[nq * rows[at].place + joint];
    needs.data()[at] = rows[at].need;
    PyList_SET_ITEM(solids, static_cast<Py_ssize_t>(at), PyLong_FromSsize_t(ahead.model->solid(rows[at].gap)));
  }
  return solids;
}

// ---- Module ----

template <typename F>
PyCFunction fast(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef MODEL_METHODS[] = {{"widened", model_widened, METH_O, nullptr},
                               {"near", fast(model_near), METH_FASTCALL, nullptr},
                               {"least", model_least, METH_O, nullptr},
                               {"path", fast(model_path), METH_FASTCALL, nullptr},
                               {"look_ahead", fast(model_look_ahead), METH_FASTCALL, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

PyMethodDef AHEAD_METHODS[] = {{"unseen", ahead_unseen, METH_NOARGS, nullptr},
                               {"lowest", fast(ahead_lowest), METH_FASTCALL, nullptr},
                               {"room", fast(ahead_room), METH_FASTCALL, nullptr},
                               {"speed", ahead_speed, METH_O, nullptr},
                               {"rows", fast(ahead_rows), METH_FASTCALL, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

PyType_Slot MODEL_SLOTS[] = {{Py_tp_new, reinterpret_cast<void*>(model_new)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(destroy<Shared>)},
                             {Py_sq_length, reinterpret_cast<void*>(model_length)},
                             {Py_tp_methods, MODEL_METHODS},
                             {0, nullptr}};
PyType_Slot AHEAD_SLOTS[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy<Ahead>)},
                             {Py_tp_methods, AHEAD_METHODS},
                             {0, nullptr}};

PyType_Spec MODEL_SPEC = {"llm_planner.control.safety_filter.kernel.Model", sizeof(Holder<Shared>), 0,
                          Py_TPFLAGS_DEFAULT, MODEL_SLOTS};
PyType_Spec AHEAD_SPEC = {"llm_planner.control.safety_filter.kernel.Ahead", sizeof(Holder<Ahead>), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, AHEAD_SLOTS};

PyMethodDef METHODS[] = {{"way_to_rest", fast(way_to_rest), METH_FASTCALL, nullptr},
                         {"deviation", fast(deviation), METH_FASTCALL, nullptr},
                         {"sag", fast(sag), METH_FASTCALL, nullptr},
                         {"acceleration_bounds", fast(acceleration_bounds), METH_FASTCALL, nullptr},
                         {"fill", fast(fill), METH_FASTCALL, nullptr},
                         {"place", fast(place), METH_FASTCALL, nullptr},
                         {"slopes", fast(slopes), METH_FASTCALL, nullptr},
                         {"clearances", fast(clearances), METH_FASTCALL, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "kernel", "Inner loops of the safety filter.", -1, METHODS,
                      nullptr,               nullptr,  nullptr,                             nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_kernel() {
  PyObject* module = PyModule_Create(&MODULE);
  model_type = PyType_FromSpec(&MODEL_SPEC);
  ahead_type = PyType_FromSpec(&AHEAD_SPEC);
  if (module == nullptr || model_type == nullptr || ahead_type == nullptr ||
      PyModule_AddObjectRef(module, "Model", model_type) < 0 || PyModule_AddObjectRef(module, "Ahead", ahead_type) < 0)
    return nullptr;
  return module;
}

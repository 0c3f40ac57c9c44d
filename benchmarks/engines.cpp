// The native engines of `benchmarks/compare.py`: all pairs of boxes by CGAL, Boost.Geometry or Embree, one thread.
// Build:  c++ -O3 -march=native -DNDEBUG -DCGAL_BOXES -o engine engines.cpp
//         or -DBOOST_RTREE; or -DEMBREE=4 -lembree4 (-DEMBREE=3 -lembree3)
// Run:    ./engine D FILE REPS
//   FILE: float32 rows [min.., max..] (2*D numbers a row, C order).
//   Prints: pairs, and the best of REPS in milliseconds, from the rows to an array of all pairs.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

#if defined(CGAL_BOXES)
#include <CGAL/box_intersection_d.h>

template <int D> void search(const float* rows, size_t n, Pairs& out) {
  using Box = CGAL::Box_intersection_d::Box_d<float, D, CGAL::Box_intersection_d::ID_EXPLICIT>;
  std::vector<Box> boxes;
  boxes.reserve(n);
  for (size_t i = 0; i < n; i++) {
    float low[D], high[D];
    for (int d = 0; d < D; d++) low[d] = rows[2 * D * i + d], high[d] = rows[2 * D * i + D + d];
    boxes.emplace_back(low, high);
  }
  const size_t first = boxes[0].id();  // the ids of all boxes count on
  CGAL::box_self_intersection_d(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    out.emplace_back(a.id() - first, b.id() - first);
  });
}

#elif defined(BOOST_RTREE)
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <boost/iterator/function_output_iterator.hpp>

namespace bg = boost::geometry;

template <int D> void search(const float* rows, size_t n, Pairs& out) {
  using Point = bg::model::point<float, D, bg::cs::cartesian>;
  using Value = std::pair<bg::model::box<Point>, uint32_t>;
  std::vector<Value> boxes(n);
  for (size_t i = 0; i < n; i++) {
    Point low, high;
    const float* row = rows + 2 * D * i;
    bg::set<0>(low, row[0]), bg::set<1>(low, row[1]), bg::set<0>(high, row[D]), bg::set<1>(high, row[D + 1]);
    if constexpr (D == 3) bg::set<2>(low, row[2]), bg::set<2>(high, row[D + 2]);
    boxes[i] = {{low, high}, uint32_t(i)};
  }
  const bg::index::rtree<Value, bg::index::rstar<16>> tree(boxes);  // packed
  for (const auto& [box, id] : boxes)
    tree.query(bg::index::intersects(box), boost::make_function_output_iterator([&, i = id](const Value& one) {
                 if (i < one.second) out.emplace_back(i, one.second);
               }));
}

#else
#if EMBREE == 4
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

struct Collected {
  const float* rows;
  Pairs& out;
};

template <int D> void bounds_of(const RTCBoundsFunctionArguments* asked) {
  const float* row = static_cast<const float*>(asked->geometryUserPtr) + 2 * D * size_t(asked->primID);
  RTCBounds& box = *asked->bounds_o;
  box.lower_x = row[0], box.lower_y = row[1], box.lower_z = D == 3 ? row[2] : 0;
  box.upper_x = row[D], box.upper_y = row[D + 1], box.upper_z = D == 3 ? row[D + 2] : 0;
}

template <int D> void collect(void* context, RTCCollision* found, unsigned count) {
  const Collected& collected = *static_cast<Collected*>(context);
  for (unsigned k = 0; k < count; k++) {  // candidates, each in both orders
    const uint32_t i = found[k].primID0, j = found[k].primID1;
    const float *a = collected.rows + 2 * D * size_t(i), *b = collected.rows + 2 * D * size_t(j);
    bool meet = i < j;
    for (int d = 0; d < D; d++) meet &= a[d] <= b[D + d] && b[d] <= a[D + d];
    if (meet) collected.out.emplace_back(i, j);
  }
}

template <int D> void search(const float* rows, size_t n, Pairs& out) {
  static const RTCDevice device = rtcNewDevice("threads=1");
  RTCScene scene = rtcNewScene(device);
  RTCGeometry boxes = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(boxes, unsigned(n));
  rtcSetGeometryUserData(boxes, const_cast<float*>(rows));
  rtcSetGeometryBoundsFunction(boxes, bounds_of<D>, nullptr);
  rtcCommitGeometry(boxes);
  rtcAttachGeometry(scene, boxes);
  rtcReleaseGeometry(boxes);
  rtcCommitScene(scene);
  Collected collected{rows, out};
  rtcCollide(scene, scene, collect<D>, &collected);
  rtcReleaseScene(scene);
}
#endif

template <int D> int run(const char* path, int repeats) {
  FILE* file = fopen(path, "rb");
  if (!file) return perror(path), 1;
  fseek(file, 0, SEEK_END);
  const size_t n = ftell(file) / (8 * D);
  rewind(file);
  std::vector<float> rows(2 * D * n);
  if (fread(rows.data(), 8 * D, n, file) != n) return 1;
  fclose(file);
  Pairs out;
  double best = 1e300;
  for (int k = 0; k < repeats; k++) {
    out.clear();  // keeps its memory
    const auto begun = std::chrono::steady_clock::now();
    search<D>(rows.data(), n, out);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    best = std::min(best, took.count());
  }
  printf("pairs %zu ms %.4f\n", out.size(), best);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: engine D FILE REPS\n"), 2;
  return atoi(argv[1]) == 3 ? run<3>(argv[2], atoi(argv[3])) : run<2>(argv[2], atoi(argv[3]));
}

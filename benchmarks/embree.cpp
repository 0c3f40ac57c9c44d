// First hits of rays among boxes in Embree 3, one thread, for `queries.py`.
// A box is a primitive of the user's with its own intersection function; of equal distances the lowest id wins.
#include <embree3/rtcore.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

struct World {
  const float* boxes;  // rows [min..., max...]
  RTCScene scene;
};

template <int D>
static void bounds_of(const RTCBoundsFunctionArguments* a) {
  const float* b = static_cast<const World*>(a->geometryUserPtr)->boxes + std::size_t(a->primID) * 2 * D;
  RTCBounds* out = a->bounds_o;
  out->lower_x = b[0], out->lower_y = b[1], out->lower_z = D == 3 ? b[2] : -1.f;
  out->upper_x = b[D], out->upper_y = b[D + 1], out->upper_z = D == 3 ? b[2 * D - 1] : 1.f;
}

template <int D>
static void intersect(const RTCIntersectFunctionNArguments* a) {
  if (!a->valid[0]) return;
  const float* b = static_cast<const World*>(a->geometryUserPtr)->boxes + std::size_t(a->primID) * 2 * D;
  RTCRay& ray = reinterpret_cast<RTCRayHit*>(a->rayhit)->ray;
  RTCHit& hit = reinterpret_cast<RTCRayHit*>(a->rayhit)->hit;
  const float origin[] = {ray.org_x, ray.org_y, ray.org_z}, way[] = {ray.dir_x, ray.dir_y, ray.dir_z};
  float near = 0.f, far = ray.tfar;
  for (int k = 0; k < D; k++) {
    float inverse = 1.f / way[k], low = (b[k] - origin[k]) * inverse, high = (b[D + k] - origin[k]) * inverse;
    near = std::max(near, std::min(low, high)), far = std::min(far, std::max(low, high));
  }
  if (near > far || (near == ray.tfar && a->primID > hit.primID)) return;
  ray.tfar = near, hit.primID = a->primID, hit.geomID = a->geomID;
}

extern "C" World* make(const float* boxes, std::size_t n, int dim) {
  RTCDevice device = rtcNewDevice("threads=1");
  World* world = new World{boxes, rtcNewScene(device)};
  rtcSetSceneBuildQuality(world->scene, RTC_BUILD_QUALITY_HIGH);
  RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
  rtcSetGeometryUserPrimitiveCount(geometry, n);
  rtcSetGeometryUserData(geometry, world);
  rtcSetGeometryBoundsFunction(geometry, dim == 3 ? bounds_of<3> : bounds_of<2>, nullptr);
  rtcSetGeometryIntersectFunction(geometry, dim == 3 ? intersect<3> : intersect<2>);
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(world->scene, geometry);
  rtcCommitScene(world->scene);
  return world;
}

extern "C" void cast(World* world, const float* origins, const float* ways, std::size_t n, int dim, float max_distance,
                     std::int32_t* ids, float* distances) {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (std::size_t q = 0; q < n; q++, origins += dim, ways += dim) {
    RTCRayHit r = {};
    r.ray.org_x = origins[0], r.ray.org_y = origins[1], r.ray.org_z = dim == 3 ? origins[2] : 0.f;
    r.ray.dir_x = ways[0], r.ray.dir_y = ways[1], r.ray.dir_z = dim == 3 ? ways[2] : 0.f;
    r.ray.tfar = max_distance, r.ray.mask = -1, r.hit.geomID = r.hit.primID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(world->scene, &context, &r);
    bool found = r.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    ids[q] = found ? std::int32_t(r.hit.primID) : -1;
    distances[q] = found ? r.ray.tfar : std::numeric_limits<float>::infinity();
  }
}

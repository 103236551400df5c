// A stand-in for libnvidia-ml.so.1, with the calls that package nvml binds. It has one device, at 0000:01:00.0.
//
// standin_nvml sets its figures; a figure below 0 answers NOT_SUPPORTED.
#include <string.h>

#define API __attribute__((visibility("default")))
enum { OK = 0, UNINITIALIZED = 1, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int ready;
static struct { long long busy, used, generation, width; } set = {37, 5ll << 30, 4, 16};

API int standin_nvml(long long busy, long long used, long long generation, long long width) {
  set.busy = busy, set.used = used, set.generation = generation, set.width = width;
  return ready;
}
API int nvmlInit_v2(void) {
  ready++;
  return OK;
}
API int nvmlShutdown(void) {
  if (!ready) return UNINITIALIZED;
  ready--;
  return OK;
}
API int nvmlDeviceGetHandleByPciBusId_v2(const char *place, void **device) {
  if (!ready) return UNINITIALIZED;
  if (strcmp(place, "0000:01:00.0")) return NOT_FOUND;
  *device = &set;
  return OK;
}
#define ASK(figure)                    \
  if (!ready) return UNINITIALIZED;    \
  if (d != &set) return NOT_FOUND;     \
  if ((figure) < 0) return NOT_SUPPORTED;
API int nvmlDeviceGetUtilizationRates(void *d, unsigned *share) {
  ASK(set.busy)
  share[0] = (unsigned)set.busy;
  share[1] = 1;
  return OK;
}
API int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *memory) {
  ASK(set.used)
  memory[0] = 8ull << 30;
  memory[2] = (unsigned long long)set.used;
  memory[1] = memory[0] - memory[2];
  return OK;
}
API int nvmlDeviceGetCurrPcieLinkGeneration(void *d, unsigned *n) {
  ASK(set.generation)
  *n = (unsigned)set.generation;
  return OK;
}
API int nvmlDeviceGetCurrPcieLinkWidth(void *d, unsigned *n) {
  ASK(set.width)
  *n = (unsigned)set.width;
  return OK;
}
API int nvmlDeviceGetMaxPcieLinkGeneration(void *d, unsigned *n) {
  ASK(set.generation)
  *n = 5;
  return OK;
}
API int nvmlDeviceGetMaxPcieLinkWidth(void *d, unsigned *n) {
  ASK(set.width)
  *n = 16;
  return OK;
}
API const char *nvmlErrorString(int code) {
  switch (code) {
    case UNINITIALIZED: return "Uninitialized";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
  }
  return "Unknown Error";
}

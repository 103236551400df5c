// A stand-in for libcuda.so.1, for tests on machines without a device. It has the calls that the back ends use.
//
//   cc -O2 -shared -fPIC -fvisibility=hidden -o libcuda.so.1 libcuda.c -lpthread
//
// "Device" memory is the host's behind addresses that trap when they are used. Each stream is a thread that moves its
// operations along a modelled time line: an operation begins when it was put in, the one before it on its stream has
// ended and its engine (copies in, copies out, computing) is free, and ends after latency + bytes / rate. The thread
// sleeps until then and moves the bytes last, so that a source which is used again too early really spoils the copy.
// Events bear modelled times.
//
// It runs no kernels. One of its own makes time pass (penstock_spin). Launches of others, whose parameters must all be
// .u64, are recorded; where the first two are the address and the length of a piece of the device's memory, with the sum
// of the bytes that lie there when the launch is over. What a kernel would write is not written.
//
// Settings, faults, counters and launches are reached by the functions standin_*.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef int Result;
typedef uint64_t Ptr;
#define API __attribute__((visibility("default")))

enum {
  OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
  ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, LAUNCH_FAILED = 719,
};

// ---- settings and counters ----------------------------------------------------------------------

static struct { double devices, memory, rate, pageable, latency, launch, lock_rate, late; } set = {
  1, 1 << 30, 0.2e9, 0.05e9, 8e-6, 4e-6, 1e9,
};
static const struct { const char *name; double *at; } settings[] = {
  {"devices", &set.devices}, {"memory", &set.memory},   {"rate", &set.rate},           {"pageable", &set.pageable},
  {"latency", &set.latency}, {"launch", &set.launch},   {"lock_rate", &set.lock_rate},
  {"late", &set.late},  // at most so many seconds more for each operation, drawn at random
};

enum { DEVICE_BYTES, LOCKED_BYTES, STREAMS, EVENTS, CONTEXTS, STAGED, ASYNC, RACES, NO_CONTEXT, KERNELS, CALLS, MODULES, NCOUNTS };
static uint64_t counts[NCOUNTS];

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, lost;  // lost: the fault that every later call answers

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void sleep_until(double at) {
  struct timespec t = {(time_t)at, (long)((at - (time_t)at) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) {
  }
}

static double later(double a, double b) { return a > b ? a : b; }

// ---- faults: the nth call of a name answers a code; "kernel" and "copy" fail when they are carried out ----------

static struct { char name[48]; long nth, seen; int code; } faults[8];
static int nfaults, struck;  // struck: how many have been answered

static int fault(const char *name) {  // with mu
  for (int i = 0; i < nfaults; i++)
    if (!strcmp(faults[i].name, name) && ++faults[i].seen == faults[i].nth) {
      struck++;
      return faults[i].code;
    }
  return 0;
}

// ---- objects ------------------------------------------------------------------------------------

#define MAXDEV 4
enum { COPY_IN, COPY_OUT, KERNEL, RECORD, WAIT };
typedef struct { int dev, refs; } Context;
typedef struct { uint64_t recorded, done; double at; } Event;
typedef struct op {
  struct op *next;
  int kind, code;
  void *to;
  const void *from;
  size_t n;
  uint64_t hash, seq;
  double put, takes;
  Event *event;
  struct launch *launch;
} Op;
typedef struct stream {
  Context *context;
  Op *head, **tail;
  uint64_t put, done;
  double end;
  int quit;
  pthread_t thread;
} Stream;

// As in library.go. A module has one kernel.
enum { MAXARGS = 8, MAXLAUNCHES = 256 };
typedef struct launch {
  uint32_t grid[3], block[3], shared, nargs;
  uint64_t over, stream, args[MAXARGS], sum;
} Launch;
static Launch launches[MAXLAUNCHES];
static int nlaunches;
typedef struct { char name[64]; uint32_t nargs; } Kernel;

static Context contexts[MAXDEV];
static double engine_free[MAXDEV][3];
static __thread Context *current;

#define TAG 0x0de0000000000000ull  // no host has such addresses
typedef struct range { uint64_t at; size_t n; int device; struct range *next; } Range;
static Range *ranges;

static Range *find(uint64_t at, size_t n, int device) {  // with mu
  for (Range *r = ranges; r; r = r->next)
    if (r->device == device && at >= r->at && at + n <= r->at + r->n) return r;
  return 0;
}

static Result add_range(uint64_t at, size_t n, int device) {
  Range *r = malloc(sizeof *r);
  *r = (Range){at, n, device, ranges};
  ranges = r;
  counts[device ? DEVICE_BYTES : LOCKED_BYTES] += n;
  return OK;
}

static size_t drop_range(uint64_t at, int device) {
  for (Range **p = &ranges; *p; p = &(*p)->next) {
    Range *r = *p;
    if (r->at != at || r->device != device) continue;
    size_t n = r->n;
    *p = r->next;
    free(r);
    counts[device ? DEVICE_BYTES : LOCKED_BYTES] -= n;
    return n;
  }
  return 0;
}

static uint64_t hash(const void *p, size_t n) {
  uint64_t h = 1469598103934665603ull;
  for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211ull;
  return h;
}

// look says that a launch is over, and what lay there then.
static void look(Launch *l) {  // with mu
  l->over = 1;
  if (l->nargs < 2 || !find(l->args[0], l->args[1], 1)) return;
  const uint8_t *bytes = (const uint8_t *)(l->args[0] - TAG);
  for (uint64_t i = 0; i < l->args[1]; i++) l->sum += bytes[i];
}

// ---- streams --------------------------------------------------------------------------------------

// carry_out does one operation, with mu, which it lets go of while time passes.
static void carry_out(Stream *s, Op *o) {
  double start = later(o->put, s->end);
  if (lost) {
    s->end = start;
    return;
  }
  switch (o->kind) {
    case WAIT:
      while (o->event->done < o->seq && !lost) pthread_cond_wait(&changed, &mu);
      s->end = later(start, o->event->at);
      return;
    case RECORD:
      s->end = start;
      return;
  }
  double *engine = &engine_free[s->context->dev][o->kind];
  static unsigned drawn = 1;
  double late = set.late * rand_r(&drawn) / RAND_MAX;
  s->end = *engine = later(start, *engine) + o->takes + late;
  int race = 0;
  pthread_mutex_unlock(&mu);
  sleep_until(s->end);
  if (!o->code && o->kind != KERNEL) {
    race = o->kind == COPY_IN && hash(o->from, o->n) != o->hash;
    memcpy(o->to, o->from, o->n);
  }
  pthread_mutex_lock(&mu);
  counts[RACES] += race && !lost;  // after that the host takes back what it lent
  counts[KERNELS] += o->kind == KERNEL;
  if (o->code) lost = o->code;
  if (o->launch && !lost) look(o->launch);
}

static void *work(void *arg) {
  Stream *s = arg;
  pthread_mutex_lock(&mu);
  for (;;) {
    while (!s->head && !s->quit) pthread_cond_wait(&changed, &mu);
    Op *o = s->head;
    if (!o) break;
    carry_out(s, o);
    if (o->kind == RECORD) {
      o->event->at = s->end;
      if (o->event->done < o->seq) o->event->done = o->seq;
    }
    if (!(s->head = o->next)) s->tail = &s->head;
    s->done++;
    free(o);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mu);
  return 0;
}

static Op *put(Stream *s, int kind) {  // with mu
  Op *o = calloc(1, sizeof *o);
  o->kind = kind;
  o->put = now();
  *s->tail = o;
  s->tail = &o->next;
  s->put++;
  pthread_cond_broadcast(&changed);
  return o;
}

static void wait_for(Stream *s) {  // with mu
  for (uint64_t n = s->put; s->done < n;) pthread_cond_wait(&changed, &mu);
}

// ---- the calls ------------------------------------------------------------------------------------

// Every call: counted, perhaps failed, refused before cuInit, after a lost context, and on a thread without a context.
#define ENTER(needs_context)                                                     \
  pthread_mutex_lock(&mu);                                                       \
  counts[CALLS]++;                                                               \
  {                                                                              \
    int f = fault(__func__);                                                     \
    if (f) LEAVE(f);                                                             \
  }                                                                              \
  if (!ready) LEAVE(NOT_INITIALIZED);                                            \
  if (lost) LEAVE(lost);                                                         \
  if (needs_context && !current) {                                               \
    counts[NO_CONTEXT]++;                                                        \
    LEAVE(INVALID_CONTEXT);                                                      \
  }
#define LEAVE(result)                                                            \
  do {                                                                           \
    int r_ = (result);                                                           \
    pthread_mutex_unlock(&mu);                                                   \
    return r_;                                                                   \
  } while (0)

API Result cuInit(unsigned flags) {
  pthread_mutex_lock(&mu);
  int f = fault("cuInit");
  if (f) LEAVE(f);
  if (flags) LEAVE(INVALID_VALUE);
  if (set.devices == 0) LEAVE(NO_DEVICE);
  ready = 1;
  LEAVE(OK);
}
API Result cuDriverGetVersion(int *v) {
  *v = 13000;
  return OK;
}
API Result cuDeviceGet(int *d, int i) {
  ENTER(0)
  if (i < 0 || i >= (int)set.devices || i >= MAXDEV) LEAVE(INVALID_DEVICE);
  *d = i;
  LEAVE(OK);
}
API Result cuDeviceGetName(char *to, int n, int d) {
  ENTER(0)
  snprintf(to, n, "stand-in %d", d);
  LEAVE(OK);
}
API Result cuDeviceTotalMem_v2(size_t *n, int d) {
  ENTER(0)
  *n = (size_t)set.memory;
  LEAVE(OK);
}
API Result cuDeviceGetPCIBusId(char *to, int n, int d) {
  ENTER(0)
  snprintf(to, n, "0000:%02X:00.0", d + 1);
  LEAVE(OK);
}
API Result cuDeviceGetAttribute(int *v, int attribute, int d) {
  ENTER(0)
  *v = attribute == 134 ? -1 : 0;
  LEAVE(OK);
}
API Result cuDevicePrimaryCtxRetain(Context **c, int d) {
  ENTER(0)
  contexts[d].dev = d;
  contexts[d].refs++;
  counts[CONTEXTS]++;
  *c = &contexts[d];
  LEAVE(OK);
}
API Result cuDevicePrimaryCtxRelease_v2(int d) {
  ENTER(0)
  if (contexts[d].refs == 0) LEAVE(INVALID_CONTEXT);
  contexts[d].refs--;
  counts[CONTEXTS]--;
  LEAVE(OK);
}
API Result cuDevicePrimaryCtxSetFlags_v2(int d, unsigned flags) {
  ENTER(0)
  LEAVE(OK);
}
API Result cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) {
  ENTER(0)
  *flags = 0;
  *active = contexts[d].refs > 0;
  LEAVE(OK);
}
API Result cuCtxSetCurrent(Context *c) {
  ENTER(0)
  current = c;
  LEAVE(OK);
}
API Result cuCtxGetStreamPriorityRange(int *low, int *high) {
  ENTER(1)
  *low = 0;
  *high = -5;
  LEAVE(OK);
}
API Result cuMemAlloc_v2(Ptr *p, size_t n) {
  ENTER(1)
  if (!n) LEAVE(INVALID_VALUE);
  if (counts[DEVICE_BYTES] + n > (uint64_t)set.memory) LEAVE(OUT_OF_MEMORY);
  void *m = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) LEAVE(OUT_OF_MEMORY);
  *p = (uint64_t)m + TAG;
  LEAVE(add_range(*p, n, 1));
}
API Result cuMemFree_v2(Ptr p) {
  ENTER(1)
  size_t n = drop_range(p, 1);
  if (!n) LEAVE(INVALID_VALUE);
  munmap((void *)(p - TAG), n);
  LEAVE(OK);
}
API Result cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
  ENTER(1)
  if (!p || !n) LEAVE(INVALID_VALUE);
  for (Range *r = ranges; r; r = r->next)
    if (!r->device && (uint64_t)p < r->at + r->n && r->at < (uint64_t)p + n) LEAVE(ALREADY_REGISTERED);
  double until = now() + (double)n / set.lock_rate;
  pthread_mutex_unlock(&mu);
  sleep_until(until);
  pthread_mutex_lock(&mu);
  LEAVE(add_range((uint64_t)p, n, 0));
}
API Result cuMemHostUnregister(void *p) {
  ENTER(1)
  LEAVE(drop_range((uint64_t)p, 0) ? OK : NOT_REGISTERED);
}

// Page-locked memory is copied while the caller goes on; other memory holds it up, at the lower rate.
static Result copies(Stream *s, int kind, Ptr device, void *host, size_t n) {
  if (!n || !find(device, n, 1)) return INVALID_VALUE;
  int locked = find((uint64_t)host, n, 0) != 0;
  counts[locked ? ASYNC : STAGED]++;
  int code = fault("copy");
  Op *o = put(s, kind);
  void *memory = (void *)(device - TAG);
  o->to = kind == COPY_IN ? memory : host;
  o->from = kind == COPY_IN ? host : memory;
  o->n = n;
  o->code = code;
  o->takes = set.latency + (double)n / (locked ? set.rate : set.pageable);
  if (kind == COPY_IN) o->hash = hash(host, n);
  if (locked) return OK;
  wait_for(s);
  return lost;
}
API Result cuMemcpyHtoDAsync_v2(Ptr to, const void *from, size_t n, Stream *s) {
  ENTER(1)
  LEAVE(copies(s, COPY_IN, to, (void *)from, n));
}
API Result cuMemcpyDtoHAsync_v2(void *to, Ptr from, size_t n, Stream *s) {
  ENTER(1)
  LEAVE(copies(s, COPY_OUT, from, to, n));
}
API Result cuStreamCreateWithPriority(Stream **to, unsigned flags, int priority) {
  ENTER(1)
  if (flags != 1) LEAVE(INVALID_VALUE);  // a blocking stream would wait for the legacy default one
  Stream *s = calloc(1, sizeof *s);
  s->context = current;
  s->tail = &s->head;
  counts[STREAMS]++;
  pthread_create(&s->thread, 0, work, s);
  *to = s;
  LEAVE(OK);
}
API Result cuStreamDestroy_v2(Stream *s) {
  pthread_mutex_lock(&mu);  // also when the context is lost: the thread must end
  s->quit = 1;
  counts[STREAMS]--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mu);
  pthread_join(s->thread, 0);
  free(s);
  return lost;
}
API Result cuStreamSynchronize(Stream *s) {
  ENTER(1)
  wait_for(s);
  LEAVE(lost);
}
API Result cuStreamWaitEvent(Stream *s, Event *e, unsigned flags) {
  ENTER(1)
  Op *o = put(s, WAIT);
  o->event = e;
  o->seq = e->recorded;
  LEAVE(OK);
}
API Result cuEventCreate(Event **to, unsigned flags) {
  ENTER(1)
  *to = calloc(1, sizeof **to);
  counts[EVENTS]++;
  LEAVE(OK);
}
API Result cuEventDestroy_v2(Event *e) {
  pthread_mutex_lock(&mu);
  while (e->done < e->recorded) pthread_cond_wait(&changed, &mu);
  counts[EVENTS]--;
  free(e);
  LEAVE(lost);
}
API Result cuEventRecord(Event *e, Stream *s) {
  ENTER(1)
  Op *o = put(s, RECORD);
  o->event = e;
  o->seq = ++e->recorded;
  LEAVE(OK);
}
API Result cuEventQuery(Event *e) {
  ENTER(1)
  LEAVE(e->done >= e->recorded ? OK : NOT_READY);
}
API Result cuEventSynchronize(Event *e) {
  ENTER(1)
  for (uint64_t n = e->recorded; e->done < n;) pthread_cond_wait(&changed, &mu);
  LEAVE(lost);
}
API Result cuEventElapsedTime(float *ms, Event *from, Event *to) {
  ENTER(1)
  if (!from->recorded || !to->recorded) LEAVE(INVALID_HANDLE);
  if (from->done < from->recorded || to->done < to->recorded) LEAVE(NOT_READY);
  *ms = (float)((to->at - from->at) * 1e3);
  LEAVE(OK);
}

// kernel_of reads the name and the parameters of a module's kernel.
static Kernel *kernel_of(const char *image) {
  Kernel k = {"", 0};
  const char *p = strstr(image, ".entry ");
  if (!p || sscanf(p, ".entry %63[A-Za-z0-9_]", k.name) != 1) return 0;
  const char *end = strchr(p, ')');
  while (end && (p = strstr(p, ".param ")) && p < end) {
    if (strncmp(p, ".param .u64 ", 12) || ++k.nargs > MAXARGS) return 0;
    p++;
  }
  return end ? memcpy(malloc(sizeof k), &k, sizeof k) : 0;
}
API Result cuModuleLoadData(Kernel **m, const char *image) {
  ENTER(1)
  if (!image || !(*m = kernel_of(image))) LEAVE(INVALID_VALUE);
  counts[MODULES]++;
  LEAVE(OK);
}
API Result cuModuleUnload(Kernel *m) {
  ENTER(1)
  counts[MODULES]--;
  free(m);
  LEAVE(OK);
}
API Result cuModuleGetFunction(Kernel **f, Kernel *m, const char *name) {
  ENTER(1)
  if (strcmp(name, m->name)) LEAVE(NOT_FOUND);
  *f = m;
  LEAVE(OK);
}
API Result cuLaunchKernel(Kernel *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, Stream *s, void **args, void **extra) {
  ENTER(1)
  if (!f || !gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024 || !args || extra) LEAVE(INVALID_VALUE);
  int spins = !strcmp(f->name, "penstock_spin");
  if (!spins && nlaunches == MAXLAUNCHES) LEAVE(OUT_OF_MEMORY);
  int code = fault("kernel");
  Op *o = put(s, KERNEL);
  o->takes = set.launch;
  o->code = code;
  if (spins) {
    o->takes += *(uint64_t *)args[0] * 1e-9;
    LEAVE(OK);
  }
  o->launch = &launches[nlaunches++];
  *o->launch = (Launch){{gx, gy, gz}, {bx, by, bz}, shared, f->nargs, 0, (uint64_t)s};
  for (uint32_t i = 0; i < f->nargs; i++) o->launch->args[i] = *(uint64_t *)args[i];
  LEAVE(OK);
}
API Result cuGetErrorName(int code, const char **to) {
  static const struct { int code; const char *name; } names[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"}, {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"}, {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"}, {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {NOT_READY, "CUDA_ERROR_NOT_READY"}, {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
  };
  *to = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) *to = names[i].name;
  return *to ? OK : INVALID_VALUE;
}

// ---- for tests --------------------------------------------------------------------------------------

API int standin_set(const char *name, double v) {
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    if (!strcmp(settings[i].name, name)) {
      *settings[i].at = v;
      return 0;
    }
  return 1;
}
API int standin_fail(const char *name, int nth, int code) {
  pthread_mutex_lock(&mu);
  if (nfaults == 8) LEAVE(1);
  snprintf(faults[nfaults].name, sizeof faults[0].name, "%s", name);
  faults[nfaults].nth = nth;
  faults[nfaults].seen = 0;
  faults[nfaults++].code = code;
  LEAVE(0);
}
API int standin_struck(void) {
  pthread_mutex_lock(&mu);
  LEAVE(struck);
}
API int standin_counts(uint64_t *to, int n) {
  pthread_mutex_lock(&mu);
  for (int i = 0; i < n && i < NCOUNTS; i++) to[i] = counts[i];
  LEAVE(NCOUNTS);
}
API int standin_launches(Launch *to, int n) {
  pthread_mutex_lock(&mu);
  for (int i = 0; i < n && i < nlaunches; i++) to[i] = launches[i];
  LEAVE(nlaunches);
}
// As in a new process: one that goes on after its device was lost exists only in tests.
API int standin_mend(void) {
  pthread_mutex_lock(&mu);
  while (ranges) {
    uint64_t at = ranges->at;
    if (ranges->device)
      munmap((void *)(at - TAG), drop_range(at, 1));
    else
      drop_range(at, 0);
  }
  memset(contexts, 0, sizeof contexts);
  memset(counts, 0, sizeof counts);
  memset(engine_free, 0, sizeof engine_free);
  lost = nfaults = struck = nlaunches = 0;
  LEAVE(0);
}

//go:build gorgonia && cgo && linux && (amd64 || arm64)

// The driver's library is not linked but loaded when a device is opened. This file gives the program a definition of its
// own for every entry point that gorgonia.org/cu links against: a jump through a slot, which is filled with the library's
// entry once there is one. Before that, and for what the library lacks, a slot answers an error. The definitions are
// hidden: nothing outside the program can bind to them.
//
// gorgonia.org/cu calls cuInit while the program starts and ends the process if that fails. So cuInit says that all is
// well and does nothing; penstock_cuda_load calls the library's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "loader.h"

enum { NOT_INITIALIZED = 3, NOT_SUPPORTED = 801 };

static int no_library(void) { return NOT_INITIALIZED; }
static int not_there(void) { return NOT_SUPPORTED; }

#define X(n) void *penstock_slot_##n __attribute__((visibility("hidden"))) = (void *)no_library;
#include "symbols.inc"
#undef X

// One jump: the registers and the stack of the call pass through as they are.
#if defined(__x86_64__)
#define X(n)                                                                                             \
  __asm__(".text\n.globl " #n "\n.hidden " #n "\n.type " #n ",@function\n" #n ":\njmp *penstock_slot_" #n \
          "(%rip)\n.size " #n ",.-" #n "\n");
#elif defined(__aarch64__)
#define X(n)                                                                                                  \
  __asm__(".text\n.globl " #n "\n.hidden " #n "\n.type " #n ",%function\n" #n ":\nadrp x16, penstock_slot_" #n \
          "\nldr x16, [x16, :lo12:penstock_slot_" #n "]\nbr x16\n.size " #n ",.-" #n "\n");
#endif
#include "symbols.inc"
#undef X

static struct { const char *name; void **slot; } slots[] = {
#define X(n) {#n, &penstock_slot_##n},
#include "symbols.inc"
#undef X
};

// What the back end calls. A library that lacks one of these is no driver, or one that is too old.
static const char *needed[] = {
  "cuInit", "cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2",
  "cuDeviceGetPCIBusId", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxSetFlags_v2",
  "cuDevicePrimaryCtxGetState", "cuCtxSetCurrent", "cuCtxGetStreamPriorityRange", "cuMemAlloc_v2", "cuMemFree_v2",
  "cuMemHostRegister_v2", "cuMemHostUnregister", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
  "cuStreamCreateWithPriority", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamWaitEvent", "cuEventCreate",
  "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime", "cuModuleLoadData",
  "cuModuleGetFunction", "cuLaunchKernel", "cuGetErrorName",
};

int cuInit(unsigned flags) __attribute__((visibility("hidden")));
int cuInit(unsigned flags) { return 0; }

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static char loaded[4096];  // the name of the library that the slots are filled from
static void *library;
static int held;  // devices that are open

// load fills the slots from a library. With mu.
static int load(const char *name, char *text, size_t n) {
  if (library && !strcmp(loaded, name)) return 0;
  if (held) {
    snprintf(text, n, "%s is in use, and a process has one library at a time: close its devices first", loaded);
    return 1;
  }
  void *l = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!l) {
    snprintf(text, n, "%s", dlerror());
    return 1;
  }
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!dlsym(l, needed[i])) {
      snprintf(text, n, "%s lacks %s, so it is too old or no driver", name, needed[i]);
      dlclose(l);
      return 1;
    }
  for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
    void *f = dlsym(l, slots[i].name);
    *slots[i].slot = f ? f : (void *)not_there;
  }
  library = l;  // the one before stays loaded: threads of it may still run
  snprintf(loaded, sizeof loaded, "%s", name);
  return 0;
}

int penstock_cuda_load(const char *name, char *text, size_t n) {
  pthread_mutex_lock(&mu);
  int r = load(name, text, n);
  if (!r) {
    held++;
    r = -((int (*)(unsigned))dlsym(library, "cuInit"))(0);
    if (r) held--;
  }
  pthread_mutex_unlock(&mu);
  return r;
}

void penstock_cuda_leave(void) {
  pthread_mutex_lock(&mu);
  held--;
  pthread_mutex_unlock(&mu);
}

#ifndef PENSTOCK_LOADER_H
#define PENSTOCK_LOADER_H
#include <stddef.h>

// Loads the driver's library, unless it is loaded already, and makes it ready. 0: done, and to be left again. 1: there is
// none that serves, and text says why. Less than 0: what cuInit answered, with its sign turned.
int penstock_cuda_load(const char *name, char *text, size_t n);
void penstock_cuda_leave(void);
#endif

// The engine as it is, but for one thing: on WASI it does not look at its stack, so that recursion
// without end kills the guest instead of throwing. The stack that it can see (the one in linear
// memory) grows with the one it cannot, so looking at it is as good as elsewhere.
//
// Everything that asks for the platform by name comes first; what is left would ask only for that.
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cutils.h"

#undef __wasi__
#define __STDC_NO_ATOMICS__ 1
#include "quickjs.c"

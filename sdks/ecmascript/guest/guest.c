// The ECMAScript guest: runs one program, as the module `program.js`, in an engine of its own.
//
// What a program imports is resolved here; what it calls goes through `call`, which the tables
// generated from the contract drive. A component instance runs one program, so nothing is freed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contract.h"
#include "quickjs.h"
#include "sources.h"
#include "values.h"

// What the engine lets a program use of the stack it sees. The stack it cannot see grows two to three
// times as fast: measured under 1 MiB of it, a getter that calls itself met that one first from
// 384 KiB on, and died instead of throwing. The host gives 2 MiB, for Python's sake; what is left is
// room for shapes of recursion that were not tried.
#define ENGINE_STACK (256 * 1024)

// What one call of `getentropy` gives at most, and what one call of a program's may ask for.
#define RANDOM_PIECE 256
#define MAX_RANDOM 65536

struct module {
  struct text key, source;
};

static struct {
  int64_t began, in_calls, budget; // nanoseconds; a budget of 0 is none
  const struct module *modules;
  uint32_t module_count;
  JSValue hooks;     // what the SDK's prelude gives to report failures
  JSContext *ready;  // an engine that was started before the program came
} program;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int interrupted(JSRuntime *rt, void *opaque) {
  (void)rt, (void)opaque;
  return program.budget && now() - program.began - program.in_calls >= program.budget;
}

// --- Calls

static JSValue result_of(JSContext *ctx, const char *name, JSValue value) {
  if (JS_IsException(value)) return value;
  JSValue object = JS_NewObject(ctx);
  if (JS_IsException(object)) return object;
  JS_SetPropertyStr(ctx, object, name, value);
  return object;
}

// A call that fails before it is made.
static JSValue refused(JSContext *ctx, const struct function *function, const char *code,
                       const char *message) {
  JSValue error = JS_NewObject(ctx);
  if (JS_IsException(error)) return error;
  JS_SetPropertyStr(ctx, error, "operation", JS_NewString(ctx, function->key));
  JS_SetPropertyStr(ctx, error, "code", JS_NewString(ctx, code));
  JS_SetPropertyStr(ctx, error, "message", JS_NewString(ctx, message));
  return result_of(ctx, "error", error);
}

// call(index, arguments): `{ ok }` or `{ error }`.
static JSValue call(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  (void)this;
  uint32_t index;
  if (argc < 2 || JS_ToUint32(ctx, &index, argv[0]) || index >= FUNCTION_COUNT)
    return JS_ThrowTypeError(ctx, "there is no such function");
  const struct function *function = &functions[index];
  struct loan loan = {.ctx = ctx};
  JSValue value = JS_EXCEPTION;
  uint8_t *params = lend(&loan, function->params_size);
  uint8_t *result = params ? lend(&loan, function->result_size) : NULL;
  if (!result) goto done;
  for (uint32_t at = 0; at < function->count; at++) {
    const struct field *param = &function->params[at];
    JSValue argument = JS_GetPropertyUint32(ctx, argv[1], at);
    if (JS_IsException(argument)) goto done;
    int failed = lower(&loan, param->type, argument, params + param->offset, param->name);
    JS_FreeValue(ctx, argument);
    if (failed) {
      if (loan.too_much) {
        char message[128];
        snprintf(message, sizeof message, "the arguments are too large; a call carries %u MiB at most",
                 MAX_CALL_BYTES / (1024 * 1024));
        value = refused(ctx, function, "limit-exceeded", message);
      } else if (loan.is_wrong) {
        value = refused(ctx, function, "invalid-argument", loan.told);
      }
      goto done;
    }
  }
  union flat flat[16] = {0};
  if (!function->spilled) {
    uint32_t at = 0;
    for (uint32_t param = 0; param < function->count; param++)
      flatten(function->params[param].type, params + function->params[param].offset, flat, &at);
  }
  int64_t began = now();
  function->invoke(flat, params, result);
  program.in_calls += now() - began;
  if (!function->failure)
    value = result_of(ctx, "ok", JS_UNDEFINED);
  else if (result[0])
    value = result_of(ctx, "error", lift(ctx, function->failure, result + function->payload));
  else if (function->ok)
    value = result_of(ctx, "ok", lift(ctx, function->ok, result + function->payload));
  else
    value = result_of(ctx, "ok", JS_UNDEFINED);
done:
  give_back(&loan);
  return value;
}

// random(count): that many random bytes of the host's.
static JSValue random_bytes(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  (void)this;
  uint32_t count;
  if (argc < 1 || JS_ToUint32(ctx, &count, argv[0]) || count > MAX_RANDOM)
    return JS_ThrowRangeError(ctx, "there are not so many random bytes at once");
  uint8_t *all = js_malloc(ctx, count ? count : 1);
  if (!all) return JS_EXCEPTION;
  for (uint32_t at = 0; at < count; at += RANDOM_PIECE) {
    uint32_t piece = count - at < RANDOM_PIECE ? count - at : RANDOM_PIECE;
    if (getentropy(all + at, piece)) {
      js_free(ctx, all);
      return JS_ThrowInternalError(ctx, "the host gave no random bytes");
    }
  }
  JSValue buffer = JS_NewArrayBufferCopy(ctx, all, count);
  js_free(ctx, all);
  return buffer;
}

static int native_init(JSContext *ctx, JSModuleDef *module) {
  JSValue operations = JS_NewArray(ctx);
  for (uint32_t at = 0; at < FUNCTION_COUNT; at++)
    JS_DefinePropertyValueUint32(ctx, operations, at, JS_NewString(ctx, functions[at].operation),
                                 JS_PROP_C_W_E);
  JS_SetModuleExport(ctx, module, "operations", operations);
  JS_SetModuleExport(ctx, module, "hooks", JS_DupValue(ctx, program.hooks));
  JS_SetModuleExport(ctx, module, "random", JS_NewCFunction(ctx, random_bytes, "random", 1));
  return JS_SetModuleExport(ctx, module, "call", JS_NewCFunction(ctx, call, "call", 2));
}

// --- Modules

static int starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static const struct source *sdk_source(const char *name) {
  for (uint32_t at = 0; at < SOURCE_COUNT; at++)
    if (!strcmp(sources[at].name, name)) return &sources[at];
  return NULL;
}

static char *normalize(JSContext *ctx, const char *base, const char *name, void *opaque) {
  (void)opaque;
  int inside = starts(base, "sdk:") || starts(base, "gg:") || !strcmp(base, "gg");
  if (starts(name, "sdk:") && !inside) {
    JS_ThrowReferenceError(ctx, "\"%s\" is not for programs; import from \"gg\"", name);
    return NULL;
  }
  return js_strdup(ctx, name);
}

static JSModuleDef *compiled(JSContext *ctx, const char *source, size_t length, const char *name) {
  JSValue module =
      JS_Eval(ctx, source, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  if (JS_IsException(module)) return NULL;
  return JS_VALUE_GET_PTR(module);
}

// The engine reads one byte past the end.
static char *terminated(struct text text) {
  char *copy = malloc((size_t)text.length + 1);
  if (!copy) return NULL;
  memcpy(copy, text.data, text.length);
  copy[text.length] = 0;
  return copy;
}

static JSModuleDef *load(JSContext *ctx, const char *name, void *opaque) {
  (void)opaque;
  if (!strcmp(name, "sdk:native")) {
    JSModuleDef *module = JS_NewCModule(ctx, name, native_init);
    if (!module) return NULL;
    JS_AddModuleExport(ctx, module, "call");
    JS_AddModuleExport(ctx, module, "operations");
    JS_AddModuleExport(ctx, module, "hooks");
    JS_AddModuleExport(ctx, module, "random");
    return module;
  }
  const struct source *source = sdk_source(name);
  if (source) return compiled(ctx, source->data, source->length, name);
  if (starts(name, "lib:")) {
    const char *key = name + 4;
    for (uint32_t at = 0; at < program.module_count; at++) {
      struct text found = program.modules[at].key;
      if (found.length != strlen(key) || memcmp(found.data, key, found.length)) continue;
      char *text = terminated(program.modules[at].source);
      if (!text) {
        JS_ThrowOutOfMemory(ctx);
        return NULL;
      }
      return compiled(ctx, text, program.modules[at].source.length, name);
    }
  }
  JS_ThrowReferenceError(ctx, "there is no module \"%s\"", name);
  return NULL;
}

// --- Failures

// Says that the program failed without allocating in the engine, which may have nothing left.
static void report_plainly(const char *rendering) {
  for (uint32_t at = 0; at < FUNCTION_COUNT; at++) {
    if (strcmp(functions[at].operation, "feedback.report_error")) continue;
    union flat flat[16] = {0};
    flat[0].i32 = 2; // other; no code, no operation
    flat[6].i32 = (int32_t)(intptr_t)rendering;
    flat[7].i32 = (int32_t)strlen(rendering);
    functions[at].invoke(flat, NULL, NULL);
  }
}

// Whether a line of a stack is a frame of gg's own, as the SDK tells them.
static bool is_own(const char *line, size_t size) {
  static const char *const marks[] = {"sdk:", "(gg:", "(gg)", "(native)"};
  for (size_t mark = 0; mark < sizeof marks / sizeof *marks; mark++)
    if (memmem(line, size, marks[mark], strlen(marks[mark]))) return true;
  return false;
}

// The frames of a program to standard error, and how many of gg's own were struck.
static void tell_frames(const char *frames) {
  unsigned struck = 0;
  while (*frames) {
    size_t size = strcspn(frames, "\n");
    if (is_own(frames, size)) struck++;
    else if (size) fprintf(stderr, "%.*s\n", (int)size, frames);
    frames += size + (frames[size] == '\n');
  }
  if (struck) fprintf(stderr, "    \u2026 %u frame%s of gg's own\n", struck, struck == 1 ? "" : "s");
}

// The engine was interrupted, which no program can catch: say so and die.
static _Noreturn void die(JSContext *ctx, JSValueConst reason) {
  const char *words = JS_ToCString(ctx, reason);
  fprintf(stderr, "%s\n", words ? words : "InternalError: interrupted");
  JSValue stack = JS_GetPropertyStr(ctx, reason, "stack");
  const char *frames = JS_IsString(stack) ? JS_ToCString(ctx, stack) : NULL;
  if (frames) tell_frames(frames);
  __builtin_trap();
}

static void report(JSContext *ctx, JSValueConst reason) {
  if (JS_IsUncatchableError(reason)) die(ctx, reason);
  JSValue hook = JS_GetPropertyStr(ctx, program.hooks, "report");
  JSValue told = JS_IsFunction(ctx, hook) ? JS_Call(ctx, hook, JS_UNDEFINED, 1, &reason)
                                          : JS_EXCEPTION;
  if (!JS_IsException(told)) return;
  JSValue second = JS_GetException(ctx);
  if (JS_IsUncatchableError(second)) die(ctx, second);
  const char *words = JS_ToCString(ctx, reason);
  report_plainly(words ? words : "InternalError: out of memory");
}

static void track(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool handled,
                  void *opaque) {
  (void)opaque;
  JSValue hook = JS_GetPropertyStr(ctx, program.hooks, handled ? "handled" : "rejected");
  if (JS_IsFunction(ctx, hook)) {
    JSValueConst arguments[] = {promise, reason};
    JS_FreeValue(ctx, JS_Call(ctx, hook, JS_UNDEFINED, 2, arguments));
  }
  JS_FreeValue(ctx, hook);
}

static void drain(JSContext *ctx) {
  JSContext *failed;
  for (;;) {
    int ran = JS_ExecutePendingJob(JS_GetRuntime(ctx), &failed);
    if (!ran) return;
    if (ran < 0) report(ctx, JS_GetException(ctx));
  }
}

// Evaluates a module and all it leads to; 0 where it came to its end.
static int evaluate(JSContext *ctx, const char *source, size_t length, const char *name) {
  JSValue promise = JS_Eval(ctx, source, length, name, JS_EVAL_TYPE_MODULE);
  if (JS_IsException(promise)) {
    report(ctx, JS_GetException(ctx));
    return -1;
  }
  drain(ctx);
  switch (JS_PromiseState(ctx, promise)) {
  case JS_PROMISE_REJECTED:
    report(ctx, JS_PromiseResult(ctx, promise));
    return -1;
  case JS_PROMISE_PENDING:
    report_plainly("Error: the program waits for a promise that nothing settles");
    return -1;
  default:
    return 0;
  }
}

// What every program runs on, and what nearly every program imports.
static const char PRELUDE[] = "import \"sdk:globals\";";
static const char PRELUDE_AHEAD[] = "import \"sdk:globals\"; import \"gg\";";

// An engine with some of the SDK loaded; NULL where there is no memory for one. What else goes wrong
// is reported, and told by `started`.
static JSContext *start(const char *prelude, int *started) {
  JSRuntime *rt = JS_NewRuntime();
  JSContext *ctx = rt ? JS_NewContext(rt) : NULL;
  if (!ctx) return NULL;
  program.hooks = JS_NewObject(ctx);
  JS_SetMaxStackSize(rt, ENGINE_STACK);
  JS_SetModuleLoaderFunc(rt, normalize, load, NULL);
  JS_SetInterruptHandler(rt, interrupted, NULL);
  JS_SetHostPromiseRejectionTracker(rt, track, NULL);
  *started = !evaluate(ctx, prelude, strlen(prelude), "sdk:start");
  return ctx;
}

static void run_program(JSContext *ctx, struct text source) {
  char *text = terminated(source);
  if (!text) {
    report_plainly("InternalError: out of memory");
    return;
  }
  evaluate(ctx, text, source.length, "program.js");
  JSValue hook = JS_GetPropertyStr(ctx, program.hooks, "ended");
  if (!JS_IsFunction(ctx, hook)) return;
  if (JS_IsException(JS_Call(ctx, hook, JS_UNDEFINED, 0, NULL))) report(ctx, JS_GetException(ctx));
}

// --- Exports

__attribute__((export_name("run"))) void run(const char *source, uint32_t length,
                                             const struct module *modules, uint32_t module_count,
                                             const struct text *granted, uint32_t granted_count,
                                             int ending, int has_library) {
  (void)granted, (void)granted_count, (void)ending, (void)has_library;
  const char *deadline = getenv("GG_SANDBOX_DEADLINE_MS");
  program.began = now();
  program.budget = deadline ? strtoll(deadline, NULL, 10) * 1000000 : 0;
  program.modules = modules;
  program.module_count = module_count;
  int started = 1;
  JSContext *ctx = program.ready ? program.ready : start(PRELUDE, &started);
  if (!ctx) {
    report_plainly("InternalError: out of memory");
    return;
  }
  if (!started) return;
  JS_UpdateStackTop(JS_GetRuntime(ctx));
  run_program(ctx, (struct text){source, length});
}

struct list {
  const struct text *items;
  uint32_t count;
};

__attribute__((export_name("bound-operations"))) const struct list *bound(void) {
  static const struct list list = {bound_operations, BOUND_COUNT};
  // Asked of an instance that waits for its program: the engine that will run it is started now. One
  // that does not start is tried again where somebody hears why.
  int started = 0;
  JSContext *ctx = program.ready ? NULL : start(PRELUDE_AHEAD, &started);
  if (started) program.ready = ctx;
  return &list;
}

// The host allocates what it passes; it cannot be told that there is no memory.
__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *block, size_t size,
                                                                size_t align, size_t wanted) {
  (void)size;
  if (!wanted) return (void *)align;
  void *grown = realloc(block, wanted);
  if (!grown) __builtin_trap();
  return grown;
}

// JavaScript values as values of the contract, and back; driven by the generated tables.
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE(at, of, value)                                                                       \
  do {                                                                                             \
    of stored_ = (of)(value);                                                                      \
    memcpy((at), &stored_, sizeof stored_);                                                        \
  } while (0)

static uint32_t load_u32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static int keep(struct loan *loan, void *block) {
  if (loan->count == loan->room) {
    uint32_t room = loan->room ? loan->room * 2 : 16;
    void **blocks = realloc(loan->blocks, room * sizeof *blocks);
    if (!blocks) {
      free(block);
      return -1;
    }
    loan->blocks = blocks;
    loan->room = room;
  }
  loan->blocks[loan->count++] = block;
  return 0;
}

void *lend(struct loan *loan, uint32_t size) {
  void *block = calloc(1, size ? size : 1);
  if (!block || keep(loan, block)) {
    JS_ThrowOutOfMemory(loan->ctx);
    return NULL;
  }
  return block;
}

void give_back(struct loan *loan) {
  for (uint32_t at = 0; at < loan->count; at++) free(loan->blocks[at]);
  free(loan->blocks);
}

static int charge(struct loan *loan, uint64_t bytes) {
  loan->bytes += bytes;
  if (loan->bytes <= MAX_CALL_BYTES) return 0;
  loan->too_much = 1;
  return -1;
}

static const char *kind_of(JSValueConst value) {
  if (JS_IsUndefined(value)) return "undefined";
  if (JS_IsNull(value)) return "null";
  if (JS_IsBool(value)) return "a boolean";
  if (JS_IsNumber(value)) return "a number";
  if (JS_IsString(value)) return "a string";
  if (JS_IsArray(value)) return "an array";
  return "no such value";
}

static int wrong(struct loan *loan, JSValueConst value, const char *name, const char *expected) {
  loan->is_wrong = 1;
  snprintf(loan->told, sizeof loan->told, "`%s` is %s; expected %s", name, kind_of(value), expected);
  return -1;
}

// A value that is none of those it may be, which are told.
static int no_choice(struct loan *loan, const struct type *type, const char *name) {
  size_t size = sizeof loan->told;
  int length = snprintf(loan->told, size, "`%s` is none of the values it may be:", name);
  for (uint32_t at = 0; at < type->count && length > 0 && (size_t)length < size; at++)
    length += snprintf(loan->told + length, size - (size_t)length, "%s %s", at ? "," : "",
                       type->fields[at].name);
  loan->is_wrong = 1;
  return -1;
}

// A string is charged before it is copied: by its length, which its bytes are never fewer than.
static int lower_string(struct loan *loan, JSValueConst value, uint8_t *memory, const char *name) {
  if (!JS_IsString(value)) return wrong(loan, value, name, "a string");
  int64_t units;
  if (JS_GetLength(loan->ctx, value, &units)) return -1;
  if (charge(loan, (uint64_t)units)) return -1;
  size_t length;
  const char *text = JS_ToCStringLen(loan->ctx, &length, value);
  if (!text) return -1;
  if (length > (uint64_t)units && charge(loan, length - (uint64_t)units)) {
    JS_FreeCString(loan->ctx, text);
    return -1;
  }
  uint8_t *copy = lend(loan, (uint32_t)length);
  if (copy) {
    memcpy(copy, text, length);
    // Half of a surrogate pair is no character: what crosses is the replacement character.
    for (size_t at = 0; at + 2 < length; at++) {
      if (copy[at] == 0xED && copy[at + 1] >= 0xA0) {
        copy[at] = 0xEF;
        copy[at + 1] = 0xBF;
        copy[at + 2] = 0xBD;
      }
    }
  }
  JS_FreeCString(loan->ctx, text);
  if (!copy) return -1;
  STORE(memory, uint32_t, (uintptr_t)copy);
  STORE(memory + 4, uint32_t, length);
  return 0;
}

static int lower_list(struct loan *loan, const struct type *type, JSValueConst value,
                      uint8_t *memory, const char *name) {
  if (!JS_IsArray(value)) return wrong(loan, value, name, "an array");
  int64_t length;
  if (JS_GetLength(loan->ctx, value, &length)) return -1;
  if (charge(loan, (uint64_t)length * type->of->size)) return -1;
  uint8_t *elements = lend(loan, (uint32_t)length * type->of->size);
  if (!elements) return -1;
  for (uint32_t at = 0; at < (uint64_t)length; at++) {
    JSValue element = JS_GetPropertyUint32(loan->ctx, value, at);
    if (JS_IsException(element)) return -1;
    int failed = lower(loan, type->of, element, elements + at * type->of->size, name);
    JS_FreeValue(loan->ctx, element);
    if (failed) return -1;
  }
  STORE(memory, uint32_t, (uintptr_t)elements);
  STORE(memory + 4, uint32_t, length);
  return 0;
}

static int lower_number(struct loan *loan, const struct type *type, JSValueConst value,
                        uint8_t *memory, const char *name) {
  if (!JS_IsNumber(value)) return wrong(loan, value, name, "a number");
  double number;
  if (JS_ToFloat64(loan->ctx, &number, value)) return -1;
  if (type->kind == KIND_F64) {
    STORE(memory, double, number);
    return 0;
  }
  if (number != floor(number)) return wrong(loan, value, name, "a whole one");
  if (type->kind == KIND_S32) {
    if (number < -2147483648.0 || number > 2147483647.0)
      return wrong(loan, value, name, "one of 32 bits");
    STORE(memory, int32_t, number);
    return 0;
  }
  double most = type->kind == KIND_U32 ? 4294967295.0 : 9007199254740991.0;
  if (number < 0 || number > most) 
    return wrong(loan, value, name, "one that is not negative or huge");
  if (type->kind == KIND_U32)
    STORE(memory, uint32_t, number);
  else
    STORE(memory, uint64_t, number);
  return 0;
}

// Which of a list of names a string is; -1 where it is none.
static int named(JSContext *ctx, const struct type *type, JSValueConst value) {
  const char *word = JS_ToCString(ctx, value);
  if (!word) return -1;
  int found = -1;
  for (uint32_t at = 0; at < type->count && found < 0; at++)
    if (!strcmp(type->fields[at].name, word)) found = (int)at;
  JS_FreeCString(ctx, word);
  return found;
}

int lower(struct loan *loan, const struct type *type, JSValueConst value, uint8_t *memory,
          const char *name) {
  switch (type->kind) {
  case KIND_BOOL:
    if (!JS_IsBool(value)) return wrong(loan, value, name, "true or false");
    STORE(memory, uint8_t, JS_ToBool(loan->ctx, value));
    return 0;
  case KIND_U32:
  case KIND_S32:
  case KIND_U64:
  case KIND_F64:
    return lower_number(loan, type, value, memory, name);
  case KIND_STRING:
    return lower_string(loan, value, memory, name);
  case KIND_LIST:
    return lower_list(loan, type, value, memory, name);
  case KIND_OPTION:
    if (JS_IsUndefined(value) || JS_IsNull(value)) return 0;
    STORE(memory, uint8_t, 1);
    return lower(loan, type->of, value, memory + type->payload, name);
  case KIND_RECORD:
    if (!JS_IsObject(value)) return wrong(loan, value, name, "an object");
    for (uint32_t at = 0; at < type->count; at++) {
      const struct field *field = &type->fields[at];
      JSValue part = JS_GetPropertyStr(loan->ctx, value, field->name);
      if (JS_IsException(part)) return -1;
      int failed = lower(loan, field->type, part, memory + field->offset, field->name);
      JS_FreeValue(loan->ctx, part);
      if (failed) return -1;
    }
    return 0;
  case KIND_ENUM:
  case KIND_VARIANT: {
    JSValue tag = JS_IsObject(value) ? JS_GetPropertyStr(loan->ctx, value, "tag")
                                     : JS_DupValue(loan->ctx, value);
    int at = JS_IsString(tag) ? named(loan->ctx, type, tag) : -1;
    JS_FreeValue(loan->ctx, tag);
    if (at < 0) return no_choice(loan, type, name);
    STORE(memory, uint8_t, at);
    const struct type *of = type->fields[at].type;
    if (!of) return 0;
    JSValue part = JS_GetPropertyStr(loan->ctx, value, "value");
    if (JS_IsException(part)) return -1;
    int failed = lower(loan, of, part, memory + type->payload, name);
    JS_FreeValue(loan->ctx, part);
    return failed;
  }
  }
  __builtin_unreachable();
}

static JSValue lift_list(JSContext *ctx, const struct type *type, const uint8_t *memory) {
  uint8_t *elements = (uint8_t *)(uintptr_t)load_u32(memory);
  uint32_t count = load_u32(memory + 4);
  JSValue list = JS_NewArray(ctx);
  for (uint32_t at = 0; at < count && !JS_IsException(list); at++) {
    JSValue element = lift(ctx, type->of, elements + at * type->of->size);
    if (JS_IsException(element) || JS_DefinePropertyValueUint32(ctx, list, at, element,
                                                                JS_PROP_C_W_E) < 0) {
      JS_FreeValue(ctx, list);
      list = JS_EXCEPTION;
    }
  }
  if (count) free(elements);
  return list;
}

JSValue lift(JSContext *ctx, const struct type *type, const uint8_t *memory) {
  switch (type->kind) {
  case KIND_BOOL:
    return JS_NewBool(ctx, memory[0]);
  case KIND_U32:
    return JS_NewUint32(ctx, load_u32(memory));
  case KIND_S32:
    return JS_NewInt32(ctx, (int32_t)load_u32(memory));
  case KIND_U64: {
    uint64_t value;
    memcpy(&value, memory, sizeof value);
    return JS_NewFloat64(ctx, (double)value);
  }
  case KIND_F64: {
    double value;
    memcpy(&value, memory, sizeof value);
    return JS_NewFloat64(ctx, value);
  }
  case KIND_STRING: {
    char *text = (char *)(uintptr_t)load_u32(memory);
    uint32_t length = load_u32(memory + 4);
    JSValue value = JS_NewStringLen(ctx, length ? text : "", length);
    if (length) free(text);
    return value;
  }
  case KIND_LIST:
    return lift_list(ctx, type, memory);
  case KIND_OPTION:
    return memory[0] ? lift(ctx, type->of, memory + type->payload) : JS_UNDEFINED;
  case KIND_ENUM:
    return JS_NewString(ctx, type->fields[memory[0]].name);
  case KIND_RECORD: {
    JSValue object = JS_NewObject(ctx);
    for (uint32_t at = 0; at < type->count && !JS_IsException(object); at++) {
      const struct field *field = &type->fields[at];
      JSValue part = lift(ctx, field->type, memory + field->offset);
      if (JS_IsUndefined(part)) continue;
      if (JS_IsException(part) || JS_SetPropertyStr(ctx, object, field->name, part) < 0) {
        JS_FreeValue(ctx, object);
        object = JS_EXCEPTION;
      }
    }
    return object;
  }
  case KIND_VARIANT: {
    const struct field *found = &type->fields[memory[0]];
    JSValue object = JS_NewObject(ctx);
    if (JS_IsException(object)) return object;
    JSValue part = found->type ? lift(ctx, found->type, memory + type->payload) : JS_UNDEFINED;
    if (JS_IsException(part) ||
        JS_SetPropertyStr(ctx, object, "tag", JS_NewString(ctx, found->name)) < 0 ||
        JS_SetPropertyStr(ctx, object, "value", part) < 0) {
      JS_FreeValue(ctx, object);
      return JS_EXCEPTION;
    }
    return object;
  }
  }
  __builtin_unreachable();
}

// How many flat values a type has.
static uint32_t flat_count(const struct type *type) {
  uint32_t count = 0;
  switch (type->kind) {
  case KIND_STRING:
  case KIND_LIST:
    return 2;
  case KIND_OPTION:
    return 1 + flat_count(type->of);
  case KIND_RECORD:
    for (uint32_t at = 0; at < type->count; at++) count += flat_count(type->fields[at].type);
    return count;
  case KIND_VARIANT:
    for (uint32_t at = 0; at < type->count; at++) {
      uint32_t one = type->fields[at].type ? flat_count(type->fields[at].type) : 0;
      if (one > count) count = one;
    }
    return 1 + count;
  default:
    return 1;
  }
}

void flatten(const struct type *type, const uint8_t *memory, union flat *flat, uint32_t *at) {
  uint32_t end = *at + flat_count(type);
  switch (type->kind) {
  case KIND_BOOL:
  case KIND_ENUM:
    flat[(*at)++].i32 = memory[0];
    break;
  case KIND_U32:
  case KIND_S32:
    flat[(*at)++].i32 = (int32_t)load_u32(memory);
    break;
  case KIND_U64:
    memcpy(&flat[(*at)++].i64, memory, 8);
    break;
  case KIND_F64:
    memcpy(&flat[(*at)++].f64, memory, 8);
    break;
  case KIND_STRING:
  case KIND_LIST:
    flat[(*at)++].i32 = (int32_t)load_u32(memory);
    flat[(*at)++].i32 = (int32_t)load_u32(memory + 4);
    break;
  case KIND_OPTION:
    flat[(*at)++].i32 = memory[0];
    if (memory[0]) flatten(type->of, memory + type->payload, flat, at);
    break;
  case KIND_RECORD:
    for (uint32_t field = 0; field < type->count; field++)
      flatten(type->fields[field].type, memory + type->fields[field].offset, flat, at);
    break;
  case KIND_VARIANT: {
    const struct type *of = type->fields[memory[0]].type;
    flat[(*at)++].i32 = memory[0];
    if (of) flatten(of, memory + type->payload, flat, at);
    break;
  }
  }
  // What a case does not use stays zero, as the whole signature was.
  *at = end;
}

// How the tables that are generated from the contract are shaped.
#pragma once
#include <stdint.h>

enum kind {
  KIND_BOOL,
  KIND_U32,
  KIND_S32,
  KIND_U64,
  KIND_F64,
  KIND_STRING,
  KIND_LIST,
  KIND_OPTION,
  KIND_RECORD,
  KIND_VARIANT,
  KIND_ENUM,
};

struct field;

// A type as the canonical ABI lays it out in memory.
struct type {
  enum kind kind;
  uint32_t size, align;
  const struct type *of;      // a list's elements, an option's value
  const struct field *fields; // a record's fields, a variant's cases, an enum's words
  uint32_t count;
  uint32_t payload; // where an option's or a variant's value begins
};

struct field {
  const char *name;
  const struct type *type;
  uint32_t offset;
};

// A value as it crosses in a flat signature.
union flat {
  int32_t i32;
  int64_t i64;
  double f64;
};

struct function {
  const char *operation, *key;
  const struct field *params;
  uint32_t count, params_size;
  int spilled; // whether the parameters cross in memory
  const struct type *ok, *failure;
  uint32_t result_size, payload;
  void (*invoke)(const union flat *flat, void *memory, void *result);
};

struct text {
  const char *data;
  uint32_t length;
};

static const struct type type_bool = {.kind = KIND_BOOL, .size = 1, .align = 1};
static const struct type type_u32 = {.kind = KIND_U32, .size = 4, .align = 4};
static const struct type type_s32 = {.kind = KIND_S32, .size = 4, .align = 4};
static const struct type type_u64 = {.kind = KIND_U64, .size = 8, .align = 8};
static const struct type type_f64 = {.kind = KIND_F64, .size = 8, .align = 8};
static const struct type type_string = {.kind = KIND_STRING, .size = 8, .align = 4};

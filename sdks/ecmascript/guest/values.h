// JavaScript values as values of the contract, and back.
#pragma once
#include "quickjs.h"
#include "tables.h"

// Bytes of strings and lists that one call may carry. gg's own bound is half as much again: a call
// past this one fails as a value, a call past that one would end the program.
#define MAX_CALL_BYTES (32u * 1024 * 1024)

// What one call has taken, so that it can be given back.
struct loan {
  JSContext *ctx;
  void **blocks;
  uint32_t count, room;
  uint64_t bytes;
  int too_much, is_wrong;
  char told[256]; // what is wrong, where `is_wrong`
};

// Writes a value to memory; -1 with a pending exception, with `is_wrong` set where it is of another
// type, or with `too_much` set where the call would carry too much. `name` says where the value stands.
int lower(struct loan *loan, const struct type *type, JSValueConst value, uint8_t *memory,
          const char *name);

// Reads a value from memory and frees what the host allocated for it.
JSValue lift(JSContext *ctx, const struct type *type, const uint8_t *memory);

// Appends a value in memory to a flat signature.
void flatten(const struct type *type, const uint8_t *memory, union flat *flat, uint32_t *at);

void *lend(struct loan *loan, uint32_t size);
void give_back(struct loan *loan);

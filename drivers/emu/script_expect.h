#ifndef TUTTI_EMU_SCRIPT_EXPECT_H
#define TUTTI_EMU_SCRIPT_EXPECT_H

/* What a script says of the contents of buffers: filling them, and comparing. */

#include "drivers/emu/script.h"

/* Writes what the declaration says into a buffer of the rank; `unset` leaves it as it is. */
void emu_script_fill_buffer(const emu_script_buffer *buffer, tutti_buffer data, int32_t rank);

/* Compares a slice with what an `expect` says of it. Floats are equal when their values are, and
 * NaN equals NaN. False: a text is written that names the first element that differs. */
bool emu_script_expect(const emu_script_statement *statement, tutti_element_type type,
                       uint32_t width_bytes, tutti_buffer data, int32_t rank, const char *name,
                       uint64_t first, char *text, size_t text_bytes);

#endif

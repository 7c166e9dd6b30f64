#include "drivers/emu/script_expect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drivers/emu/element.h"

enum { EMU_ELEMENT_BYTES_MAX = 8 };

/* An infinity that is written out is meant as such, where arithmetic would saturate. */
static void emu_infinity_write(tutti_element_type type, double value, void *element) {
    static const uint8_t codes[2] = {0x7C, 0xFC};
    if (type == TUTTI_F8E5M2)
        memcpy(element, &codes[value < 0], 1);
    else
        emu_element_from_double(type, value, element);
}

static void emu_value_write(tutti_element_type type, const emu_script_value *value, void *element) {
    if (value->kind == EMU_SCRIPT_VALUE_U64)
        emu_element_from_u64(type, value->as.u64, element);
    else if (value->kind == EMU_SCRIPT_VALUE_I64)
        emu_element_from_i64(type, value->as.i64, element);
    else if (isinf(value->as.f64))
        emu_infinity_write(type, value->as.f64, element);
    else
        emu_element_from_double(type, value->as.f64, element);
}

/* The element with the given index that a fill describes. */
static void emu_fill_element(const emu_script_fill *fill, tutti_element_type type, uint64_t index,
                             int32_t rank, void *element) {
    switch (fill->kind) {
    case EMU_SCRIPT_FILL_RANK:
        emu_element_from_i64(type, rank, element);
        break;
    case EMU_SCRIPT_FILL_IOTA:
        emu_element_from_u64(type, index, element);
        break;
    case EMU_SCRIPT_FILL_VALUES:
        emu_value_write(type, &fill->values[fill->value_count == 1 ? 0 : index], element);
        break;
    case EMU_SCRIPT_FILL_ZERO:
    case EMU_SCRIPT_FILL_UNSET:
        memset(element, 0, tutti_element_type_width_bytes(type));
        break;
    }
}

void emu_script_fill_buffer(const emu_script_buffer *buffer, tutti_buffer data, int32_t rank) {
    uint32_t width_bytes = buffer->width_bytes;
    if (buffer->fill.kind == EMU_SCRIPT_FILL_UNSET || buffer->count == 0) return;
    if (buffer->fill.kind == EMU_SCRIPT_FILL_ZERO) {
        memset(data.data, 0, data.bytes);
        return;
    }
    for (uint64_t i = 0; i < buffer->count; i++)
        emu_fill_element(&buffer->fill, buffer->type, i, rank,
                         (char *)data.data + (size_t)i * width_bytes);
}

static bool emu_type_is_float(tutti_element_type type) {
    return type == TUTTI_F64 || type == TUTTI_F32 || type == TUTTI_F16 || type == TUTTI_BF16 ||
           type == TUTTI_F8E4M3 || type == TUTTI_F8E5M2;
}

static bool emu_elements_equal(tutti_element_type type, uint32_t width_bytes, const void *a,
                               const void *b) {
    if (!emu_type_is_float(type)) return memcmp(a, b, width_bytes) == 0;
    double x = emu_element_to_double(type, a), y = emu_element_to_double(type, b);
    return x == y || (x != x && y != y);
}

static void emu_element_format(tutti_element_type type, const void *element, char *text,
                               size_t text_bytes) {
    if (emu_type_is_float(type)) {
        double value = emu_element_to_double(type, element);
        /* The sign of a NaN is nobody's concern, and printf shows it on some systems. */
        if (value != value)
            snprintf(text, text_bytes, "nan");
        else
            snprintf(text, text_bytes, "%.9g", value);
    } else if (type == TUTTI_U64 || type == TUTTI_U32 || type == TUTTI_U8) {
        snprintf(text, text_bytes, "%" PRIu64, emu_element_to_u64(type, element));
    } else {
        snprintf(text, text_bytes, "%" PRId64, emu_element_to_i64(type, element));
    }
}

bool emu_script_expect(const emu_script_statement *statement, tutti_element_type type,
                       uint32_t width_bytes, tutti_buffer data, int32_t rank, const char *name,
                       uint64_t first, char *text, size_t text_bytes) {
    char expected[EMU_ELEMENT_BYTES_MAX], expected_text[40], found_text[40];
    if (tutti_element_type_width_bytes(type) == 0) return true; /* the parser refuses it */
    size_t count = data.bytes / width_bytes;
    for (size_t i = 0; i < count; i++) {
        const char *found = (const char *)data.data + i * width_bytes;
        emu_fill_element(statement->expected, type, i, rank, expected);
        if (emu_elements_equal(type, width_bytes, expected, found)) continue;
        emu_element_format(type, expected, expected_text, sizeof expected_text);
        emu_element_format(type, found, found_text, sizeof found_text);
        snprintf(text, text_bytes, "%s[%" PRIu64 "] is %s, and %s was expected (%s)", name,
                 first + i, found_text, expected_text, tutti_element_type_name(type));
        return false;
    }
    return true;
}

#include "tutti/driver.h"

#include <inttypes.h>
#include <string.h>

#include "src/driver_stubs.h"

/* No version of the table comes near this; what is larger is no table. */
enum { TABLE_BYTES_MAX = 1 << 16 };

/* The first required operation that a table lacks; NULL when it has them all. */
static const char *missing_operation(const tutti_driver_table *table) {
    if (table->device_count == NULL) return "device_count";
    if (table->device_open == NULL) return "device_open";
    if (table->memory_allocate == NULL) return "memory_allocate";
    if (table->memory_free == NULL) return "memory_free";
    if (table->copy_to_device == NULL) return "copy_to_device";
    if (table->copy_to_host == NULL) return "copy_to_host";
    if (table->copy_on_device == NULL) return "copy_on_device";
    if (table->fill == NULL) return "fill";
    if (table->host_function == NULL) return "host_function";
    if (table->stream_create == NULL) return "stream_create";
    if (table->stream_destroy == NULL) return "stream_destroy";
    if (table->stream_synchronize == NULL) return "stream_synchronize";
    if (table->stream_query == NULL) return "stream_query";
    if (table->event_create == NULL) return "event_create";
    if (table->event_destroy == NULL) return "event_destroy";
    if (table->event_record == NULL) return "event_record";
    if (table->event_wait == NULL) return "event_wait";
    if (table->event_query == NULL) return "event_query";
    if (table->event_synchronize == NULL) return "event_synchronize";
    if (table->group_id == NULL) return "group_id";
    if (table->join == NULL) return "join";
    if (table->data_type == NULL) return "data_type";
    if (table->all_reduce == NULL) return "all_reduce";
    if (table->send == NULL) return "send";
    if (table->recv == NULL) return "recv";
    if (table->leave == NULL) return "leave";
    return NULL;
}

/* The first field alone may be read before it is known how much there is. */
static tutti_status check_size(const tutti_driver_table *table, tutti_error *error) {
    const uint32_t bytes = table->struct_size;
    if (bytes < TUTTI_DRIVER_TABLE_BYTES_MIN) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the driver's table has %" PRIu32 " bytes, less than the %zu of the "
                               "required operations: set struct_size to sizeof(tutti_driver_table)",
                               bytes, TUTTI_DRIVER_TABLE_BYTES_MIN);
    }
    /* A table that ends within a pointer would be bound with half of it. */
    const int is_a_size = bytes <= TABLE_BYTES_MAX && bytes % _Alignof(tutti_driver_table) == 0;
    if (!is_a_size) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the driver's table says that it has %" PRIu32 " bytes, which no "
                               "version has: set struct_size to sizeof(tutti_driver_table)",
                               bytes);
    }
    return TUTTI_OK;
}

static tutti_status check_contents(const tutti_driver_table *table, tutti_error *error) {
    if (table->reserved != 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the driver's table has %" PRIu32 " in its reserved field: leave it "
                               "0",
                               table->reserved);
    }
    if (table->name == NULL || table->name[0] == '\0') {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the driver's table has no name: give it one, reports need it");
    }
    const char *missing = missing_operation(table);
    if (missing != NULL) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "the driver \"%s\" lacks %s, which every driver must have",
                               table->name, missing);
    }
    return TUTTI_OK;
}

tutti_status tutti_driver_bind(const tutti_driver_table *table, tutti_driver *driver,
                               tutti_error *error) {
    tutti_error_clear(error);
    if (table == NULL || driver == NULL) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "%s is NULL",
                               table == NULL ? "table" : "driver");
    }
    tutti_status status = check_size(table, error);
    if (status != TUTTI_OK) return status;
    tutti_driver_table bound;
    memset(&bound, 0, sizeof(bound));
    memcpy(&bound, table, table->struct_size < sizeof(bound) ? table->struct_size : sizeof(bound));
    status = check_contents(&bound, error);
    if (status != TUTTI_OK) return status;
    bound.struct_size = sizeof(bound);
    tutti_driver_fill_stubs(&bound);
    driver->table = bound;
    return TUTTI_OK;
}

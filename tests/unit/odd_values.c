#include "tests/unit/odd_values.h"

#include "src/arguments.h"

tutti_status odd_communication_id_of(const tutti_device_id *devices, size_t device_count,
                                     int purpose, tutti_communication_id *id_out,
                                     tutti_error *error) {
    return tutti_communication_id_of(devices, device_count, (tutti_group_purpose)purpose, id_out,
                                     error);
}

tutti_status odd_check_all_reduce(const tutti_comm *comm, tutti_buffer buffer, int element_type,
                                  uint32_t width_bytes, size_t count, int op,
                                  const tutti_stream *stream, tutti_error *error) {
    const tutti_data_type type = {(tutti_element_type)element_type, width_bytes, element_type};
    return tutti_check_all_reduce(comm, buffer, buffer, type, count, (tutti_reduce_op)op, stream,
                                  error);
}

const char *odd_status_name(int status) {
    return tutti_status_name((tutti_status)status);
}

const char *odd_element_type_name(int type) {
    return tutti_element_type_name((tutti_element_type)type);
}

uint32_t odd_element_type_width_bytes(int type) {
    return tutti_element_type_width_bytes((tutti_element_type)type);
}

const char *odd_reduce_op_name(int op) {
    return tutti_reduce_op_name((tutti_reduce_op)op);
}

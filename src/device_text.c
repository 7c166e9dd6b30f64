#include "src/device_text.h"

#include <stdio.h>

tutti_device_text tutti_device_text_of(tutti_device_id id) {
    tutti_device_text device;
    if (id.type == 0) {
        (void)snprintf(device.text, sizeof(device.text), "%u", (unsigned)id.index);
    } else {
        (void)snprintf(device.text, sizeof(device.text), "%u:%u", (unsigned)id.type,
                       (unsigned)id.index);
    }
    return device;
}

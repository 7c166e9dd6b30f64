#ifndef TUTTI_EMU_SCRIPT_RUN_H
#define TUTTI_EMU_SCRIPT_RUN_H

/* Carrying a script out: what both ways of doing it share. */

#include "drivers/emu/script_step.h"
#include "tutti/script.h"

struct tutti_script {
    emu_script *parsed;
    int32_t *culprits; /* that the verdict names, ascending */
    uint32_t culprit_count;
};

/* Errors: TUTTI_INVALID_ARGUMENT; NULL is fine. */
tutti_status emu_script_options_check(const tutti_script_options *options, tutti_error *error);
/* As tutti_script_run(), watched; watch may be NULL. */
tutti_status emu_script_run_watched(const tutti_script *script, const tutti_script_options *options,
                                    const emu_watch *watch, tutti_report **report_out,
                                    tutti_error *error);

/* The device of each rank, of the script's device lines; NULL in *devices_out: each its own.
 * Errors: TUTTI_OUT_OF_MEMORY */
tutti_status emu_script_devices(const emu_script *script, uint32_t **devices_out,
                                tutti_error *error);

/* Reads the fault plan of a run: the script's own rules, then those of the options (or of
 * TUTTI_FAULTS). *plan_out NULL: there are none. */
tutti_status emu_script_faults(const emu_script *script, const tutti_script_options *options,
                               tutti_fault_plan **plan_out, tutti_error *error);

/* The engine's configuration for a script. */
emu_config emu_script_config(const emu_script *script, const tutti_script_options *options,
                             const uint32_t *devices, const tutti_fault_plan *plan);

/* Both run a script that is set up, and make its report. */
tutti_status emu_script_run_as_data(const emu_script *script, const tutti_script_options *options,
                                    const emu_config *config, tutti_report **report_out,
                                    tutti_error *error);
tutti_status emu_script_run_on_threads(const emu_script *script,
                                       const tutti_script_options *options,
                                       const emu_config *config, tutti_report **report_out,
                                       tutti_error *error);

#endif

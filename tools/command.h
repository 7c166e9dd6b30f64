#ifndef TUTTI_TOOLS_COMMAND_H
#define TUTTI_TOOLS_COMMAND_H

/* The command `tutti`, which finds the subcommand that is meant. */

#define COMMAND_VERSION "0.0.0" /* as in MODULE.bazel */

/* The whole command. Returns the exit status (see print.h); may end the process for --help and bad
 * options. */
int command_main(int argc, char **argv);

#endif

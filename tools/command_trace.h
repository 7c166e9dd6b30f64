#ifndef TUTTI_TOOLS_COMMAND_TRACE_H
#define TUTTI_TOOLS_COMMAND_TRACE_H

/* `tutti trace`: turns a trace into a picture. argv[0] is how texts call it. Returns the exit
 * status; may end the process for --help and bad options. */
int command_trace(int argc, char **argv);

#endif

#ifndef TUTTI_TOOLS_COMMAND_EXPLORE_H
#define TUTTI_TOOLS_COMMAND_EXPLORE_H

/* `tutti explore`: runs many schedules of scripts. argv[0] is how texts call it. Returns the exit
 * status; may end the process for --help and bad options. */
int command_explore(int argc, char **argv);

#endif

#ifndef TUTTI_TOOLS_COMMAND_RUN_H
#define TUTTI_TOOLS_COMMAND_RUN_H

/* `tutti run`: runs scripts and says whether each ends as it must. argv[0] is how texts call it.
 * Returns the exit status; may end the process for --help and bad options. */
int command_run(int argc, char **argv);

/* `tutti replay`: the same for one script and a schedule that is given. */
int command_replay(int argc, char **argv);

#endif

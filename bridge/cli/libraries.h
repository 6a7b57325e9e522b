#ifndef BRIDGE_CLI_LIBRARIES_H
#define BRIDGE_CLI_LIBRARIES_H

#include <stddef.h>

#include "bridge/http/http.h"

/** The libraries of this program, by name, with the versions it was compiled against and those it
 *  runs with. Static storage. Returns how many there are. */
size_t ab_libraries(ab_library_t ret_libraries[AB_LIBRARIES_MAX]);

/** This program's version, and what git said of its sources, "" where that is not known. */
const char *ab_program_version(void);
const char *ab_program_revision(void);

#endif

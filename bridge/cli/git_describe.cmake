cmake_minimum_required(VERSION 3.25)

# Run at each build: writes git_describe.h into OUTPUT_DIR, and touches it only when it changes.
# The text is REVISION where that is given, as for an image, whose sources come without a repository;
# and empty where there is no git or no repository, as in a release archive.
set(describe "${REVISION}")
find_package(Git QUIET)
if(describe STREQUAL "" AND GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE describe OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT_DIR}/git_describe.h
  CONTENT "#define AB_GIT_DESCRIBE \"@describe@\"\n" @ONLY)

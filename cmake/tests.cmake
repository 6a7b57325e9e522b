# Tests. Everything here is included only with AW_TESTS.

# The Python of the tests: the reference runtime (protobuf) and the independent client are pinned in
# scripts/requirements.txt and live in .venv, never in the system's Python.
set(AW_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python of the tests, with scripts/requirements.txt")
if(NOT EXISTS "${AW_PYTHON}")
  message(FATAL_ERROR "The tests need ${AW_PYTHON}, which is not there. "
    "Run 'make setup', or configure with -DAW_TESTS=OFF.")
endif()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka>=1.1.5)

# ThreadSanitizer does not see threads and locks made through glibc's C11 functions, as the packaged
# librdkafka does, and crashes. Whatever links librdkafka then gets them on pthreads, by itself.
if(AW_SANITIZE MATCHES "thread")
  add_library(aw_c11_threads STATIC ${PROJECT_SOURCE_DIR}/tests/support/c11_threads.c)
  target_link_libraries(aw_c11_threads PRIVATE aw_flags)
  target_link_libraries(PkgConfig::RDKAFKA INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,aw_c11_threads>")
endif()

# What a test prints when it, or a part of it, did not run: cmocka's skip(), cmocka and unittest with
# nothing to run, unittest's skips, and TAP-like scripts. A test that does not run proves nothing.
set(AW_SKIP_REGEX "\\[  SKIPPED \\]|Running 0 test|Ran 0 tests|NO TESTS RAN|skipped=[1-9]|(^|[ \n])[1-9][0-9]* skipped|(^|\n)SKIP")

# aw_add_test(NAME x_test LABEL unit [TIMEOUT s] SOURCES x_test.c LINKS targets… [ENV A=b …] [LOCK name])
# One cmocka program; a skip fails. Tests with the same LOCK never run at the same time. The working folder is the project's root.
function(aw_add_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;TIMEOUT;LOCK" "SOURCES;LINKS;ENV" ${ARGN})
  if(NOT ARG_LABEL)
    message(FATAL_ERROR "aw_add_test(${ARG_NAME}): LABEL is missing")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 180)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/codec/include)
  target_link_libraries(${ARG_NAME} PRIVATE aw_flags ${ARG_LINKS} PkgConfig::CMOCKA)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  aw_test_properties(${ARG_NAME} ${ARG_LABEL} ${ARG_TIMEOUT} "${ARG_LOCK}" "${ARG_ENV}")
endfunction()

# aw_add_script_test(NAME x LABEL cli [TIMEOUT s] COMMAND … [ENV A=b …] [LOCK name])
# A test that is a program of another language (Python: COMMAND ${AW_PYTHON} x.py); the binary under
# test is in $AGENT_BRIDGE. A skip fails. The working folder is the project's root.
function(aw_add_script_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;TIMEOUT;LOCK" "COMMAND;ENV" ${ARGN})
  if(NOT ARG_LABEL)
    message(FATAL_ERROR "aw_add_script_test(${ARG_NAME}): LABEL is missing")
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 180)
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(TARGET agent-bridge)
    list(APPEND ARG_ENV "AGENT_BRIDGE=$<TARGET_FILE:agent-bridge>")
  endif()
  aw_test_properties(${ARG_NAME} ${ARG_LABEL} ${ARG_TIMEOUT} "${ARG_LOCK}" "${ARG_ENV}")
endfunction()

function(aw_test_properties name label timeout lock env)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
    FAIL_REGULAR_EXPRESSION "${AW_SKIP_REGEX}")
  if(lock)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${lock})
  endif()
  set(all ${env})
  if(AW_SANITIZE MATCHES "thread")
    list(APPEND all "TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1")
  elseif(AW_SANITIZE)
    list(APPEND all "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1" "UBSAN_OPTIONS=print_stacktrace=1")
  endif()
  if(all)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${all}")
  endif()
endfunction()

# One interface target carries the warnings and sanitizers of every target in the tree.
add_library(aw_flags INTERFACE)
target_compile_definitions(aw_flags INTERFACE _GNU_SOURCE)
target_compile_options(aw_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla
  -Wundef -Wpointer-arith -Wwrite-strings -fno-omit-frame-pointer
  -fno-semantic-interposition)
# Asserts hold in release too: they guard against bugs, and no input reaches them.
target_compile_options(aw_flags INTERFACE -UNDEBUG)
if(AW_WERROR)
  target_compile_options(aw_flags INTERFACE -Werror)
endif()
if(NOT AW_SANITIZE)
  target_compile_options(aw_flags INTERFACE
    -fstack-protector-strong $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  target_link_options(aw_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
if(AW_COVERAGE)
  target_compile_options(aw_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(aw_flags INTERFACE --coverage)
endif()
if(AW_SANITIZE)
  target_compile_options(aw_flags INTERFACE -fsanitize=${AW_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(aw_flags INTERFACE -fsanitize=${AW_SANITIZE})
endif()

# aw_add_folder(NAME SOURCES a.c b.c [GENERATED gen/c.c] LINKS other_target PkgConfig::X)
# One static library for one folder. Everything is linked PRIVATE: a header that needs another
# folder's header says so by including it, and the include test holds the direction. Generated sources
# are compiled alike, but not analysed.
function(aw_add_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;GENERATED;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY AW_FOLDERS ${name})
  aw_folder_properties(${name} ${ARG_LINKS})
  if(ARG_GENERATED)
    add_library(${name}_generated OBJECT ${ARG_GENERATED})
    aw_folder_properties(${name}_generated ${ARG_LINKS})
    set_target_properties(${name}_generated PROPERTIES C_CLANG_TIDY "")
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_generated>)
  endif()
endfunction()

function(aw_folder_properties name)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/codec/include PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE aw_flags ${ARGN})
endfunction()

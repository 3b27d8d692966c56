# nanlens_add_check(<target> [NAME test] [ARGS word...] [RUN option...] [CHECK option...] [LOGDIR directory]): a test of CTest that
# runs a program under `nanlens run`, with the options of RUN, and then looks at the recording with `nanlens check`, with those of
# CHECK. It fails if the program does, if there is a NaN or infinity that is neither muted nor known, and where that can't be told.
# The test is called <target>_nanlens, the recording is kept as <test>.logdir beside it. Paths are told from the project's
# directory on, and nanlens.mutes is read from there, unless CHECK says otherwise.
function(nanlens_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;LOGDIR" "ARGS;RUN;CHECK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nanlens_add_check: '${arg_UNPARSED_ARGUMENTS}' is behind none of NAME, ARGS, RUN, CHECK and LOGDIR")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "nanlens_add_check: there is no target '${target}'")
  endif()
  if(TARGET nanlens-command)
    set(command $<TARGET_FILE:nanlens-command>)
  else()  # of an installed nanlens this file lies in PREFIX/lib/cmake/nanlens, or one directory deeper
    set(above ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../..)
    find_program(NANLENS_COMMAND nanlens HINTS ${above}/bin ${above}/../bin)
    set(command ${NANLENS_COMMAND})
  endif()
  if(NOT command)
    message(FATAL_ERROR "nanlens_add_check needs the nanlens command: install it, or set NANLENS_COMMAND")
  endif()
  if(NOT arg_NAME)
    set(arg_NAME ${target}_nanlens)
  endif()
  if(NOT arg_LOGDIR)
    set(arg_LOGDIR ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.logdir)
  endif()
  add_test(NAME ${arg_NAME}
           COMMAND ${CMAKE_COMMAND} -DNANLENS=${command} -DLOGDIR=${arg_LOGDIR} -DSOURCE=${PROJECT_SOURCE_DIR}
                   -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/NanlensCheckRun.cmake -- ${arg_RUN} --nanlens-program $<TARGET_FILE:${target}> ${arg_ARGS} --nanlens-check ${arg_CHECK})
endfunction()

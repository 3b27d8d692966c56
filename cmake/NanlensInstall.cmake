# Install headers, targets, the command and a pkg-config file; find_package(nanlens) then gives nanlens::<module>.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(DIRECTORY include/nanlens DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(module ${NANLENS_MODULES})
  list(APPEND module_targets nanlens_${module})
endforeach()
install(TARGETS ${module_targets} EXPORT nanlens)
install(EXPORT nanlens NAMESPACE nanlens:: FILE nanlensTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nanlens)
configure_package_config_file(cmake/nanlensConfig.cmake.in ${PROJECT_BINARY_DIR}/nanlensConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nanlens)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nanlensConfigVersion.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/nanlensConfig.cmake ${PROJECT_BINARY_DIR}/nanlensConfigVersion.cmake
              cmake/NanlensCompiled.cmake cmake/NanlensCheck.cmake cmake/NanlensCheckRun.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nanlens)
configure_file(cmake/nanlens.pc.in ${PROJECT_BINARY_DIR}/nanlens.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nanlens.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET nanlens-sample)
  install(FILES ${PROJECT_BINARY_DIR}/share/nanlens/sample.nanlens DESTINATION ${CMAKE_INSTALL_DATADIR}/nanlens)
endif()
install(FILES ${PROJECT_BINARY_DIR}/wasm/nanlens.html DESTINATION ${CMAKE_INSTALL_DATADIR}/nanlens OPTIONAL)  # for `share`, where wasm/build.sh has made it
foreach(program nanlens-command nanlens-viewer)
  if(TARGET ${program})
    install(TARGETS ${program} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
if(NANLENS_LOADED)
  install(TARGETS ${NANLENS_LOADED} LIBRARY DESTINATION lib/nanlens ARCHIVE DESTINATION lib/nanlens)  # beside bin, where the command looks for them
endif()

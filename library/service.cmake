# The service as a library, and the headers of plugins.
get_property(all_modules GLOBAL PROPERTY laneway_modules)
add_library(laneway_library STATIC laneway.cpp)
laneway_archive(laneway_library laneway ${all_modules} laneway_app)
set_target_properties(laneway_library PROPERTIES EXPORT_NAME laneway)
target_link_libraries(laneway_library PRIVATE $<BUILD_INTERFACE:laneway_app>
                      INTERFACE $<INSTALL_INTERFACE:PkgConfig::LANEWAY> Threads::Threads ${CMAKE_DL_LIBS})
target_compile_features(laneway_library INTERFACE cxx_std_17)
add_dependencies(laneway_library laneway_pool_library)  # cmake --install installs both

# What a plugin needs: headers alone.
add_library(laneway_plugin_library INTERFACE)
set_target_properties(laneway_plugin_library PROPERTIES EXPORT_NAME plugin)
target_include_directories(laneway_plugin_library INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Outside libraries, as pkg-config knows them. The bundled client is part of the archive, so that nobody has to install it.
set(client "rdkafka >= 2.0.2")
if(LANEWAY_LIBRDKAFKA STREQUAL "bundled")
  if(NOT LANEWAY_SANITIZE STREQUAL "thread")  # where the client is a library of its own, see scripts/librdkafka
    target_sources(laneway_library PRIVATE ${LANEWAY_LIBRDKAFKA_FOLDER}/lib/librdkafka.o)
  endif()
  list(JOIN LANEWAY_LIBRDKAFKA_REQUIRES ", " client)
endif()
set(requires "${client}, libssl, libcrypto, libcurl, cpp-httplib, yaml-cpp, spdlog, prometheus-cpp-core, libsystemd")
string(REPLACE " >= " ">=" modules "${requires}")
string(REPLACE "," "" modules "${modules}")

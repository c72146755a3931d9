# find_package(Cartograph [COMPONENTS host...]): for each host that is installed
#
#   Cartograph::HOST         its shared library
#   Cartograph::HOST_static  its archive
#
# to be linked before the MPI library: target_link_libraries(program Cartograph::openmpi MPI::MPI_C).
# Cartograph_HOSTS are the names. Cartograph::cartograph and Cartograph::cartograph_static are those of Cartograph_HOST,
# which need not be set where one host is installed.
# Cartograph_PRELOAD is the library to preload for every MPI.

get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Cartograph_PRELOAD "${_prefix}/lib/libcartograph.so")
file(GLOB _archives "${_prefix}/lib/cartograph/*/libcartograph.a")
set(Cartograph_HOSTS)
foreach(_archive IN LISTS _archives)
  get_filename_component(_folder "${_archive}" DIRECTORY)
  get_filename_component(_host "${_folder}" NAME)
  list(APPEND Cartograph_HOSTS "${_host}")
  set(Cartograph_${_host}_FOUND TRUE)
  if(NOT TARGET Cartograph::${_host})
    # Programs that use Fortran modules reference only the MPI's own wrappers, so the library is linked as a whole.
    add_library(Cartograph::${_host} INTERFACE IMPORTED)
    set_target_properties(Cartograph::${_host} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include"
      INTERFACE_LINK_LIBRARIES
        "-Wl,--push-state,--no-as-needed;${_folder}/libcartograph.so;-Wl,--pop-state")
    add_library(Cartograph::${_host}_static INTERFACE IMPORTED)
    set_target_properties(Cartograph::${_host}_static PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include"
      INTERFACE_LINK_LIBRARIES
        "-Wl,--push-state,--whole-archive;${_archive};-Wl,--pop-state;m;dl;pthread")
  endif()
endforeach()

if(NOT Cartograph_HOST)
  list(LENGTH Cartograph_HOSTS _count)
  if(_count EQUAL 1)
    set(Cartograph_HOST "${Cartograph_HOSTS}")
  endif()
endif()
if(Cartograph_HOST AND TARGET Cartograph::${Cartograph_HOST} AND NOT TARGET Cartograph::cartograph)
  add_library(Cartograph::cartograph INTERFACE IMPORTED)
  set_target_properties(Cartograph::cartograph PROPERTIES
    INTERFACE_LINK_LIBRARIES "Cartograph::${Cartograph_HOST}")
  add_library(Cartograph::cartograph_static INTERFACE IMPORTED)
  set_target_properties(Cartograph::cartograph_static PROPERTIES
    INTERFACE_LINK_LIBRARIES "Cartograph::${Cartograph_HOST}_static")
endif()

set(Cartograph_FOUND TRUE)
foreach(_component IN LISTS Cartograph_FIND_COMPONENTS)
  if(NOT Cartograph_${_component}_FOUND AND Cartograph_FIND_REQUIRED_${_component})
    set(Cartograph_FOUND FALSE)
    set(Cartograph_NOT_FOUND_MESSAGE
      "no library for ${_component} is installed in ${_prefix}/lib/cartograph; there are: ${Cartograph_HOSTS}")
  endif()
endforeach()
unset(_prefix)
unset(_archives)
unset(_archive)
unset(_folder)
unset(_host)
unset(_count)

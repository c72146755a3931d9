! All functions with include 'mpif.h'.
      include '../check.inc'

      program mpif_h
      use checks
      implicit none
      include 'mpif.h'
      integer grid, part, graph
      call begin
      call all_calls
      call finish
      contains
      include 'calls.inc'
      end program

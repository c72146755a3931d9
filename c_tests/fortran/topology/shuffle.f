! The shuffle-exchange example of MPI-1.1 (MPI_GRAPH_NEIGHBORS): eight processes
! whose numbers have three bits; the fragment is verbatim.
      include '../check.inc'

      program shuffle
      use checks
      implicit none
      include 'mpif.h'
      integer index(8), edges(24), neighbors(3), status(MPI_STATUS_SIZE)
      integer comm, myrank, ierr, i, values(8)
      real A
      data index / 3, 6, 9, 12, 15, 18, 21, 24 /
! The example's table: exchange, shuffle and unshuffle of each node.
      data edges / 1, 0, 0,  0, 2, 4,  3, 4, 1,  2, 6, 5,
     +             5, 1, 2,  4, 3, 6,  7, 5, 3,  6, 7, 7 /
      call begin
      call MPI_GRAPH_CREATE(MPI_COMM_WORLD, 8, index, edges, .true.,
     +     comm, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'MPI_GRAPH_CREATE')

      call MPI_COMM_RANK(comm, myrank, ierr)
      A = 10 * myrank
      do i = 0, 7
          call MPI_GRAPH_NEIGHBORS(comm, i, 3, neighbors, ierr)
          call check(all(neighbors .eq. (/ ieor(i, 1), left(i),
     +        right(i) /)), 'MPI_GRAPH_NEIGHBORS')
      end do

C  assume:  each process has stored a real number A.
C  extract neighborhood information
      CALL MPI_COMM_RANK(comm, myrank, ierr)
      CALL MPI_GRAPH_NEIGHBORS(comm, myrank, 3, neighbors, ierr)
C  perform exchange permutation
      CALL MPI_SENDRECV_REPLACE(A, 1, MPI_REAL, neighbors(1), 0,
     +     neighbors(1), 0, comm, status, ierr)
      call check(nint(A) .eq. 10 * ieor(myrank, 1), 'exchange')
C  perform shuffle permutation
      CALL MPI_SENDRECV_REPLACE(A, 1, MPI_REAL, neighbors(2), 0,
     +     neighbors(3), 0, comm, status, ierr)
C  What is here now was exchanged at the process that shuffles to here.
      call check(nint(A) .eq. 10 * ieor(right(myrank), 1), 'shuffle')
C  perform unshuffle permutation
      CALL MPI_SENDRECV_REPLACE(A, 1, MPI_REAL, neighbors(3), 0,
     +     neighbors(2), 0, comm, status, ierr)
      call check(nint(A) .eq. 10 * ieor(myrank, 1), 'unshuffle')

! In the order of ranks, whichever process has each.
      call MPI_ALLGATHER(nint(A), 1, MPI_INTEGER, values, 1,
     +     MPI_INTEGER, comm, ierr)
      if (me .eq. 0) call say_ints('values', values)
      call MPI_COMM_FREE(comm, ierr)
      call finish

      contains

! Rotates the three bits of a number.
      integer function left(node)
      integer node
      left = ishftc(node, 1, 3)
      end function

      integer function right(node)
      integer node
      right = ishftc(node, -1, 3)
      end function
      end program

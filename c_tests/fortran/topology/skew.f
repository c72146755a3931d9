! The skewed array of MPI-1.1 (MPI_CART_SHIFT): one REAL on each process of a
! periodic grid; the fragment is verbatim.
      include '../check.inc'

      program skew
      use checks
      implicit none
      include 'mpif.h'
      integer maxdims
      parameter (maxdims = 2)
      integer dims(maxdims), coords(maxdims), status(MPI_STATUS_SIZE)
      integer comm, rank, source, dest, ierr, row, i, values(100)
      logical periods(maxdims)
      real A
      data dims / maxdims * 0 /, periods / maxdims * .true. /
      call begin
      call MPI_DIMS_CREATE(ranks, maxdims, dims, ierr)
      call MPI_CART_CREATE(MPI_COMM_WORLD, maxdims, dims, periods,
     +     .true., comm, ierr)
      call check(ierr .eq. MPI_SUCCESS, 'MPI_CART_CREATE')
      call MPI_COMM_RANK(comm, rank, ierr)
      A = rank

C find process rank
      CALL MPI_COMM_RANK(comm, rank, ierr)
C find cartesian coordinates
      CALL MPI_CART_COORDS(comm, rank, maxdims, coords, ierr)
C compute shift source and destination
      CALL MPI_CART_SHIFT(comm, 0, coords(2), source, dest, ierr)
C skew array
      CALL MPI_SENDRECV_REPLACE(A, 1, MPI_REAL, dest, 0, source, 0,
     +     comm, status, ierr)

! Column i has moved down by i steps: A is the rank of the process i rows up in
! this column.
      row = modulo(coords(1) - coords(2), dims(1))
      call check(nint(A) .eq. row * dims(2) + coords(2), 'skewed')
      call check(source .eq. row * dims(2) + coords(2), 'source')
! In the order of ranks, whichever process has each.
      call MPI_ALLGATHER(nint(A), 1, MPI_INTEGER, values, 1,
     +     MPI_INTEGER, comm, ierr)
      if (me .eq. 0) then
          do i = 0, dims(1) - 1
              call say_ints('row', values(i*dims(2)+1:(i+1)*dims(2)))
          end do
      end if
      call MPI_COMM_FREE(comm, ierr)
      call finish
      end program

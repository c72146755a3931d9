! Sends messages by Fortran's names and prints the expected recording, like record.c. MODULE selects the interface to
! MPI: 0 mpif.h, 1 the module mpi, 2 mpi_f08.
program record
#if MODULE == 1
  use mpi
#elif MODULE == 2
  use mpi_f08
#endif
  implicit none
#if MODULE == 0
  include 'mpif.h'
#endif
#if MODULE == 2
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#else
#define COMM integer
#define REQUEST integer
#define WINDOW integer
#endif
  integer, parameter :: tag = 3
  integer :: rank, size, next, last, ierror, i
  integer :: messages(0:63) = 0, bytes(0:63) = 0
  integer, asynchronous :: out(64) = 0, in(64 * 64) = 0
  integer :: dims(1), room(64)
  logical :: periodic(1)
  integer(MPI_ADDRESS_KIND) :: length, place
  COMM :: turned, ring
  REQUEST :: requests(2)
  WINDOW :: win
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)

  call MPI_Irecv(in, 64, MPI_INTEGER, last, tag, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send(out, 1, MPI_INTEGER, next, tag, MPI_COMM_WORLD, ierror)
  call expect(next, 4)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Isend(out, 2, MPI_INTEGER, next, tag, MPI_COMM_WORLD, requests(1), ierror)
  call expect(next, 8)
  call MPI_Recv(in, 64, MPI_INTEGER, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)

  ! The order of ranks is reversed: the previous process is the next rank.
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, turned, ierror)
  i = size - 1 - rank
  call MPI_Sendrecv(out, 3, MPI_INTEGER, mod(i + 1, size), tag, in, 64, MPI_INTEGER, &
       mod(i + size - 1, size), tag, turned, MPI_STATUS_IGNORE, ierror)
  call expect(last, 12)

  call MPI_Send_init(out, 4, MPI_INTEGER, next, tag, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv_init(in, 64, MPI_INTEGER, last, tag, MPI_COMM_WORLD, requests(2), ierror)
  do i = 1, 3
     call MPI_Startall(2, requests, ierror)
     call expect(next, 16)
     call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  dims(1) = size
  periodic(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, .false., ring, ierror)
  call MPI_Neighbor_alltoall(out, 5, MPI_INTEGER, in, 5, MPI_INTEGER, ring, ierror)
  call expect(last, 20)
  call expect(next, 20)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, in, 6, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  do i = 0, size - 1
     if (i /= rank) call expect(i, 24)
  end do

  length = 4 * 64
  place = 0
  call MPI_Win_create(room, length, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(out, 7, MPI_INTEGER, next, place, 7, MPI_INTEGER, win, ierror)
  call expect(next, 28)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_free(win, ierror)

  do i = 0, size - 1
     if (messages(i) > 0) write (*, '(I0,A,I0,A,I0,A,I0,A)') rank, ' {"sent":{"to":', i, &
          ',"messages":', messages(i), ',"bytes":', bytes(i), '}}'
  end do
  call MPI_Finalize(ierror)
contains
  subroutine expect(to, count)
    integer, intent(in) :: to, count
    messages(to) = messages(to) + 1
    bytes(to) = bytes(to) + count
  end subroutine
end program

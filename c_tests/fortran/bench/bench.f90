! Local queries by their Fortran names, alternately by the host and by Cartograph, on one process; see
! c_tests/bench/bench.h. Link with c_tests/bench/bench_fortran.c.
!
!   bench_fortran          nanoseconds a call, medians
!   bench_fortran count    instructions a call, under callgrind: a dump for each case and side
module bench_c
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    function bench_procedure(name, of) bind(C) result(procedure)
      import :: c_char, c_int, c_funptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: of
      type(c_funptr) :: procedure
    end function
    subroutine bench_communicators(of, grid, graph, dist_graph) bind(C)
      import :: c_int
      integer(c_int), value :: of
      integer(c_int), intent(out) :: grid, graph, dist_graph
    end subroutine
    ! Enclose the measured calls.
    subroutine bench_start() bind(C)
    end subroutine
    function bench_stop(name, of, calls) bind(C) result(nanoseconds)
      import :: c_char, c_int, c_double
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: of, calls
      real(c_double) :: nanoseconds
    end function
    subroutine bench_report(name, host, ours) bind(C)
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: host, ours
    end subroutine
  end interface

  ! MPI procedures by their number of arguments, all of which are passed by address.
  abstract interface
    subroutine of_3(a, b, ierror)
      integer :: a, b(*), ierror
    end subroutine
    subroutine of_4(a, b, c, ierror)
      integer :: a, b(*), c(*), ierror
    end subroutine
    subroutine of_5(a, b, c, d, ierror)
      integer :: a, b(*), c(*), d(*), ierror
    end subroutine
    subroutine of_6(a, b, c, d, e, ierror)
      integer :: a, b(*), c(*), d(*), e(*), ierror
    end subroutine
    subroutine of_8(a, b, c, d, e, f, g, ierror)
      integer :: a, b(*), c(*), d(*), e(*), f(*), g(*), ierror
    end subroutine
  end interface
end module

program bench
  use bench_c
  implicit none
  include 'mpif.h'
  integer, parameter :: batches = 41, queries = 13
  character(len=40), parameter :: names(queries) = [character(len=40) :: &
    'cart_rank', 'cart_coords', 'cart_shift', 'cart_get', 'cartdim_get', 'topo_test', &
    'topo_test, MPI_COMM_WORLD', 'graph_neighbors', 'graph_neighbors_count', 'graphdims_get', &
    'graph_get', 'dist_graph_neighbors', 'dist_graph_neighbors_count']
  integer :: grid(0:1), graph(0:1), dist_graph(0:1)
  real(c_double) :: seconds(batches, 0:1), middle(0:1), took
  character(len=8) :: mode
  integer :: ierror, q, b, of

  call get_command_argument(1, mode)
  call MPI_INIT(ierror)
  do of = 0, 1
    call bench_communicators(of, grid(of), graph(of), dist_graph(of))
  end do
  do q = 1, queries
    if (mode == 'count') then
      ! If a case has several dumps, the last one counts.
      do of = 0, 1
        took = batch(names(q), of, 10)
        took = batch(names(q), of, 1000)
      end do
      cycle
    end if
    ! The first batches warm up.
    do b = -3, batches
      do of = 0, 1
        took = batch(names(q), of, 20000)
        if (b > 0) seconds(b, of) = took
      end do
    end do
    do of = 0, 1
      middle(of) = median(seconds(:, of))
    end do
    call bench_report(trim(names(q)) // c_null_char, middle(0), middle(1))
  end do
  do of = 0, 1
    call MPI_COMM_FREE(grid(of), ierror)
    call MPI_COMM_FREE(graph(of), ierror)
    call MPI_COMM_FREE(dist_graph(of), ierror)
  end do
  call MPI_FINALIZE(ierror)

contains

  ! Nanoseconds per call of a query, on one side.
  function batch(query, of, calls) result(nanoseconds)
    character(len=*), intent(in) :: query
    integer, intent(in) :: of, calls
    real(c_double) :: nanoseconds
    procedure(of_3), pointer :: p3
    procedure(of_4), pointer :: p4
    procedure(of_5), pointer :: p5
    procedure(of_6), pointer :: p6
    procedure(of_8), pointer :: p8
    type(c_funptr) :: address
    character(len=40) :: name
    integer :: a(16), b(16), c(16), d(16), ierror, i

    name = query
    if (index(name, ',') > 0) name = name(:index(name, ',') - 1)
    address = bench_procedure('mpi_' // trim(name) // '_' // c_null_char, of)
    a = 0
    call bench_start()
    select case (query)
    case ('cart_rank')
      call c_f_procpointer(address, p4)
      do i = 1, calls
        call p4(grid(of), a, b, ierror)
      end do
    case ('cart_coords')
      call c_f_procpointer(address, p5)
      do i = 1, calls
        call p5(grid(of), [0], [3], a, ierror)
      end do
    case ('cart_shift')
      call c_f_procpointer(address, p6)
      do i = 1, calls
        call p6(grid(of), [1], [1], a, b, ierror)
      end do
    case ('cart_get')
      call c_f_procpointer(address, p6)
      do i = 1, calls
        call p6(grid(of), [3], a, b, c, ierror)
      end do
    case ('cartdim_get', 'topo_test')
      call c_f_procpointer(address, p3)
      do i = 1, calls
        call p3(grid(of), a, ierror)
      end do
    case ('topo_test, MPI_COMM_WORLD')
      call c_f_procpointer(address, p3)
      do i = 1, calls
        call p3(MPI_COMM_WORLD, a, ierror)
      end do
    case ('graph_neighbors')
      call c_f_procpointer(address, p5)
      do i = 1, calls
        call p5(graph(of), [0], [6], a, ierror)
      end do
    case ('graph_neighbors_count')
      call c_f_procpointer(address, p4)
      do i = 1, calls
        call p4(graph(of), [0], a, ierror)
      end do
    case ('graphdims_get')
      call c_f_procpointer(address, p4)
      do i = 1, calls
        call p4(graph(of), a, b, ierror)
      end do
    case ('graph_get')
      call c_f_procpointer(address, p6)
      do i = 1, calls
        call p6(graph(of), [1], [6], a, b, ierror)
      end do
    case ('dist_graph_neighbors')
      call c_f_procpointer(address, p8)
      do i = 1, calls
        call p8(dist_graph(of), [6], a, b, [6], c, d, ierror)
      end do
    case default
      call c_f_procpointer(address, p5)
      do i = 1, calls
        call p5(dist_graph(of), a, b, c, ierror)
      end do
    end select
    nanoseconds = bench_stop(trim(query) // c_null_char, of, calls)
  end function

  ! Insertion sort: there are few.
  function median(values) result(middle)
    real(c_double), intent(in) :: values(:)
    real(c_double) :: middle, sorted(size(values)), value
    integer :: i, j
    do i = 1, size(values)
      value = values(i)
      j = i - 1
      do while (j > 0)
        if (sorted(j) <= value) exit
        sorted(j + 1) = sorted(j)
        j = j - 1
      end do
      sorted(j + 1) = value
    end do
    middle = sorted(size(values) / 2 + 1)
  end function
end program

! The Poisson solver of the last example in MPI-1.1's chapter, completed: -laplace(u) = f on a periodic square, by
! Jacobi's method on a two-dimensional grid of processes.
!
! An ordinary program. Its output depends neither on the number of processes nor on their places: a maximum does not
! depend on the order, and rank 0 sums the checksum in the order of the points.
program poisson
    use mpi
    implicit none
    integer, parameter :: ndims = 2, num_neigh = 4, points = 24, steps = 100, every = 20
    integer, parameter :: real8 = kind(1d0)
    real(real8), parameter :: h = 1d0 / points, tau = 2 * acos(-1d0)
    logical, parameter :: reorder = .true.
    integer :: comm, comm_cart, dims(ndims), neigh_def(ndims), ierr
    integer :: neigh_rank(num_neigh), own_position(ndims), i, j, it, processes, rank
    integer :: first(ndims), last(ndims), row
    logical :: periods(ndims)
    real(real8), allocatable, asynchronous :: u(:, :), f(:, :)
    real(real8) :: residual

    call MPI_INIT(ierr)
    comm = MPI_COMM_WORLD
    ! Set process grid size and periodicity
    call MPI_COMM_SIZE(comm, processes, ierr)
    dims = 0
    call MPI_DIMS_CREATE(processes, ndims, dims, ierr)
    periods(1) = .true.
    periods(2) = .true.
    ! Create a grid structure in WORLD group and inquire about own position
    call MPI_CART_CREATE(comm, ndims, dims, periods, reorder, comm_cart, ierr)
    call MPI_CART_GET(comm_cart, ndims, dims, periods, own_position, ierr)
    call MPI_COMM_RANK(comm_cart, rank, ierr)
    ! Look up the ranks for the neighbors. Own process coordinates are (i,j).
    ! Neighbors are (i-1,j), (i+1,j), (i,j-1), (i,j+1)
    i = own_position(1)
    j = own_position(2)
    neigh_def(1) = i - 1
    neigh_def(2) = j
    call MPI_CART_RANK(comm_cart, neigh_def, neigh_rank(1), ierr)
    neigh_def(1) = i + 1
    neigh_def(2) = j
    call MPI_CART_RANK(comm_cart, neigh_def, neigh_rank(2), ierr)
    neigh_def(1) = i
    neigh_def(2) = j - 1
    call MPI_CART_RANK(comm_cart, neigh_def, neigh_rank(3), ierr)
    neigh_def(1) = i
    neigh_def(2) = j + 1
    call MPI_CART_RANK(comm_cart, neigh_def, neigh_rank(4), ierr)
    ! Initialize the grid functions and start the iteration
    first = begin_of(own_position, dims)
    last = begin_of(own_position + 1, dims) - 1
    allocate (u(first(1)-1:last(1)+1, first(2)-1:last(2)+1))
    allocate (f(first(1):last(1), first(2):last(2)))
    call init
    do it = 0, steps
        call exchange
        call relax
        if (mod(it, every) == 0) then
            call MPI_ALLREDUCE(MPI_IN_PLACE, residual, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &
                comm_cart, ierr)
            if (rank == 0) write (*, '(a,i5,a,es24.17)') 'step', it, ' residual', residual
        end if
    end do
    call output
    call MPI_TYPE_FREE(row, ierr)
    call MPI_COMM_FREE(comm_cart, ierr)
    call MPI_FINALIZE(ierr)

contains

    ! The first point of this process.
    elemental integer function begin_of(place, places)
        integer, intent(in) :: place, places
        begin_of = place * points / places
    end function

    subroutine init
        real(real8) :: x, y
        u = 0
        do j = first(2), last(2)
            do i = first(1), last(1)
                x = i * h
                y = j * h
                f(i, j) = sin(tau * x) * cos(tau * y) + sin(3 * tau * x) * sin(2 * tau * y)
            end do
        end do
        ! Points along the second dimension are not contiguous.
        call MPI_TYPE_VECTOR(size(f, 2), 1, size(u, 1), MPI_DOUBLE_PRECISION, row, ierr)
        call MPI_TYPE_COMMIT(row, ierr)
    end subroutine

    ! Sends the outermost points to the neighbors, and receives theirs into the frame. The tag is the direction of
    ! travel: both neighbors may be the same process.
    subroutine exchange
        integer, parameter :: doubles = MPI_DOUBLE_PRECISION
        integer :: n, requests(2 * num_neigh)
        n = size(f, 1)
        call MPI_IRECV(u(first(1)-1, first(2)), 1, row, neigh_rank(1), 2, &
            comm_cart, requests(1), ierr)
        call MPI_IRECV(u(last(1)+1, first(2)), 1, row, neigh_rank(2), 1, &
            comm_cart, requests(2), ierr)
        call MPI_IRECV(u(first(1), first(2)-1), n, doubles, neigh_rank(3), 4, &
            comm_cart, requests(3), ierr)
        call MPI_IRECV(u(first(1), last(2)+1), n, doubles, neigh_rank(4), 3, &
            comm_cart, requests(4), ierr)
        call MPI_ISEND(u(first(1), first(2)), 1, row, neigh_rank(1), 1, &
            comm_cart, requests(5), ierr)
        call MPI_ISEND(u(last(1), first(2)), 1, row, neigh_rank(2), 2, &
            comm_cart, requests(6), ierr)
        call MPI_ISEND(u(first(1), first(2)), n, doubles, neigh_rank(3), 3, &
            comm_cart, requests(7), ierr)
        call MPI_ISEND(u(first(1), last(2)), n, doubles, neigh_rank(4), 4, &
            comm_cart, requests(8), ierr)
        call MPI_WAITALL(2 * num_neigh, requests, MPI_STATUSES_IGNORE, ierr)
    end subroutine

    ! One step of Jacobi's method; residual is the largest one of this process before the step.
    subroutine relax
        real(real8) :: next(first(1):last(1), first(2):last(2)), around
        residual = 0
        do j = first(2), last(2)
            do i = first(1), last(1)
                around = u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1)
                residual = max(residual, abs(f(i, j) + (around - 4 * u(i, j)) / (h * h)))
                next(i, j) = (around + h * h * f(i, j)) / 4
            end do
        end do
        u(first(1):last(1), first(2):last(2)) = next
    end subroutine

    ! The value at a point after all steps: both waves of the source are eigenvectors of Jacobi's method, so each step
    ! leaves a fixed part of their difference from the solution.
    real(real8) function solution(i, j)
        integer, intent(in) :: i, j
        real(real8) :: part(2), x, y
        part(1) = cos(tau * h)
        part(2) = (cos(3 * tau * h) + cos(2 * tau * h)) / 2
        part = h * h / 4 * (1 - part**(steps + 1)) / (1 - part)
        x = i * h
        y = j * h
        solution = part(1) * sin(tau * x) * cos(tau * y) + part(2) * sin(3 * tau * x) * sin(2 * tau * y)
    end function

    ! Gathers all blocks on rank 0 by their coordinates, and counts the wrong points.
    subroutine output
        real(real8) :: whole(0:points-1, 0:points-1), block(points * points), total
        integer :: from(ndims), to(ndims), place(ndims), r, n, wrong
        if (rank /= 0) then
            n = size(f)
            block(1:n) = reshape(u(first(1):last(1), first(2):last(2)), [n])
            call MPI_SEND(block, n, MPI_DOUBLE_PRECISION, 0, 1, comm_cart, ierr)
            return
        end if
        do r = 0, processes - 1
            call MPI_CART_COORDS(comm_cart, r, ndims, place, ierr)
            from = begin_of(place, dims)
            to = begin_of(place + 1, dims) - 1
            n = product(to - from + 1)
            if (r == 0) then
                block(1:n) = reshape(u(first(1):last(1), first(2):last(2)), [n])
            else
                call MPI_RECV(block, n, MPI_DOUBLE_PRECISION, r, 1, comm_cart, &
                    MPI_STATUS_IGNORE, ierr)
            end if
            whole(from(1):to(1), from(2):to(2)) = reshape(block(1:n), to - from + 1)
        end do
        total = 0
        wrong = 0
        do j = 0, points - 1
            do i = 0, points - 1
                total = total + whole(i, j) * mod(i * points + j, 97)
                if (abs(whole(i, j) - solution(i, j)) > 1d-14) wrong = wrong + 1
            end do
        end do
        write (*, '(a,es25.17)') 'norm', sqrt(sum(whole**2)), 'checksum', total
        write (*, '(i0,a,i0,a)') points**2 - wrong, ' passed, ', wrong, ' failed'
        if (wrong /= 0) stop 1
    end subroutine
end program

! fft SIDE ROWS COLUMNS ITERATIONS: forward and backward FFTs of a cube by 2DECOMP&FFT
! (2decomp-fft/2decomp-fft a9ed2af with fftw_f03, by -O2: its own -O3 crashes), with a checksum and the time.
program fft
   use decomp_2d
   use decomp_2d_fft
   use decomp_2d_constants
   use decomp_2d_mpi
   use MPI
   implicit none
   type(decomp_info), pointer :: ph => null()
   complex(mytype), allocatable :: a(:, :, :), b(:, :, :)
   double precision :: seconds, slowest
   double complex :: own, checksum
   integer :: words(4), i, j, k, error
   character(32) :: word

   call MPI_INIT(error)
   do i = 1, 4
      call get_command_argument(i, word)
      read (word, *) words(i)
   end do
   call decomp_2d_init(words(1), words(1), words(1), words(2), words(3), complex_pool=.true.)
   call decomp_2d_fft_init(PHYSICAL_IN_X)
   ph => decomp_2d_fft_get_ph()
   call alloc_x(a, ph, .true.)
   call alloc_z(b, ph, .true.)
   do k = ph%xst(3), ph%xen(3)
      do j = ph%xst(2), ph%xen(2)
         do i = ph%xst(1), ph%xen(1)
            a(i, j, k) = cmplx(sin(0.37d0*i + 0.11d0*j*k), cos(0.21d0*k - 0.3d0*i*j), mytype)
         end do
      end do
   end do
   call MPI_BARRIER(MPI_COMM_WORLD, error)
   seconds = MPI_WTIME()
   do i = 1, words(4)
      call decomp_2d_fft_3d(a, b, DECOMP_2D_FFT_FORWARD)
      call decomp_2d_fft_3d(b, a, DECOMP_2D_FFT_BACKWARD)
      a = a/dble(words(1))**3
   end do
   seconds = MPI_WTIME() - seconds
   own = 0
   do k = ph%zst(3), ph%zen(3)
      do j = ph%zst(2), ph%zen(2)
         do i = ph%zst(1), ph%zen(1)
            own = own + b(i, j, k)*cos(0.01d0*i + 0.02d0*j + 0.03d0*k)
         end do
      end do
   end do
   call MPI_REDUCE(seconds, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, error)
   call MPI_REDUCE(own, checksum, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD, error)
   if (nrank == 0) write (*, '(a, 2es14.6, /, a, f10.4)') 'checksum ', checksum, 'FFTs in seconds ', slowest
   call decomp_2d_fft_finalize
   call decomp_2d_finalize
   call MPI_FINALIZE(error)
end program

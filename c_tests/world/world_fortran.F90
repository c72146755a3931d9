! MPI_COMM_WORLD in another order, in Fortran: by mpif.h (MODULE=0), use mpi (1) or use mpi_f08 (2). The first argument is
! the list of new ranks in the order of the launcher's.
program world_fortran
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
  type(MPI_Comm) :: copy
  type(MPI_Group) :: group
#else
  integer :: copy, group
#endif
  integer :: order(0:99), old, me, ranks, ierror, i, got, passed, failed, sums(2), key, outcome
  integer, allocatable :: all(:)
  integer(MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  character(len=400) :: list
  integer :: copies, deletes, worlds
  common /counted/ copies, deletes, worlds
#if MODULE != 2
  external copied, deleted
#endif
  passed = 0
  failed = 0
  copies = 0
  deletes = 0
  worlds = 0
  call get_command_argument(1, list)
  ranks = 1
  do i = 1, len_trim(list)
    if (list(i:i) == ',') ranks = ranks + 1
  end do
  read (list, *) order(0:ranks - 1)
  old = told_rank()
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, i, ierror)
  call check(i == ranks .and. me == order(old), 'rank')
  call check(told_rank() == me, 'variable')
  call PMPI_Comm_rank(MPI_COMM_WORLD, i, ierror)
  call check(i == me, 'PMPI rank')
  allocate (all(0:ranks - 1))
  call MPI_Allgather(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call check(all(0) == 0 .and. all(ranks - 1) == ranks - 1, 'allgather')
  call MPI_Sendrecv(me, 1, MPI_INTEGER, mod(me + 1, ranks), 3, got, 1, MPI_INTEGER, mod(me + ranks - 1, ranks), 3, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call check(got == mod(me + ranks - 1, ranks), 'sendrecv')
  call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
  call MPI_Group_rank(group, got, ierror)
  call check(got == me, 'group')
  call MPI_Group_free(group, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  call MPI_Comm_compare(MPI_COMM_WORLD, copy, outcome, ierror)
  call check(outcome == MPI_CONGRUENT, 'compare')
  call MPI_Comm_free(copy, ierror)

  ! The host's attributes, and the program's own.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag .and. value >= 32767, 'MPI_TAG_UB')
  extra = 12
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, ierror)
  value = 77
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  value = 0
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
  call check(flag .and. value == 77, 'attribute')
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  value = 0
  call MPI_Comm_get_attr(copy, key, value, flag, ierror)
  call check(flag .and. value == 77, 'attribute of a copy')
  call MPI_Comm_free(copy, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierror)
  call check(.not. flag, 'no attribute')
  call MPI_Comm_free_keyval(key, ierror)
#if MODULE != 2
  call MPI_Comm_create_keyval(copied, deleted, key, extra, ierror)
  value = 78
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  value = 0
  call MPI_Comm_get_attr(copy, key, value, flag, ierror)
  call check(flag .and. value == 79 .and. copies == 1, 'copied attribute')
  call MPI_Comm_free(copy, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierror)
  call check(deletes == 2, 'deleted attributes')
  call check(worlds == 3, 'extra state of callbacks')
  call MPI_Comm_free_keyval(key, ierror)
  call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, i, flag, ierror)
  call check(flag .and. i >= 32767, 'MPI_Attr_get')
#endif
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierror)
  call check(ierror == MPI_SUCCESS, 'call_errhandler')
  call MPI_Send(me, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
  call check(ierror /= MPI_SUCCESS, 'error')
  call MPI_Allreduce([passed, failed], sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (me == 0) print '(i0,a,i0,a)', sums(1), ' passed, ', sums(2), ' failed'
  call MPI_Finalize(ierror)

contains

  integer function told_rank()
    character(len=20) :: text
    character(len=20), parameter :: names(3) = [character(len=20) :: 'PMI_RANK', 'OMPI_COMM_WORLD_RANK', 'PMIX_RANK']
    integer :: j, code
    told_rank = 0
    do j = 1, 3
      call get_environment_variable(names(j), text, status=code)
      if (code == 0) then
        read (text, *) told_rank
        return
      end if
    end do
  end function

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) then
      passed = passed + 1
    else
      failed = failed + 1
      print '(a,i0,2a)', 'rank ', me, ': failed: ', what
    end if
  end subroutine
end program

#if MODULE != 2
subroutine copied(comm, key, extra, value, to, flag, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: extra, value, to
  logical :: flag
  integer :: copies, deletes, worlds
  common /counted/ copies, deletes, worlds
  copies = copies + 1
  if (extra == 12) worlds = worlds + 1
  to = value + 1
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine deleted(comm, key, value, extra, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: extra, value
  integer :: copies, deletes, worlds
  common /counted/ copies, deletes, worlds
  deletes = deletes + 1
  if (extra == 12) worlds = worlds + 1
  ierror = MPI_SUCCESS
end subroutine
#endif

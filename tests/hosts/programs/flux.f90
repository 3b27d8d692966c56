! A solver: the flux through cells without volume. gfortran's run-time library handles SIGFPE in every program.
module solver
contains
  subroutine flux(mass, volume, density)
    real(8), intent(in) :: mass(:), volume(:)
    real(8), intent(out) :: density(:)
    integer :: i
    do i = 1, size(mass)
      density(i) = mass(i) / volume(i)  ! div 0/0
    end do
  end subroutine
end module

program main
  use solver
  real(8) :: mass(1001), volume(1001), density(1001)
  integer :: step
  mass = 0
  volume = 0
  volume(1:997) = 2
  do step = 1, 100
    call flux(mass, volume, density)
  end do
  print *, density(1), density(1001)
end program

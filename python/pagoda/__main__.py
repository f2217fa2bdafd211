"""`python -m pagoda --cmake-prefix` prints what CMAKE_PREFIX_PATH must hold; anything else is for the program."""
import sys

import pagoda

if sys.argv[1:] == ["--cmake-prefix"]:
    print(pagoda.cmake_prefix())
else:
    pagoda.main()

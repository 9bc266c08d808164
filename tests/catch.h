// Catch2 under the one name that its versions 2 and 3 do not share.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include "catch3.h"
#else
#include <catch2/catch.hpp>
#endif

#pragma once
// Sizes that the guest runtime and the pre-processor agree on. Plain C: compiled into guests and into the build driver.

// Frames are 0.1 to 1 KiB, so this holds some 10,000 of them; 100,000 where they are small.
#define GODWIT_UNWIND_BYTES (8 << 20)

;; A mobile module written by hand: prints the digits 0 to 9, polling before each, with one random letter at the end.
;; ticker.wasm is made of it by: wat2wasm ticker.wat -o ticker.wasm. The tests append the godwit section.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "\10\00\00\00\01\00\00\00") ;; one vector: address 16, one byte
  (global $unwinding (export "godwit.unwinding") (mut i32) (i32.const 0))
  (global $rewinding (export "godwit.rewinding") (mut i32) (i32.const 0))
  (global $counter (export "godwit.counter") (mut i32) (i32.const 0))
  (global $digit (export "godwit.g0") (mut i32) (i32.const 0))
  (global $at_call (export "godwit.g1") (mut i32) (i32.const 0)) ;; stopped in fd_write, not at the poll
  (func (export "godwit.begin_unwind") (global.set $unwinding (i32.const 1)))
  (func $write
    (i32.store8 (i32.const 16) (i32.add (i32.const 48) (global.get $digit)))
    (drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 4)))
    (global.set $at_call (global.get $unwinding)))
  (func (export "_start")
    (global.set $rewinding (i32.const 0))
    (loop $next
      (if (i32.eqz (global.get $at_call)) (then
        (global.set $counter (i32.sub (global.get $counter) (i32.const 1)))
        (if (i32.lt_s (global.get $counter) (i32.const 0)) (then
          (global.set $unwinding (i32.const 1))
          (return)))))
      (call $write)
      (if (global.get $unwinding) (then (return)))
      (global.set $digit (i32.add (global.get $digit) (i32.const 1)))
      (br_if $next (i32.lt_s (global.get $digit) (i32.const 10))))
    (drop (call $random_get (i32.const 16) (i32.const 1)))
    (i32.store8 (i32.const 16) (i32.add (i32.const 97) (i32.rem_u (i32.load8_u (i32.const 16)) (i32.const 26))))
    (drop (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 4)))
    (call $proc_exit (i32.const 3))))

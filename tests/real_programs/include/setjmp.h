// wasi-libc has none. Lua includes it, and is told by LUAI_TRY and LUAI_THROW to do without: an error ends it.

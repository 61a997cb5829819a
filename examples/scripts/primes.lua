-- Prints every 500th prime up to the n-th; n is the first argument.
local wanted = tonumber(arg[1] or "2000")
local primes, candidate = {}, 2
while #primes < wanted do
  local prime = true
  for _, p in ipairs(primes) do
    if p * p > candidate then break end
    if candidate % p == 0 then prime = false; break end
  end
  if prime then
    primes[#primes + 1] = candidate
    if #primes % 500 == 0 then print(#primes, candidate) end
  end
  candidate = candidate + 1
end

"""Prints every 500th prime up to the n-th; n is the first argument."""

import sys

wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
primes = []
candidate = 2
while len(primes) < wanted:
    prime = True
    for p in primes:
        if p * p > candidate:
            break
        if candidate % p == 0:
            prime = False
            break
    if prime:
        primes.append(candidate)
        if len(primes) % 500 == 0:
            print(len(primes), candidate, sep="\t", flush=True)
    candidate += 1

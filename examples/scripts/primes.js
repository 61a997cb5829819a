// Prints every 500th prime up to the n-th; n is the first argument.
var wanted = Number(scriptArgs[0] || 2000);
var primes = [];
for (var candidate = 2; primes.length < wanted; candidate++) {
  var prime = true;
  for (var i = 0; i < primes.length && primes[i] * primes[i] <= candidate; i++) {
    if (candidate % primes[i] === 0) {
      prime = false;
      break;
    }
  }
  if (prime) {
    primes.push(candidate);
    if (primes.length % 500 === 0) print(primes.length + "\t" + candidate);
  }
}

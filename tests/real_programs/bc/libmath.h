// bc's mathematics library, which its build would compile with an earlier bc. Left out: the test does not use -l.
{0};

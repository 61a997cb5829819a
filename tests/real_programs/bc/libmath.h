// bc's mathematics library, which its build would compile with an earlier bc: left out, nobody asks for it with -l.
{0};

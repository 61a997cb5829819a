"""What people get: the programs as `make install` and the Debian package leave them, away from the source tree and from the build.

With GODWIT_SCALE > 1 the package is also installed in a fresh Debian 12 (debootstrap, the network and root are needed).
"""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.harness import GODWIT, SCALE, SCRATCH
from support.programs import SOURCE_ROOT

BUILD = SOURCE_ROOT / "build"
TREE = BUILD / "release"
PROGRAMS = ("godwit", "godwit-c++", "godwit-cc", "godwit-daemon", "godwit-network-switch", "godwit-worker")
HELLO = '#include <stdio.h>\nint main(void) { puts("hello from afar"); }\n'
PATIENCE_SECONDS = 300


def call(*words, check=True, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} -> {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


class Elsewhere(unittest.TestCase):
    """A folder of programs, used where the build tree cannot be seen."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-inst-")  # sockets have short paths
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.home = self.folder / "home"
        self.home.mkdir()
        (self.home / "hello.c").write_text(HELLO)

    def there(self, *words, check=True) -> subprocess.CompletedProcess:
        """Runs a command; as root with an empty folder in place of the build tree."""
        environment = {"HOME": str(self.home), "PATH": f"{words[0].parent}:/usr/bin:/bin", "XDG_CACHE_HOME": str(self.folder / "cache")}
        if os.geteuid() == 0:
            hide = f'mount -t tmpfs none {BUILD} && exec "$@"'
            words = ("unshare", "--mount", "sh", "-c", hide, "sh", *words)
        return call(*words, check=check, cwd=self.home, env=environment)

    def check_that_it_runs(self, programs: Path) -> None:
        godwit = programs / "godwit"
        self.assertEqual(self.there(godwit, "--version").stdout.split()[-1], json.loads(self.there(godwit, "version", "-o", "json").stdout)["godwit"])
        self.assertEqual(self.there(godwit, "run", "hello.c").stdout, "hello from afar\n")
        socket = self.folder / "socket"
        up = json.loads(self.there(godwit, "up", "--state", self.folder / "state", "--socket", socket, "--listen", "127.0.0.1:0", "-o", "json").stdout)
        self.addCleanup(call, godwit, "down", "--socket", socket, check=False)
        job = self.there(godwit, "run", "hello.c", "--tasks", "3", "--socket", socket)
        self.assertEqual(job.stdout, 3 * "hello from afar\n", job.stderr)
        self.assertEqual(json.loads(self.there(godwit, "down", "--socket", socket, "-o", "json").stdout)["id"], up["id"])

    def check_libraries(self, programs: Path) -> None:
        """Nothing names the build tree; what is not Debian's is found beside the program."""
        for name in ("godwit", "godwit-daemon", "godwit-worker", "godwit-cc"):
            dynamic = call("readelf", "-d", programs / name).stdout
            self.assertNotIn(str(SOURCE_ROOT), dynamic, name)
            missing = [line for line in call("ldd", programs / name).stdout.splitlines() if "not found" in line]
            self.assertEqual(missing, [], name)
        for name, library in (("godwit", "libbinaryen.so"), ("godwit-worker", "libnode.so.108")):
            found = next(line.split("=>")[1].split()[0] for line in call("ldd", programs / name).stdout.splitlines() if library in line)
            self.assertTrue(Path(found).resolve().is_relative_to(self.folder.resolve()), found)


class BuildFolder(Elsewhere):
    def test_a_copy_of_build_bin_runs_anywhere(self):
        copy = self.folder / "copied"
        copy.mkdir()
        for name in ("godwit", "godwit-daemon", "godwit-worker", "godwit-cc", "lib"):
            source = GODWIT.parent / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
        self.check_libraries(copy)
        self.check_that_it_runs(copy)


class Installed(Elsewhere):
    def install(self, prefix: str) -> Path:
        """The moved folder that was `prefix`."""
        destination = self.folder / "dest"
        call("cmake", "--install", TREE, "--prefix", prefix, "--strip", env={**os.environ, "DESTDIR": str(destination)})
        moved = self.folder / "moved"
        shutil.move(destination / prefix.strip("/"), moved)
        return moved

    def test_an_installation_can_be_moved(self):
        moved = self.install("/opt/godwit")
        self.assertEqual(sorted(path.name for path in (moved / "bin").iterdir()), sorted(PROGRAMS))
        self.check_libraries(moved / "bin")
        self.check_that_it_runs(moved / "bin")
        page = call("man", "-l", "-P", "cat", moved / "share/man/man1/godwit-run.1", env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        self.assertIn("godwit run", page.stdout)
        script = moved / "share/bash-completion/completions/godwit"
        complete = f"source {script}; COMP_WORDS=(godwit jo); COMP_CWORD=1; _godwit; echo ${{COMPREPLY[@]}}"
        self.assertEqual(call("bash", "-c", complete).stdout, "job\n")
        self.assertTrue((moved / "share/zsh/site-functions/_godwit").is_file())
        self.assertTrue((moved / "share/fish/vendor_completions.d/godwit.fish").is_file())
        unit = (moved / "lib/systemd/user/godwit.service").read_text()
        self.assertIn('ExecStart="/opt/godwit/bin/godwit" "up" "--foreground"', unit)

    def test_completion_offers_jobs_of_the_daemon(self):
        socket = self.folder / "socket"
        environment = {**os.environ, "HOME": str(self.home), "GODWIT_SOCKET": str(socket), "XDG_CACHE_HOME": str(SCRATCH / "cache"),
                       "PATH": f"{GODWIT.parent}:{os.environ['PATH']}"}
        call(GODWIT, "up", "--state", self.folder / "state", "--listen", "127.0.0.1:0", env=environment)
        self.addCleanup(call, GODWIT, "down", check=False, env=environment)
        job = call(GODWIT, "run", self.home / "hello.c", "--tasks", "2", "--detach", "-o", "quiet", env=environment).stdout.strip()
        script = f"source <(godwit completion bash); COMP_WORDS=(godwit job show ''); COMP_CWORD=3; _godwit; echo ${{COMPREPLY[@]}}"
        self.assertIn(job[:8], call("bash", "-c", script, env=environment).stdout.split())
        offered = call("fish", "-c", "godwit completion fish | source; complete -C 'godwit job show '", env=environment).stdout
        self.assertIn(job[:8], offered)


class Package(Elsewhere):
    """The .deb is made once, for all of its tests."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gw-deb-")
        cls.addClassCleanup(folder.cleanup)
        call("cpack", "--config", TREE / "CPackConfig.cmake", "-G", "DEB", "-B", folder.name, cwd=TREE)
        cls.file = next(Path(folder.name).glob("godwit_*.deb"))

    def test_it_has_everything_in_its_place_and_runs(self):
        listed = {line.split()[5].removeprefix("./") for line in call("dpkg-deb", "-c", self.file).stdout.splitlines()}
        for name in (*(f"usr/bin/{name}" for name in PROGRAMS), "usr/lib/godwit/libnode.so.108", "usr/lib/godwit/libbinaryen.so",
                     "usr/share/man/man1/godwit.1", "usr/share/man/man1/godwit-run.1", "usr/share/bash-completion/completions/godwit",
                     "usr/share/zsh/vendor-completions/_godwit", "usr/share/fish/vendor_completions.d/godwit.fish",
                     "usr/lib/systemd/user/godwit.service", "usr/share/doc/godwit/copyright", "usr/share/doc/godwit/user-guide.md"):
            self.assertIn(name, listed)
        self.assertEqual([name for name in listed if name and not "usr/".startswith(name) and not name.startswith("usr/")], [])
        depends = call("dpkg-deb", "-f", self.file, "Depends").stdout
        for package in ("libc6", "libssl3", "libseccomp2", "libprotobuf-lite32", "libsqlite3-0", "libzstd1", "libuv1", "libicu72"):
            self.assertRegex(depends, rf"\b{package}\b")
        self.assertNotIn("libnode", depends, "the package brings it along")
        self.assertIn("clang-19", call("dpkg-deb", "-f", self.file, "Recommends").stdout)
        call("dpkg", "-x", self.file, self.folder / "root")
        self.check_libraries(self.folder / "root/usr/bin")
        self.check_that_it_runs(self.folder / "root/usr/bin")
        self.assertIn('ExecStart="/usr/bin/godwit"', (self.folder / "root/usr/lib/systemd/user/godwit.service").read_text())

    @unittest.skipIf(SCALE == 1, "takes minutes and the network: only in soak")
    def test_it_installs_and_runs_in_a_fresh_debian(self):
        root = self.folder / "debian"
        call("debootstrap", "--variant=minbase", "bookworm", root, self.mirror())
        for source in Path("/etc/apt/sources.list.d").glob("*.sources"):
            shutil.copy2(source, root / "etc/apt/sources.list.d")
        shutil.copy2(self.file, root / "godwit.deb")
        (root / "root/hello.c").write_text(HELLO)
        in_it = ("unshare", "--mount", "--pid", "--fork", "chroot", root, "sh", "-ec")
        ready = "mount -t proc proc /proc; mount -t devtmpfs dev /dev 2>/dev/null || true; export DEBIAN_FRONTEND=noninteractive; "
        call(*in_it, ready + "apt-get -q update; apt-get -q install -y --no-install-recommends /godwit.deb; godwit --version; godwit version")
        call(*in_it, ready + "apt-get -q install -y clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32")
        self.assertEqual(call(*in_it, ready + "cd /root; godwit run hello.c").stdout, "hello from afar\n")

    @staticmethod
    def mirror() -> str:
        for line in call("apt-cache", "policy").stdout.splitlines():
            if "bookworm/main" in line:
                return line.split()[1]
        raise AssertionError("apt-cache policy names no source of Debian 12 (bookworm/main): run apt-get update")


if __name__ == "__main__":
    unittest.main()

"""Daemons on hosts of their own: network namespaces joined by a bridge, one state folder and one socket each."""

import concurrent.futures
import contextlib
import ctypes
import http.client
import itertools
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support.harness import GODWIT, Finished, run
from support.loop_disk import LoopDisk

PATIENCE_SECONDS = 300  # for what must happen; never what decides a test
ANSWER_SECONDS = 30  # of a daemon that is not paused
WORKER = "godwit-worker"  # the name of its process, which no test starts itself


def wait_until(what: str, holds, explain=lambda: "", seconds: float = PATIENCE_SECONDS, pause: float = 0.1) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"gave up waiting until {what}\n{explain()}")
        time.sleep(pause)


def adopt_orphans() -> None:
    """Workers of a killed daemon become our children, so that cpu_seconds() counts them."""
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "orphans cannot be adopted")


def _reap_orphans() -> None:
    """Adopted workers that have ended, and no other process: the exit code of a child that a Popen has started is for that to read."""
    for thread in os.listdir("/proc/self/task"):
        for pid in _children_of_thread(thread):
            if _name_of(pid) == WORKER:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


def _children_of_thread(thread: str) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/self/task/{thread}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


class _Commands:
    """The CPU time of commands, which ask again and again how far things are."""

    cpu_seconds = 0.0

    @classmethod
    def run(cls, words: list[str], check: bool = False) -> Finished:
        before = _children_cpu_seconds()  # no daemon is reaped while a command runs
        try:
            return run(words, check=check)
        finally:
            cls.cpu_seconds += _children_cpu_seconds() - before


def _children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_seconds() -> float:
    """Of all daemons that are gone, and of their workers."""
    _reap_orphans()
    return _children_cpu_seconds() - _Commands.cpu_seconds


class Namespace:
    """A thread that lives in a network namespace and does there what it is asked to."""

    def __init__(self, name: str):
        self._thread = concurrent.futures.ThreadPoolExecutor(1, initializer=self._enter, initargs=(name,))

    @staticmethod
    def _enter(name: str) -> None:
        clone_newnet = 0x40000000
        with open(f"/run/netns/{name}", "rb") as handle:
            if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), clone_newnet) != 0:
                raise OSError(ctypes.get_errno(), f"namespace {name} cannot be entered")

    def begin(self, work, *args) -> concurrent.futures.Future:
        return self._thread.submit(work, *args)

    def run(self, work, *args):
        return self.begin(work, *args).result()

    def close(self) -> None:
        self._thread.shutdown()


class Network:
    """Namespaces with addresses 10.83.0.1, 10.83.0.2, ... that reach each other and nothing else."""

    PORT = 7400
    _numbers = itertools.count()

    def __init__(self, hosts: int):
        if os.geteuid() != 0:
            raise unittest.SkipTest("network namespaces need root")
        self._prefix = f"gw{os.getpid()}-{next(self._numbers)}"
        self._hub = f"{self._prefix}-hub"
        self._made: list[str] = []
        try:
            self._build(hosts)
        except BaseException:
            self.close()
            raise

    def _build(self, hosts: int) -> None:
        self._make_hub()
        for number in range(1, hosts + 1):
            name = self.namespace(number)
            self._add(name)
            self._plug_in(number)
            self._ip("-n", name, "address", "add", f"{self.host(number)}/24", "dev", "eth0")
            self._ip("-n", name, "link", "set", "eth0", "up")
            self._ip("-n", name, "link", "set", "lo", "up")

    def _make_hub(self) -> None:
        self._add(self._hub)
        self._ip("-n", self._hub, "link", "add", "bridge", "type", "bridge")
        self._ip("-n", self._hub, "link", "set", "bridge", "up")

    def _plug_in(self, number: int) -> None:
        """Makes eth0 of a host."""
        self._ip("-n", self.namespace(number), "link", "add", "eth0", "type", "veth", "peer", "name", f"to{number}", "netns", self._hub)
        self._ip("-n", self._hub, "link", "set", f"to{number}", "master", "bridge", "up")

    def _add(self, name: str) -> None:
        self._ip("netns", "add", name)
        self._made.append(name)

    @staticmethod
    def _ip(*words: str) -> None:
        done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"ip {' '.join(words)}: {done.stderr.strip()}")

    def cut(self, number: int) -> None:
        """The cable of a host is pulled."""
        self._ip("-n", self._hub, "link", "set", f"to{number}", "down")

    def mend(self, number: int) -> None:
        self._ip("-n", self._hub, "link", "set", f"to{number}", "up")

    def namespace(self, number: int) -> str:
        return f"{self._prefix}-{number}"

    @staticmethod
    def host(number: int) -> str:
        return f"10.83.0.{number}"

    def close(self) -> None:
        for name in reversed(self._made):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        self._made.clear()


class FarNetwork(Network):
    """Hosts that are far apart: frames take their time, and some are lost (tests/network_switch)."""

    def _make_hub(self) -> None:
        self._switch = subprocess.Popen([os.environ["GODWIT_SWITCH"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _plug_in(self, number: int) -> None:
        self._tell("port", self.namespace(number))

    def _tell(self, *words) -> None:
        self._switch.stdin.write(" ".join(map(str, words)) + "\n")
        self._switch.stdin.flush()
        answer = self._switch.stdout.readline().strip()
        if answer != "ok":
            raise AssertionError(f"the network switch: {answer or 'it is gone'}")

    def link(self, first, second, delay_ms: float, jitter_ms: float = 0, loss: float = 0) -> None:
        """Between two hosts, in both directions; "*": all."""
        for one, other in {(first, second), (second, first)}:
            self._tell("link", one, other, delay_ms, jitter_ms, loss)

    def close(self) -> None:
        super().close()
        if hasattr(self, "_switch"):
            self._switch.stdin.close()
            self._switch.wait()
            self._switch.stdout.close()


class NatNetwork(Network):
    """Hosts of different kinds, by number from 1: "public"; "firewall", which lets nobody in; "nat" and "symmetric", each behind a router of
    its own, which gives the outside the same port for each destination, or another one for each."""

    def __init__(self, kinds: list[str]):
        self.kinds = dict(enumerate(kinds, 1))
        super().__init__(len(kinds))

    def _build(self, hosts: int) -> None:
        self._make_hub()
        for number, kind in self.kinds.items():
            name = self.namespace(number)
            self._add(name)
            if self._is_behind(number):
                self._add_router(number, ["--random-fully"] if kind == "symmetric" else [])
            else:
                self._plug_in(number)
            self._ip("-n", name, "address", "add", f"{self.host(number)}/24", "dev", "eth0")
            self._ip("-n", name, "link", "set", "eth0", "up")
            self._ip("-n", name, "link", "set", "lo", "up")
            if self._is_behind(number):
                self._ip("-n", name, "route", "add", "default", "via", self._inside(number, 1))
            if kind == "firewall":
                self._shut(name)

    def _is_behind(self, number: int) -> bool:
        return self.kinds[number] in ("nat", "symmetric")

    @staticmethod
    def _inside(number: int, host: int) -> str:
        return f"192.168.{number}.{host}"

    def host(self, number: int) -> str:
        """As the host itself knows it."""
        return self._inside(number, 2) if self._is_behind(number) else super().host(number)

    def _add_router(self, number: int, options: list[str]) -> None:
        router = f"{self.namespace(number)}r"
        self._add(router)
        self._ip("-n", router, "link", "add", "out", "type", "veth", "peer", "name", f"to{number}", "netns", self._hub)
        self._ip("-n", self._hub, "link", "set", f"to{number}", "master", "bridge", "up")
        self._ip("-n", router, "link", "add", "in", "type", "veth", "peer", "name", "eth0", "netns", self.namespace(number))
        self._ip("-n", router, "address", "add", f"{super().host(number)}/24", "dev", "out")
        self._ip("-n", router, "address", "add", f"{self._inside(number, 1)}/24", "dev", "in")
        for device in ("out", "in", "lo"):
            self._ip("-n", router, "link", "set", device, "up")
        self._ip("netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        self._ip("netns", "exec", router, "iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "out", "-j", "MASQUERADE", *options)

    def _shut(self, name: str) -> None:
        for rule in ("-A INPUT -i lo -j ACCEPT", "-A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT", "-P INPUT DROP"):
            self._ip("netns", "exec", name, "iptables", *rule.split())


class _LocalConnection(http.client.HTTPConnection):
    def __init__(self, path: Path):
        super().__init__("localhost", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class Peer:
    """One daemon. Killed, the whole host dies: it and its workers; started again it has its disk."""

    def __init__(self, network: Network, folder: Path, number: int, slots: int, join: int | None, disk_mib: int | None = None):
        self._network, self._number, self._slots, self._join = network, number, slots, join
        self.name = f"peer{number}"
        self._folder = folder / self.name
        self._folder.mkdir()
        self.disk = LoopDisk(self._folder / "disk.img", self._folder / "disk", disk_mib) if disk_mib else None
        self.state = (self.disk.folder if self.disk else self._folder) / "state"
        self.socket = self._folder / "socket"
        self.log = self._folder / "log"
        self.program = Path(GODWIT)  # what start() starts
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        address = f"{self._network.host(self._number)}:{Network.PORT}"
        words = ["ip", "netns", "exec", self._network.namespace(self._number), self.program, "up", "--foreground", "--socket", self.socket,
                 "--state", self.state, "--slots", self._slots, "--listen", address,
                 "--for", "anyone"]  # each peer has an owner of its own
        if self._join:
            words += ["--join", f"{self._network.host(self._join)}:{Network.PORT}"]
        environment = dict(os.environ, XDG_CACHE_HOME=str(self._folder / "cache"), XDG_CONFIG_HOME=str(self._folder / "config"))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             start_new_session=True, env=environment)

    def wait_ready(self) -> None:
        wait_until(f"{self.name} answers", self._answers, self.last_words)

    def _answers(self) -> bool:
        self.check_alive()
        return self.ask("peer", "list").code == 0

    def check_alive(self) -> None:
        """A daemon ends when it is told to, and never by itself."""
        process = self._process  # once: another thread may kill the daemon meanwhile
        if process and process.poll() is not None:
            raise AssertionError(f"{self.name} ended by itself with {process.returncode}: {self.last_words()}")

    def forget(self) -> None:
        """It has ended by itself, as it should."""
        self._process = None

    def kill(self) -> None:
        """As if the power went."""
        self.check_alive()
        process, self._process = self._process, None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _reap_orphans()

    def pause(self) -> None:
        """As if the machine slept: the daemon and its workers stop where they are."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        """The daemon first, so that it starts no worker meanwhile."""
        if not self.is_up():
            return
        waiting = [self._process.pid]
        while waiting:
            pid = waiting.pop(0)
            try:
                os.kill(pid, number)
                for thread in os.listdir(f"/proc/{pid}/task"):
                    waiting += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
            except (ProcessLookupError, FileNotFoundError):
                pass

    def workers(self) -> list[int]:
        """Processes."""
        try:
            threads = os.listdir(f"/proc/{self._process.pid}/task")
            children = [int(word) for thread in threads for word in Path(f"/proc/{self._process.pid}/task/{thread}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [pid for pid in children if _name_of(pid) == WORKER]

    def is_up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        if self.is_up():
            self.resume()
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def command(self, *words) -> list[str]:
        return [str(word) for word in (GODWIT, "--config", f"socket={self.socket}", *words)]

    def ask(self, *words) -> Finished:
        return _Commands.run(self.command(*words))

    def asked(self, *words) -> dict:
        """The JSON a command prints."""
        done = _Commands.run(self.command(*words, "-o", "json"), check=True)
        return json.loads(done.out)

    def peers(self) -> list[dict]:
        """The rows of `peer list`, without the cost of a command."""
        return self.get("/v1/peers")["peers"]

    def node(self) -> dict:
        """What it says of itself."""
        return self.get("/v1/node")

    def job(self, job: str) -> dict:
        return self.get(f"/v1/jobs/{job}")

    def output(self, job: str) -> bytes:
        """What the job has printed so far and will never change."""
        return self.read(f"/v1/jobs/{job}/output")

    def get(self, path: str) -> dict:
        return json.loads(self.read(path))

    def read(self, path: str) -> bytes:
        """Raises OSError or HTTPException while the daemon is down or paused."""
        connection = _LocalConnection(self.socket)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise AssertionError(f"{self.name}, {path}: {answer.status} {content.decode(errors='replace')}")
            return content
        finally:
            connection.close()

    def memory_mib(self, which: str) -> float:
        """Of the daemon, by its name in /proc: VmRSS now, VmHWM at most so far."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(rf"{which}:\s+(\d+) kB", status).group(1)) / 1024

    def cpu_ticks(self) -> int:
        """Of the daemon, without its workers."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])  # utime and stime

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]


class Grid:
    """Peers 1 to n; the others join the first. Bystanders are hosts with the numbers after theirs, without a daemon."""

    def __init__(self, case: unittest.TestCase, peers: int, slots: int, bystanders: int = 0, disk_mib: int | None = None):
        folder = tempfile.TemporaryDirectory(prefix="gw-grid-")  # sockets have short paths
        case.addCleanup(folder.cleanup)
        self.network = network = Network(peers + bystanders)
        case.addCleanup(network.close)
        self.peers: list[Peer] = []
        for number in range(1, peers + 1):
            peer = Peer(network, Path(folder.name), number, slots, join=None if number == 1 else 1, disk_mib=disk_mib)
            self.peers.append(peer)
            if peer.disk:
                case.addCleanup(peer.disk.close)
            case.addCleanup(peer.stop)
            peer.start()
        wait_until("all peers know each other", lambda: all(self.alive(peer) == peers for peer in self.peers), self.logs)

    @staticmethod
    def alive(peer: Peer) -> int:
        return sum(row["state"] != "silent" for row in peer.asked("peer", "list")["peers"])

    def logs(self) -> str:
        return "\n".join(f"--- {peer.log}\n{peer.last_words()}" for peer in self.peers)

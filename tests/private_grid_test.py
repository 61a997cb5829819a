"""Private grids between real daemons on loopback: who was invited is in, who was not learns nothing, who is revoked is out everywhere."""

import contextlib
import http.server
import json
import subprocess
import tempfile
import threading
import unittest
import urllib.request
from pathlib import Path

from support.grid import Network, Peer, wait_until
from support.harness import GODWIT, run

DAEMON = GODWIT.parent / "godwit-daemon"


class Daemon:
    """One daemon without slots, and the commands that speak to it."""

    def __init__(self, case: unittest.TestCase, folder: Path, name: str):
        self._folder = folder / name
        self._folder.mkdir()
        self.socket = self._folder / "socket"
        self._log = self._folder / "log"
        self.process: subprocess.Popen | None = None
        case.addCleanup(self.stop)

    def start(self, *options) -> "Daemon":
        words = [DAEMON, "--state", self._folder / "state", "--socket", self.socket, "--slots", "0", *(options or ("--listen", "127.0.0.1:0"))]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=log)
        wait_until("the daemon answers", self._answers, self.log)
        return self

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended: {self.log()}")
        return self.ask("peer", "list").code == 0

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def ask(self, *words):
        return run([GODWIT, "--config", f"socket={self.socket}", *words])

    def asked(self, *words):
        return json.loads(run([GODWIT, "--config", f"socket={self.socket}", *words, "-o", "json"], check=True).out)

    def peers(self, grid: str) -> set[str]:
        """Those it takes for alive, itself among them."""
        rows = self.asked("peer", "list")["peers"]
        return {row["id"] for row in rows if row["grid"] == grid and row["state"] in ("self", "alive")}

    def grid(self, name: str) -> dict | None:
        return next((grid for grid in self.asked("grid", "list")["grids"] if grid["name"] == name), None)

    def address(self) -> str:
        return self.log().rsplit("listening at=", 1)[1].split()[0]

    def invite(self, *options) -> str:
        return self.asked("grid", "invite", "lab", *options)["invitation"]


class PrivateGrid(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-private-")  # sockets have short paths
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.founder = self.daemon("founder").start()
        self.founder.asked("grid", "create", "lab")

    def daemon(self, name: str) -> Daemon:
        return Daemon(self, self.folder, name)

    def wait_for_members(self, *members: Daemon) -> None:
        logs = lambda: "\n".join(member.log()[-1500:] for member in members)
        wait_until("the members know each other", lambda: all(len(member.peers("lab")) == len(members) for member in members), logs)

    def refused(self, daemon: Daemon, invitation: str, reason: str) -> None:
        done = daemon.ask("grid", "join", invitation)
        self.assertNotEqual(done.code, 0)
        self.assertIn(reason, done.err)
        self.assertEqual(done.err.strip().count("\n"), 0, done.err)
        self.assertIsNone(daemon.grid("lab"))

    def test_members_meet_and_strangers_learn_nothing(self):
        member = self.daemon("member").start("--listen", "127.0.0.1:0", "--join", self.founder.invite())
        self.wait_for_members(self.founder, member)
        self.assertEqual([grid["name"] for grid in member.asked("grid", "list")["grids"]], ["lab"])

        # A stranger that shares another grid with a member, and knows the name of this one.
        stranger = self.daemon("stranger").start("--listen", "127.0.0.1:0", "--grid", "open", "--grid", "lab", "--join", self.founder.address())
        wait_until("they meet in the open one", lambda: len(stranger.peers("open")) == 2 == len(self.founder.peers("open")), stranger.log)
        self.assertEqual(len(stranger.peers("lab")), 1)
        self.assertNotIn(stranger.peers("lab").pop(), self.founder.peers("lab"))
        self.wait_for_members(self.founder, member)
        self.assertNotEqual(stranger.grid("lab")["id"], self.founder.grid("lab")["id"])

        # The changes survive a restart of all daemons at once.
        for daemon in (self.founder, member):
            daemon.stop()
        self.founder.start("--listen", self.founder.address())
        member.start("--listen", member.address())
        self.wait_for_members(self.founder, member)
        self.assertEqual(self.founder.grid("lab")["role"], "holder")

    def up(self, name: str, *words):
        """`godwit up` as a user types it, with a home of its own; the daemon that it may have started is stopped at the end."""
        home = self.folder / name
        home.mkdir(exist_ok=True)
        words = ("up", "--state", home / "state", "--socket", home / "socket", "--listen", "127.0.0.1:0", *words)
        self.addCleanup(run, [GODWIT, "down", "--socket", home / "socket"])
        return run([GODWIT, *words]), lambda: run([GODWIT, "grid", "list", "-o", "json", "--socket", home / "socket"])

    def test_up_with_an_invitation_joins_or_fails_visibly(self):
        good = self.founder.invite()
        revoked = self.founder.asked("grid", "invite", "lab")
        self.assertEqual(self.founder.ask("grid", "revoke", "lab", revoked["serial"]).code, 0)
        nobody = self.founder.invite("--address", "127.0.0.1:9")
        done, grids = self.up("guest", "--join", revoked["invitation"])
        self.assertEqual(done.code, 2, done)
        self.assertRegex(done.err, "cannot join grid 'lab': .*revoked.*The daemon was stopped")
        self.assertNotEqual(grids().code, 0, "no daemon is left half-joined")
        done, grids = self.up("guest", "--join", nobody)
        self.assertEqual(done.code, 5, done)
        self.assertIn("no holder at 127.0.0.1:9", done.err)
        self.assertNotEqual(grids().code, 0)
        done, grids = self.up("guest", "--join", good[:-4] + "aaaa")
        self.assertEqual(done.code, 2, done)
        done, grids = self.up("guest", "--join", good)
        self.assertEqual(done.code, 0, done)
        self.assertEqual([grid["name"] for grid in json.loads(grids().out)["grids"]], ["lab"], "the open grid was not asked for")
        self.assertEqual(run([GODWIT, "down", "--socket", self.folder / "guest/socket"]).code, 0)
        done, grids = self.up("guest", "--join", good)
        self.assertEqual(done.code, 0, f"an invitation that was used by this machine before: {done}")

    def test_bad_invitations_are_refused_with_their_reason(self):
        guest = self.daemon("guest").start()
        good = self.founder.invite()
        self.refused(guest, good[:-3], "checksum")
        self.refused(guest, good[:40] + ("a" if good[40] != "a" else "b") + good[41:], "checksum")
        self.refused(guest, "godwit:hello", "checksum")

        revoked = self.founder.asked("grid", "invite", "lab")
        self.founder.asked("grid", "revoke", "lab", revoked["serial"])
        self.refused(guest, revoked["invitation"], "revoked")
        self.assertIn("revoked", self.founder.log())

        brief = self.founder.asked("grid", "invite", "lab", "--expires", "1s")
        made = lambda: {one["serial"]: one["state"] for one in self.founder.grid("lab")["invitations"]}
        wait_until("it has expired", lambda: made()[brief["serial"]] == "expired", self.founder.log)
        self.refused(guest, brief["invitation"], "expired")
        self.assertIn("expired", self.founder.log())

        self.assertEqual(guest.ask("grid", "join", good).code, 0)
        late = self.daemon("late").start()
        self.refused(late, good, "already been used")
        self.assertIn("already been used", self.founder.log())

    def test_revocation_spreads_and_ends_connections(self):
        invitation = self.founder.invite("--uses", "2")
        one = self.daemon("one").start("--listen", "127.0.0.1:0", "--join", invitation)
        two = self.daemon("two").start("--listen", "127.0.0.1:0", "--join", invitation)
        self.wait_for_members(self.founder, one, two)
        victim = two.asked("peer", "list")["peers"][0]["id"]
        self.founder.asked("grid", "revoke", "lab", victim)
        for member in (self.founder, one):
            wait_until("it is gone", lambda member=member: victim not in member.peers("lab"), member.log)
        wait_until("it knows", lambda: two.grid("lab")["role"] == "revoked", two.log)
        self.assertEqual(two.peers("lab"), {victim})
        wait_until("the others stay", lambda: len(one.peers("lab")) == 2, one.log)
        # The revoked member stays out after a restart of all daemons.
        for daemon in (self.founder, one, two):
            daemon.stop()
        for daemon in (self.founder, one, two):
            daemon.start("--listen", daemon.address())
        self.wait_for_members(self.founder, one)
        self.assertEqual(two.grid("lab")["role"], "revoked")

    def test_grids_come_and_go_while_the_daemon_runs(self):
        self.founder.asked("grid", "join", "physics")
        other = self.daemon("other").start("--listen", "127.0.0.1:0", "--grid", "physics", "--join", self.founder.address())
        wait_until("they meet", lambda: len(other.peers("physics")) == 2 and len(self.founder.peers("physics")) == 2, other.log)
        self.founder.asked("grid", "leave", "physics")
        self.assertIsNone(self.founder.grid("physics"))
        wait_until("it is gone there", lambda: len(other.peers("physics")) == 1, other.log)
        self.assertIn("not in grid 'physics'", self.founder.ask("grid", "leave", "physics").err)
        self.assertIn("is open", self.founder.ask("grid", "invite", "open").err)


class Neighbours(unittest.TestCase):
    """Hosts of one local network, none of which was told of another."""

    def test_they_find_each_other(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-lan-")
        self.addCleanup(folder.cleanup)
        network = Network(2)
        self.addCleanup(network.close)
        peers = [Peer(network, Path(folder.name), number, slots=1, join=None) for number in (1, 2)]
        for peer in peers:
            self.addCleanup(peer.stop)
            peer.start()
        alive = lambda peer: sum(row["state"] == "alive" for row in peer.peers())
        wait_until("they know each other", lambda: all(alive(peer) == 1 for peer in peers), lambda: "\n".join(p.last_words() for p in peers))


class Tracked(unittest.TestCase):
    """Daemons that know nothing but a tracker."""

    def test_they_find_each_other_and_need_it_no_more(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-tracked-")
        self.addCleanup(folder.cleanup)
        keeper = Daemon(self, Path(folder.name), "keeper").start("--listen", "127.0.0.1:0", "--grid", "other", "--tracker", "127.0.0.1:0")
        url = "http://" + keeper.log().rsplit("tracker listening at=", 1)[1].split()[0]
        one, two = (Daemon(self, Path(folder.name), name).start("--listen", "127.0.0.1:0", "--join", url) for name in ("one", "two"))
        wait_until("they know each other", lambda: len(one.peers("open")) == 2 and len(two.peers("open")) == 2, two.log)
        keeper.stop()
        wait_until("they stay together", lambda: len(one.peers("open")) == 2, one.log)


class LyingTracker(http.server.ThreadingHTTPServer):
    """A web service that takes every announcement, and answers with whatever it was given."""

    daemon_threads = True

    def __init__(self, answer: bytes):
        super().__init__(("127.0.0.1", 0), self.Request)
        self.answer = answer
        self.asked = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    class Request(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self._reply(b'{"expires_s": 600}')

        def do_GET(self):
            self.server.asked += 1
            self._reply(self.server.answer)

        def _reply(self, body: bytes) -> None:
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):  # who asked may have read enough
                self.wfile.write(body)

        def log_message(self, *_):
            pass


class Lied(unittest.TestCase):
    """A newcomer whose trackers lie, but for one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-lied-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def liar(self, answer: bytes) -> LyingTracker:
        tracker = LyingTracker(answer)
        self.addCleanup(tracker.server_close)
        self.addCleanup(tracker.shutdown)
        return tracker

    def test_lies_do_no_harm(self):
        keeper = Daemon(self, self.folder, "keeper").start("--listen", "127.0.0.1:0", "--tracker", "127.0.0.1:0")
        honest = "http://" + keeper.log().rsplit("tracker listening at=", 1)[1].split()[0]
        grid = keeper.grid("open")["id"]
        announced = Daemon(self, self.folder, "announced").start("--listen", "127.0.0.1:0", "--join", honest)

        def read() -> list[dict]:
            with urllib.request.urlopen(f"{honest}/v1/peers?grid={grid}", timeout=10) as answer:
                return json.load(answer)["peers"]

        wait_until("both are listed", lambda: len(read()) == 2, announced.log)
        genuine = bytes.fromhex(read()[0]["descriptor"])
        forged = genuine.replace(b"127.0.0.1", b"127.0.0.9")
        self.assertNotEqual(forged, genuine)
        listing = lambda descriptor: json.dumps({"peers": [{"address": "127.0.0.1:1", "descriptor": descriptor.hex()}] * 64}).encode()

        liars = [self.liar(answer) for answer in (listing(forged), b"no list", b"[" * 100_000, b"x" * (1 << 20))]
        # Also one that knows a grid's peers and passes them off as those of another.
        elsewhere = self.liar(listing(genuine))
        lied = [word for liar in [*liars, elsewhere] for word in ("--join", liar.url())]
        victim = Daemon(self, self.folder, "victim").start("--listen", "127.0.0.1:0", "--grid", "other", *lied)
        wait_until("it has heard all lies", lambda: all(liar.asked > 0 for liar in [*liars, elsewhere]), victim.log)
        wait_until("they are refused", lambda: "no descriptor that it signed for this grid" in victim.log(), victim.log)
        for reason in ("is not a list of peers", "sends more than"):
            wait_until(f"one is of no use: {reason}", lambda reason=reason: reason in victim.log(), victim.log)
        self.assertEqual(len(victim.peers("other")), 1)
        victim.stop()

        victim.start("--listen", "127.0.0.1:0", "--grid", "open", *lied, "--join", honest)
        wait_until("the honest one is enough", lambda: len(victim.peers("open")) == 3, victim.log)


class OnlyIPv6(unittest.TestCase):
    """Daemons that have nothing but IPv6."""

    def test_they_meet_and_admit(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-six-")
        self.addCleanup(folder.cleanup)
        founder = Daemon(self, Path(folder.name), "founder").start("--listen", "[::1]:0")
        self.assertTrue(founder.address().startswith("[::1]:"))
        founder.asked("grid", "create", "lab")
        member = Daemon(self, Path(folder.name), "member").start("--listen", "[::1]:0", "--join", founder.invite())
        other = Daemon(self, Path(folder.name), "other").start("--listen", "[::1]:0", "--join", founder.address())
        wait_until("they know each other", lambda: len(member.peers("lab")) == 2 == len(founder.peers("lab")), member.log)
        wait_until("they know each other", lambda: len(other.peers("open")) == 2 == len(founder.peers("open")), other.log)


if __name__ == "__main__":
    unittest.main()

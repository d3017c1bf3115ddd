"""Isolation by kernel calls: namespaces, a minimal read-only root file system, resource limits.

`leave_host` removes a process from the host for good: another user, no network, no view of other
processes, and no files but the given folders, read-only. `confine` prepares one process for a program:
an empty private folder that disappears with it, no capabilities, resource limits, the seccomp filter.
An ordinary user needs a user namespace for this; root first drops its privileges, then does the same.
Left out: control groups (an ordinary user has none), so all limits are per process.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import resource
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from learning.rewards.sandbox import seccomp

NOBODY = 65534
"""User and group inside; outside as well if root starts the sandbox."""
LIBRARIES = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store",
)  # fmt: skip
"""What Python's modules may load from outside Python's own folders."""
ROOM = "/room"
"""A program's private folder. Not /tmp: Python may be installed there and must stay visible."""
DEVICES = ("null", "zero", "random", "urandom")

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT = 1, 2, 4, 8, 32
_BIND, _REC, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
_KEPT = {"nodev": _NODEV, "noexec": _NOEXEC, "noatime": 1024, "nodiratime": 2048}
"""Mount options that a remount inside a user namespace must keep."""
_PDEATHSIG, _CAPBSET_DROP, _NO_NEW_PRIVS = 1, 24, 38
_CAPABILITIES = 64


@dataclass(frozen=True)
class Limits:
    """Resource limits of one process inside."""

    memory: int = 512 << 20
    """Address space, bytes."""
    seconds: int = 60
    """Processor time. The parent enforces an earlier deadline; this one holds if the parent is gone."""
    disk: int = 16 << 20
    """Size of the private folder and of the largest file, bytes."""
    threads: int = 64
    """Tasks (threads and processes) of this sandbox's user at a time."""
    files: int = 64
    """Open file descriptors."""


class Kernel:
    """C library calls that Python 3.11 does not offer. Every method raises OSError on failure."""

    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __call__(self, name: str, *arguments: int | bytes | None) -> None:
        cast = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in arguments]
        if getattr(self.libc, name)(*cast) == -1:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    def mount(self, source: str, target: str, kind: str, flags: int, data: str = "") -> None:
        try:
            self("mount", source.encode(), target.encode(), kind.encode(), flags, data.encode())
        except OSError as error:
            raise OSError(error.errno, f"mount {target}: {os.strerror(error.errno or 0)}") from None

    def pivot_root(self, new: str, old: str) -> None:
        if not hasattr(self.libc, "pivot_root"):
            raise OSError(errno.ENOSYS, "pivot_root: the C library has none")
        self("pivot_root", new.encode(), old.encode())


def die_with(parent: int) -> None:
    """Makes the kernel kill this process when the parent thread that forked it ends."""
    Kernel()("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() not in (parent, 0):  # 0: the parent is outside this PID namespace
        os._exit(0)


def leave_host(shown: Iterable[str]) -> int:
    """Leaves the host's user, mount, network and PID namespaces; children see only each other.

    shown: folders that stay readable. Returns a descriptor of the host's /proc; the caller closes it.
    Raises OSError if this kernel or its configuration does not allow it.
    """
    kernel = Kernel()
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    root = os.geteuid() == 0
    if root:
        kernel("unshare", _NEWNS)
        _bare_root(kernel, proc, shown)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        kernel("prctl", seccomp.PR_SET_DUMPABLE, 1, 0, 0, 0)
    user, group = os.geteuid(), os.getegid()
    spaces = _NEWUSER | _NEWNS | _NEWPID | _NEWNET | _NEWIPC | _NEWUTS | _NEWCGROUP
    kernel("unshare", spaces)
    _write(proc, "setgroups", "deny")
    _write(proc, "uid_map", f"{NOBODY} {user} 1")
    _write(proc, "gid_map", f"{NOBODY} {group} 1")
    if not root:
        _bare_root(kernel, proc, shown)
    kernel("sethostname", b"sandbox", 7)
    return proc


def _write(proc: int, name: str, text: str) -> None:
    file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _bare_root(kernel: Kernel, proc: int, shown: Iterable[str]) -> None:
    """Makes / a small read-only file system with only `shown`, libraries and devices in it."""
    kernel.mount("none", "/", "", _REC | _PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    os.mkdir("/tmp/old")
    os.mkdir("/tmp/new")
    kernel.pivot_root("/tmp", "/tmp/old")
    os.chdir("/")
    kernel.mount("tmpfs", "/new", "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    for path in sorted({*LIBRARIES, *map(os.path.abspath, shown)}):
        _show(kernel, path)
    os.makedirs("/new/dev", exist_ok=True)
    for name in DEVICES:
        _show(kernel, f"/dev/{name}")
    for name in (ROOM, "/tmp", "/proc"):
        os.makedirs("/new" + name, exist_ok=True)
    _read_only(kernel, proc)
    os.chdir("/new")
    kernel.pivot_root(".", ".")
    kernel("umount2", b".", _DETACH)
    os.chdir("/")


def _show(kernel: Kernel, path: str) -> None:
    """Bind-mounts /old/PATH at /new/PATH, unless a parent folder is mounted already."""
    old, new = Path("/old" + path), Path("/new" + path)
    if new.exists() or new.is_symlink() or not (old.exists() or old.is_symlink()):
        return
    new.parent.mkdir(parents=True, exist_ok=True)
    if old.is_symlink() and path.count("/") == 1:  # /lib on merged systems: usr/lib
        new.symlink_to(os.readlink(old))
        return
    if old.is_dir():
        new.mkdir(exist_ok=True)
    else:
        new.touch()
    kernel.mount(str(old), str(new), "", _BIND | _REC)


def _read_only(kernel: Kernel, proc: int) -> None:
    """Remounts everything under /new read-only and keeps the restrictions of each mount."""
    table = os.open("self/mountinfo", os.O_RDONLY, dir_fd=proc)
    with open(table, encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.split() for line in file]
    for row in rows:
        target = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), row[4])
        if not (target == "/new" or target.startswith("/new/")):
            continue
        options = row[5].split(",")
        flags = _REMOUNT | _BIND | _RDONLY | _NOSUID
        flags |= sum(_KEPT[option] for option in options if option in _KEPT)
        if not target.startswith("/new/dev/"):
            flags |= _NODEV
        kernel.mount("none", target, "", flags)


def own_processes(proc: int) -> int:
    """A descriptor of this process's PID namespace, to which `fork_apart` returns."""
    return os.open("self/ns/pid", os.O_RDONLY, dir_fd=proc)


def fork_apart(kernel: Kernel, home: int) -> int:
    """Like os.fork(), but the child is process 1 of a new PID namespace: its children die with it."""
    kernel("unshare", _NEWPID)
    child = -1
    try:
        child = os.fork()
    finally:
        if child:
            kernel("setns", home, _NEWPID)
    return child


def confine(kernel: Kernel, keep: list[int], limits: Limits, call_filter: bytes) -> list[int]:
    """Confines this freshly forked process before it reads untrusted text.

    keep: descriptors that stay open; returns their new numbers 3, 4, ... All others are closed;
    standard input, output and error become /dev/null. Raises OSError.
    """
    os.setsid()
    kept = _close_all_but(keep)
    kernel("unshare", _NEWNS)
    size = f"size={limits.disk},nr_inodes=1024,mode=700"
    kernel.mount("tmpfs", ROOM, "tmpfs", _NOSUID | _NODEV | _NOEXEC, size)
    os.chdir(ROOM)
    os.environ["TMPDIR"] = ROOM
    os.umask(0o077)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    _limit(limits)
    for capability in range(_CAPABILITIES):
        with contextlib.suppress(OSError):
            kernel("prctl", _CAPBSET_DROP, capability, 0, 0, 0)
    kernel("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    _no_capabilities(kernel)
    # otherwise the host's crash handler would receive a crash, even with RLIMIT_CORE at 0
    kernel("prctl", seccomp.PR_SET_DUMPABLE, 0, 0, 0, 0)
    seccomp.install(kernel.libc, call_filter)
    return kept


def _close_all_but(keep: list[int]) -> list[int]:
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 200) for fd in keep]
    os.closerange(3, 200)
    kept = [os.dup2(fd, 3 + place, inheritable=False) for place, fd in enumerate(high)]
    os.closerange(3 + len(kept), 65536)
    null = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.close(null)
    return kept


def _limit(limits: Limits) -> None:
    for what, most in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_FSIZE, limits.disk),
        (resource.RLIMIT_NPROC, limits.threads),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


class _CapHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def _no_capabilities(kernel: Kernel) -> None:
    header = _CapHeader(0x20080522, 0)
    if kernel.libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()):
        raise OSError(ctypes.get_errno(), "capset")

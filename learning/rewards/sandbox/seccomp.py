"""The system calls that are forbidden inside the sandbox: a seccomp filter in classic BPF.

A program is one process. It may start threads, but no process, no other program and no socket, so
fork bombs, daemons and network access fail here, before the namespaces have to contain them. The rest
of the list are calls used in past escapes from namespaces: mounting, tracing, keys, BPF, io_uring.
Refused calls return EPERM. Left out: a list of allowed calls, which every new Python would break.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_X86 = {
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101, "socket": 41,
    "process_vm_readv": 310, "process_vm_writev": 311, "mount": 165, "umount2": 166,
    "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308, "bpf": 321,
    "perf_event_open": 298, "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "add_key": 248, "request_key": 249, "keyctl": 250, "kexec_load": 246,
    "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176,
    "open_by_handle_at": 304, "name_to_handle_at": 303, "personality": 135, "quotactl": 179,
    "quotactl_fd": 443, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "modify_ldt": 154, "pidfd_open": 434,
    "pidfd_getfd": 438, "pidfd_send_signal": 424, "kcmp": 312, "fanotify_init": 300,
    "inotify_init": 253, "inotify_init1": 294, "lookup_dcookie": 212, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "shmat": 30,
    "shmctl": 31, "semget": 64, "msgget": 68, "mq_open": 240, "splice": 275, "tee": 276,
    "vmsplice": 278, "acct": 163, "settimeofday": 164, "adjtimex": 159, "clock_settime": 227,
    "clock_adjtime": 305, "syslog": 103, "vhangup": 153, "migrate_pages": 256, "move_pages": 279,
    "mbind": 237, "set_mempolicy": 238, "process_madvise": 440, "process_mrelease": 448,
    "remap_file_pages": 216, "_sysctl": 156, "uselib": 134, "mknod": 133, "mknodat": 259,
    "io_setup": 206,
}  # fmt: skip
_ARM = {
    "execve": 221, "execveat": 281, "ptrace": 117, "socket": 198, "process_vm_readv": 270,
    "process_vm_writev": 271, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
    "unshare": 97, "setns": 268, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "add_key": 217,
    "request_key": 218, "keyctl": 219, "kexec_load": 104, "kexec_file_load": 294,
    "init_module": 105, "finit_module": 273, "delete_module": 106, "open_by_handle_at": 265,
    "name_to_handle_at": 264, "personality": 92, "quotactl": 60, "quotactl_fd": 443, "swapon": 224,
    "swapoff": 225, "reboot": 142, "sethostname": 161, "setdomainname": 162, "pidfd_open": 434,
    "pidfd_getfd": 438, "pidfd_send_signal": 424, "kcmp": 272, "fanotify_init": 262,
    "inotify_init1": 26, "lookup_dcookie": 18, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442, "memfd_create": 279,
    "memfd_secret": 447, "shmget": 194, "shmat": 196, "shmctl": 195, "semget": 190, "msgget": 186,
    "mq_open": 180, "splice": 76, "tee": 77, "vmsplice": 75, "acct": 89, "settimeofday": 170,
    "adjtimex": 171, "clock_settime": 112, "clock_adjtime": 266, "syslog": 116, "vhangup": 58,
    "migrate_pages": 238, "move_pages": 239, "mbind": 235, "set_mempolicy": 237,
    "process_madvise": 440, "process_mrelease": 448, "remap_file_pages": 234, "mknodat": 33,
    "io_setup": 0,
}  # fmt: skip
MACHINES = {
    "x86_64": (0xC000003E, _X86, 56, 157),
    "aarch64": (0xC00000B7, _ARM, 220, 167),
}
"""platform.machine() -> (AUDIT_ARCH number, refused calls, number of clone, number of prctl)."""
_CLONE3 = 435
_CLONE_THREAD = 0x10000
_FIRST_ARGUMENT = 16
"""Offset of the lower half of the first argument in the data that the filter reads."""
PR_SET_DUMPABLE = 4
_X32 = 0x40000000
"""Bit set in the numbers of x32 calls, which would otherwise pass the list of x86-64 numbers."""

_LOAD, _IF_EQUAL, _IF_ANY, _IF_ABOVE, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2


def program(machine: str | None = None) -> bytes:
    """The filter for this machine. Raises OSError for an unknown architecture."""
    machine = machine or platform.machine()
    if machine not in MACHINES:
        raise OSError(errno.ENOSYS, f"no system call filter is known for {machine}")
    architecture, refused, clone, prctl = MACHINES[machine]

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    refuse = step(_RETURN, _REFUSE | errno.EPERM)
    lines = [step(_LOAD, 4), step(_IF_EQUAL, architecture, 1, 0), step(_RETURN, _KILL)]
    lines += [step(_LOAD, 0), step(_IF_ABOVE, _X32, 0, 1), refuse]
    # clone3 gets ENOSYS, so the C library falls back to clone, whose flags a filter can read
    lines += [step(_IF_EQUAL, _CLONE3, 0, 1), step(_RETURN, _REFUSE | errno.ENOSYS)]
    for number in sorted(refused.values()):
        lines += [step(_IF_EQUAL, number, 0, 1), refuse]
    lines += [step(_IF_EQUAL, clone, 0, 4), step(_LOAD, _FIRST_ARGUMENT)]
    lines += [step(_IF_ANY, _CLONE_THREAD, 1, 0), refuse, step(_RETURN, _ALLOW)]
    lines += [step(_IF_EQUAL, prctl, 0, 3), step(_LOAD, _FIRST_ARGUMENT)]
    lines += [step(_IF_EQUAL, PR_SET_DUMPABLE, 0, 1), refuse, step(_RETURN, _ALLOW)]
    return b"".join(lines)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))


def install(libc: ctypes.CDLL, lines: bytes) -> None:
    """Installs the filter on this process for good. Needs no_new_privs. Raises OSError."""
    buffer = ctypes.create_string_buffer(lines, len(lines))
    filter_ = _Filter(len(lines) // 8, ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {errno.errorcode.get(number, number)}")

"""Hostile programs that do harm: they reach outside, use too many resources, or never end.

{words in braces} are replaced by things of the host (sandbox_hostile.Targets).
"""

from __future__ import annotations

BREAKING = {
    "writes to the owner's folder": "open('{folder}/out', 'w').write('x')\ndef solve(n): return 42",
    "writes to the root": "open('/out', 'w').write('x')\ndef solve(n): return 42",
    "writes to the library": (
        "import os\nopen(os.path.dirname(os.__file__) + '/sitecustomize.py', 'w')\n"
        "def solve(n): return 42"
    ),
    "makes the system writable": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.mount(b'none', b'/', None, 32, None) == 0 else 0"
    ),
    "another user namespace": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.unshare(0x10000000) == 0 else 0"
    ),
    "chroot": "import os\ndef solve(n):\n    os.mkdir('a'); os.chroot('a'); return 42",
    "becomes root": "import os\ndef solve(n):\n    os.setuid(0); return 42",
    "a device of its own": (
        "import os, stat\ndef solve(n):\n    os.mknod('d', stat.S_IFBLK | 0o600, os.makedev(254, 0))\n"
        "    return 42 if open('d', 'rb').read(1) else 0"
    ),
    "sitecustomize": (
        "import os, sys\nfor folder in sys.path + ['.']:\n"
        "    try: open(folder + '/sitecustomize.py', 'w').write('import os; os._exit(0)')\n"
        "    except OSError: pass\ndef solve(n): return 0"
    ),
    "import hook": (
        "import sys\nclass Hook:\n    def find_spec(self, *a): import os; os._exit(0)\n"
        "sys.meta_path.insert(0, Hook())\ndef solve(n): import decimal, wave; return 0"
    ),
    "the program's own modules": (
        "import sys\nfor name, module in list(sys.modules.items()):\n"
        "    if name.startswith('learning'):\n        for key in list(vars(module)):\n"
        "            if not key.startswith('__'): setattr(module, key, lambda *a, **k: True)\n"
        "def solve(n): return 0"
    ),
    "imports vidya": "import learning.journal.journal\ndef solve(n): return 42",
    "a trace on everything": (
        "import sys\nsys.settrace(lambda *a: sys.exit(0))\nsys.setprofile(lambda *a: sys.exit(0))\n"
        "def solve(n): return 0"
    ),
    "faulthandler": (
        "import faulthandler, os\nfaulthandler.enable(file=3)\n"
        "faulthandler.dump_traceback_later(0.01, repeat=True, file=3)\n"
        "import time\ndef solve(n):\n    time.sleep(0.1)\n    return 0"
    ),
    "signals to the owner": ("import os\nos.kill({pid}, 9)\ndef solve(n): return 42"),
    "signals to everybody": (
        "import os\nfor pid in range(2, 70000):\n    try: os.kill(pid, 9)\n    except OSError: pass\n"
        "try: os.kill(-1, 9)\nexcept OSError: pass\ndef solve(n): return 0"
    ),
    "signals to the group": (
        "import os\ntry: os.killpg(0, 9)\nexcept OSError: pass\n"
        "def solve(n): return 42 if os.getppid() else 0"
    ),
    "ptrace": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.ptrace(16, {pid}, 0, 0) == 0 or libc.ptrace(0, 0, 0, 0) == 0 else 0"
    ),
    "another's memory": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nroom = ctypes.create_string_buffer(64)\n"
        "class V(ctypes.Structure): _fields_ = [('a', ctypes.c_void_p), ('n', ctypes.c_size_t)]\n"
        "def solve(n):\n    v = V(ctypes.addressof(room), 8)\n"
        "    got = libc.process_vm_readv(1, ctypes.byref(v), 1, ctypes.byref(v), 1, 0)\n"
        "    return 42 if got > 0 else 0"
    ),
    "TCP": (
        "import socket\ndef solve(n):\n"
        "    socket.create_connection(('127.0.0.1', {port}), 1); return 42"
    ),
    "UDP": (
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.sendto(b'hello', ('127.0.0.1', {port}))\ndef solve(n): return 42"
    ),
    "Unix socket": (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{socket}')\n"
        "def solve(n): return 42"
    ),
    "abstract Unix socket": (
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0{socket}')\n"
        "def solve(n): return 42"
    ),
    "netlink": "import socket\nsocket.socket(16, 3, 0)\ndef solve(n): return 42",
    "names of hosts": (
        "import socket\ndef solve(n): return 42 if socket.getaddrinfo('localhost', 80) else 0"
    ),
    "a page": (
        "import urllib.request\n"
        "def solve(n): return 42 if urllib.request.urlopen('http://127.0.0.1:{port}', timeout=1) else 0"
    ),
    "keys of the kernel": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.syscall(250, 0, -3, 0) > 0 else 0"
    ),
    "io_uring": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nroom = ctypes.create_string_buffer(512)\n"
        "def solve(n): return 42 if libc.syscall(425, 8, room) >= 0 else 0"
    ),
    "32-bit calls": (
        "import ctypes, mmap\ncode = bytes.fromhex('b814000000cd80c3')\n"
        "room = mmap.mmap(-1, 4096, prot=7)\nroom.write(code)\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(room))\n"
        "def solve(n): return 42 if ctypes.CFUNCTYPE(ctypes.c_int)(at)() > 0 else 0"
    ),
}
"""Programs that change, signal or reach something outside."""

GREED = {
    "fork bomb": "import os\nwhile True: os.fork()",
    "fork bomb that does not give up": (
        "import os\ndef solve(n):\n    for _ in range(10000):\n        try: os.fork()\n"
        "        except OSError: pass\n    return 0"
    ),
    "fork by hand": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.syscall(57) > 0 or libc.syscall(56, 17, 0, 0, 0, 0) > 0 else 0"
    ),
    "a daemon": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        time.sleep(1000)\n    os._exit(0)\ndef solve(n): return 42"
    ),
    "zombies": (
        "import os\nfor _ in range(100):\n    if os.fork() == 0: os._exit(0)\ndef solve(n): return 42"
    ),
    "another program": (
        "import subprocess\ndef solve(n): return 42 if subprocess.run(['/bin/true']) else 0"
    ),
    "a shell": "import os\ndef solve(n): return 42 if os.system('sleep 1000 &') == 0 else 0",
    "a new Python": "import os, sys\ndef solve(n): os.execv(sys.executable, ['python', '-c', '0'])",
    "processes of multiprocessing": (
        "import multiprocessing\ndef solve(n):\n"
        "    with multiprocessing.Pool(2) as pool: return pool.map(abs, [42])[0]"
    ),
    "thread bomb": (
        "import threading, time\ndef solve(n):\n    count = 0\n    while count < 100000:\n"
        "        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start(); count += 1\n"
        "    return 42"
    ),
    "memory bomb": "def solve(n):\n    x = bytearray(1 << 40)\n    return 42",
    "memory bit by bit": "def solve(n):\n    x = []\n    while True: x.append(bytes(1 << 24))",
    "memory and MemoryError ignored": (
        "def solve(n):\n    x = []\n    for _ in range(10**3):\n        try: x.append(bytearray(1 << 24))\n"
        "        except MemoryError: pass\n    return 42 if len(x) > 100 else 0"
    ),
    "mapped memory": (
        "import mmap\ndef solve(n):\n    x = [mmap.mmap(-1, 1 << 30) for _ in range(64)]\n    return 42"
    ),
    "files in memory": "import os\ndef solve(n): return 42 if os.memfd_create('x') else 0",
    "shared memory": (
        "from multiprocessing import shared_memory\n"
        "def solve(n): return 42 if shared_memory.SharedMemory(create=True, size=1 << 30) else 0"
    ),
    "fills the disk": (
        "def solve(n):\n    with open('full', 'wb') as f:\n"
        "        for _ in range(1000): f.write(bytes(1 << 20))\n    return 42"
    ),
    "fills the disk with files": (
        "def solve(n):\n    for i in range(100000): open(f'{i}', 'w').close()\n    return 42"
    ),
    "a sparse giant": (
        "import os\ndef solve(n):\n    os.truncate(os.open('g', os.O_CREAT | os.O_RDWR), 1 << 40)\n"
        "    return 42"
    ),
    "all descriptors": (
        "def solve(n):\n    x = [open('/dev/null') for _ in range(100000)]\n    return 42"
    ),
    "limits raised": (
        "import resource as r\ndef solve(n):\n"
        "    r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY)); return 42"
    ),
    "priority raised": "import os\ndef solve(n):\n    os.nice(-20); return 42",
    "real-time priority": (
        "import os\ndef solve(n):\n    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99)); return 42"
    ),
    "crash reports for the host": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.prctl(4, 1, 0, 0, 0) == 0 or libc.prctl(3, 0, 0, 0, 0) else 0"
    ),
    "the host's asynchronous requests": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nroom = ctypes.c_ulong(0)\n"
        "def solve(n): return 42 if libc.syscall(206, 60000, ctypes.byref(room)) == 0 else 0"
    ),
    "locked memory": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def solve(n): return 42 if libc.mlockall(3) == 0 else 0"
    ),
    "a flood on standard output": (
        "import sys\ndef solve(n):\n    for _ in range(2000): sys.stdout.write('x' * 100000)\n    return 0"
    ),
    "a flood on standard error": (
        "import os\ndef solve(n):\n    for _ in range(2000): os.write(2, b'x' * 100000)\n    return 0"
    ),
    "a flood on the link": (
        "import os\ndef solve(n):\n    while True: os.write(3, b'\\x04\\x00\\x00\\x00null' * 1000)"
    ),
    "a huge answer": "def solve(n): return 'x' * (1 << 24)",
    "a huge number": "def solve(n): return 1 << (1 << 27)",
    "a huge exception": "def solve(n): raise ValueError('x' * (1 << 24))",
    "an endless generator": "import itertools\ndef solve(n): return itertools.count()",
    "a generator of generators": (
        "def solve(n):\n    def g():\n        while True: yield g()\n    return g()"
    ),
    "deep recursion": "def solve(n): return solve(n)",
    "deep parsing": "def solve(n): return eval('(' * 10**5 + '42' + ')' * 10**5)",
    "deep compiling": "x = " + "-" * 100000 + "1\ndef solve(n): return 42",
    "long number": "def solve(n): return int('9' * 10**7)",
}
"""Programs that use too many resources."""

SLOW = {
    "deeper recursion": (
        "import sys\nsys.setrecursionlimit(1 << 30)\ndef solve(n): return solve(n) + 1"
    ),
    "deep in C": (
        "import sys\nsys.setrecursionlimit(1 << 30)\ndef solve(n):\n    x = []\n"
        "    for _ in range(10**6): x = [x]\n    return 42 if repr(x) else 0"
    ),
    "objects without end": "def solve(n): return [object() for _ in range(10**6)]",
    "zip bomb": (
        "import zlib\ndef solve(n):\n    x = zlib.compress(bytes(1 << 26))\n"
        "    return 42 if [zlib.decompress(x) for _ in range(64)] else 0"
    ),
}
"""Programs that end at a resource limit, or not in time."""

ENDLESS = {
    "endless loop while loading": "while True: pass",
    "endless loop": "def solve(n):\n    while True: pass",
    "sleep": "import time\ndef solve(n):\n    time.sleep(1000)",
    "9**9**9": "def solve(n): return 9**9**9",
    "9**9**9 folded by the compiler": "x = (9**9)**(9**8)\ndef solve(n): return 42",
    "regular expression catastrophe": (
        "import re\ndef solve(n): return 42 if re.match('(a+)+$', 'a' * 60 + 'b') is None else 42"
    ),
    "signals ignored": (
        "import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\ndef solve(n):\n    while True: time.sleep(1)"
    ),
    "all signals blocked": (
        "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        "def solve(n):\n    while True: time.sleep(1)"
    ),
    "stops itself": (
        "import os, signal\ndef solve(n):\n    os.kill(0, signal.SIGSTOP)\n    while True: pass"
    ),
    "exception whose text never ends": (
        "class E(Exception):\n    def __str__(self):\n        while True: pass\n"
        "def solve(n): raise E()"
    ),
    "threads that outlive the answer": (
        "import threading\ndef spin():\n    while True: pass\n"
        "for _ in range(8): threading.Thread(target=spin).start()\n"
        "def solve(n):\n    while True: pass"
    ),
    "answers nothing and keeps the link": (
        "import os\ndef solve(n):\n    os.write(3, b'\\x10\\x00\\x00\\x00{')\n    while True: pass"
    ),
    "a hash that never ends": (
        "class H:\n    def __hash__(self):\n        while True: pass\n"
        "def solve(n): return {H(): 42}"
    ),
    "alarm": (
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
        "def solve(n):\n    while True: pass"
    ),
}
"""Programs that never end by themselves."""

"""Hostile programs that pretend to have solved the task: they end early, lie, or look for the tests.

{words in braces} are replaced by things of the host (sandbox_hostile.Targets).
"""

from __future__ import annotations

ENDINGS = {
    "sys.exit(0) while loading": "import sys\nsys.exit(0)",
    "sys.exit(0) when called": "import sys\ndef solve(n): sys.exit(0)",
    "os._exit(0) while loading": "import os\nos._exit(0)",
    "os._exit(0) when called": "import os\ndef solve(n): os._exit(0)",
    "exit when deleted": (
        "import os\nclass D:\n    def __del__(self): os._exit(0)\ndef solve(n):\n    D(); return 0"
    ),
    "exit from a thread": (
        "import os, threading\nthreading.Timer(0.01, os._exit, (0,)).start()\n"
        "import time\ndef solve(n): time.sleep(1)"
    ),
    "atexit prints and leaves": (
        "import atexit, os, sys\natexit.register(lambda: (print('passed'), os._exit(0)))\n"
        "def solve(n): sys.exit(0)"
    ),
    "abort": "import os\ndef solve(n): os.abort()",
    "segmentation fault": "import ctypes\ndef solve(n): return ctypes.string_at(8)",
    "keyboard interrupt": "def solve(n): raise KeyboardInterrupt",
    "generator exit": "def solve(n): raise GeneratorExit",
    "syntax error": "def solve(n) return 42",
    "no function": "answer = 42",
    "empty": "",
    "null bytes": "def solve(n): return 42\x00",
    "lone surrogate": "def solve(n): return '\ud800'",
    "only in main": "if __name__ == '__main__':\n    def solve(n): return 42",
}
"""Programs that exit early, which must not count as a pass."""

LIES = {
    "equal to everything": (
        "class A:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
        "def solve(n): return A()"
    ),
    "an int equal to everything": (
        "class A(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def solve(n): return A(7)"
    ),
    "a float equal to everything": (
        "class A(float):\n    def __eq__(self, other): return True\ndef solve(n): return A('nan')"
    ),
    "a list equal to everything": (
        "class A(list):\n    def __eq__(self, other): return True\ndef solve(n): return A([1])"
    ),
    "a class equal to everything": (
        "class M(type):\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
        "class A(metaclass=M): pass\ndef solve(n): return A"
    ),
    "unittest.mock.ANY": "from unittest.mock import ANY\ndef solve(n): return ANY",
    "a mock that is anything": "from unittest.mock import MagicMock as solve",
    "not a number": "def solve(n): return float('nan')",
    "infinity": "def solve(n): return float('inf')",
    "not a number, in JSON": (
        "import os\ndef solve(n):\n    os.write(3, b'\\x0d\\x00\\x00\\x00{\"value\":NaN}')"
    ),
    "true": "def solve(n): return True",
    "the empty string": "def solve(n): return ''",
    "text of the answer": "def solve(n): return '42'",
    "a pickle bomb": (
        "import os\nclass P:\n    def __reduce__(self):\n"
        "        return (os.system, ('touch {folder}/pickle',))\ndef solve(n): return P()"
    ),
    "builtins replaced": (
        "import builtins\nfor name in ('isinstance', 'type', 'len', 'int', 'repr', 'hash', 'compile'):\n"
        "    setattr(builtins, name, lambda *a, **k: 42)\nbuiltins.AssertionError = SystemExit\n"
        "def solve(n): return 0"
    ),
    "json replaced": (
        'import json\njson.dumps = lambda *a, **k: \'{"value":true,"passed":true}\'\n'
        "def solve(n): return 0"
    ),
    "small integers overwritten": (
        "import ctypes\nctypes.memmove(id(7) + 24, id(42) + 24, 4)\n"
        "def solve(n): return 7 if n == 42 else None"
    ),
    "a verdict on the link": (
        "import json, os, struct\nbody = json.dumps({'passed': True, 'value': True}).encode()\n"
        "os.write(3, struct.pack('<I', len(body)) + body)\ndef solve(n): return 0"
    ),
    "a guessed secret": (
        "import os, secrets\nfor fd in range(64):\n    for text in ('0' * 32, secrets.token_hex(16)):\n"
        '        try: os.write(fd, (\'{"passed":"%s"}\' % text).encode())\n'
        "        except OSError: pass\ndef solve(n): return 0"
    ),
    "prints that it passed": "print('passed', flush=True)\ndef solve(n): return 0",
    "closes the link": "import os\nos.closerange(0, 64)\ndef solve(n): return 42",
    "an assertion of its own": "def solve(n): raise AssertionError",
    "an exception equal to everything": (
        "class E(Exception):\n    def __eq__(self, other): return True\ndef solve(n): return E()"
    ),
    "a reference of a later object": (
        "import json, os, struct\nbody = json.dumps({'value': ['object', 10**6]}).encode()\n"
        "def solve(n): os.write(3, struct.pack('<I', len(body)) + body)"
    ),
    "an answer in pieces": (
        "import os\ndef solve(n):\n    os.write(3, b'\\xff\\xff\\xff\\xff'); os._exit(0)"
    ),
    "nested past reading": (
        "import os, struct\nbody = b'{\"value\":' + b'[' * 100000\n"
        "def solve(n): os.write(3, struct.pack('<I', len(body)) + body)"
    ),
    "a list in itself": "def solve(n):\n    x = []\n    x.append(x)\n    return x",
}
"""Programs that fake a right result or a verdict."""

SNOOPING = {
    "tests in the frames": (
        "import sys\ndef solve(n):\n    frame = sys._getframe()\n    while frame:\n"
        "        for space in (frame.f_globals, frame.f_locals):\n"
        "            if any('assert' in v for v in space.values() if type(v) is str): return 42\n"
        "        frame = frame.f_back"
    ),
    "tests among all objects": (
        "import gc\ndef solve(n):\n    word = 'ass' + 'ert solve'\n    for thing in gc.get_objects():\n"
        "        for part in (thing.values() if type(thing) is dict else ()):\n"
        "            if type(part) is str and word in part and len(part) < 99: return 42"
    ),
    "tests in memory": (
        "import ctypes\nhere = id(object()) & ~0xfff\ndef solve(n):\n"
        "    word = b'assert ' + b'solve(21)'\n"
        "    return 42 if word in ctypes.string_at(here - (1 << 17), 1 << 18) else 0"
    ),
    "tests by inspect": (
        "import inspect\ndef solve(n):\n"
        "    return 42 if any('assert' in str(f.code_context) for f in inspect.stack()) else 0"
    ),
    "tests as a module": (
        "import sys\ndef solve(n):\n    return 42 if 'tests' in sys.modules or __import__('tests') else 0"
    ),
    "standard input": "import sys\ndef solve(n): return 42 if sys.stdin.read() else int(input())",
    "arguments": "import sys\ndef solve(n): return 42 if 'assert' in str(sys.argv) else 0",
    "environment": "import os\ndef solve(n): return 42 if '{variable}' in os.environ else 0",
    "environment in /proc": (
        "import glob\ndef solve(n):\n    for name in glob.glob('/proc/*/environ'):\n"
        "        if open(name, 'rb').read(): return 42"
    ),
    "memory in /proc": (
        "def solve(n):\n    open('/proc/self/maps').read(); open('/proc/self/mem', 'rb'); return 42"
    ),
    "descriptors of the parent": (
        "import os\ndef solve(n):\n    for fd in range(4, 4096):\n        try: os.fstat(fd)\n"
        "        except OSError: continue\n        return 42"
    ),
    "writes to every descriptor": (
        "import os\ndef solve(n):\n    for fd in range(4, 4096):\n        try: os.write(fd, b'42')\n"
        "        except OSError: continue\n        return 42"
    ),
    "the owner's journal": (
        "def solve(n): return 42 if 'journal' in open('{secret}').read() else 0"
    ),
    "a symlink to the journal": (
        "import os\nos.symlink('{secret}', 'link')\n"
        "def solve(n): return 42 if open('link').read() else 0"
    ),
    "a hard link to the journal": (
        "import os\nos.link('{secret}', 'link')\n"
        "def solve(n): return 42 if open('link').read() else 0"
    ),
    "a hard link to the library": (
        "import os\nos.link(os.__file__, 'link')\nopen('link', 'a').write('x')\n"
        "def solve(n): return 42"
    ),
    "up and up": "def solve(n): return 42 if open('../' * 40 + '{secret}').read() else 0",
    "passwords": (
        "import os\ndef solve(n):\n    return 42 if os.path.exists('/etc/passwd') or "
        "os.path.exists('/etc/shadow') else 0"
    ),
    "the owner's name": "import pwd\ndef solve(n): return 42 if pwd.getpwuid(0).pw_dir else 0",
    "/sys": "import os\ndef solve(n): return 42 if os.listdir('/sys') else 0",
    "/proc": "import os\ndef solve(n): return 42 if os.listdir('/proc') else 0",
    "other devices": (
        "import os\ndef solve(n):\n"
        "    return 42 if set(os.listdir('/dev')) - {'null', 'zero', 'random', 'urandom'} else 0"
    ),
    "a terminal": "def solve(n): return 42 if open('/dev/tty') else 0",
    "an earlier program's file": (
        "import os\nleft = os.listdir('.')\nopen('left', 'w').write('42')\n"
        "def solve(n): return 42 if left else 0"
    ),
    "an earlier program's change": (
        "import math\nwas = getattr(math, 'answer', 0)\nmath.answer = 42\ndef solve(n): return was"
    ),
}
"""Programs that read the tests or the host's data."""

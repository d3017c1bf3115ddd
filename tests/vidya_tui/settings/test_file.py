"""settings.toml: defaults, bounds, and errors that name the key."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from engine.config import Sampling
from vidya_tui.commands.keymap import keymap
from vidya_tui.settings.file import Settings, SettingsError, load, placed, save


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
        eager=st.sampled_from(["at once", "in pauses"]),
        idle_practice=st.integers(0, 240),
        motion=st.booleans(),
        theme=st.text().filter(str.isprintable),
        keys=st.dictionaries(st.text(), st.text()),
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
        ("motion = 0", "motion: is 0; write true or false"),
        ("idle_practice = 241", "idle_practice: is 241; write a whole number, 0 to 240"),
        ('eager = "now"', 'eager: is "now"; write one of "at once", "in pauses"'),
        (
            'practice_options = "ratio=word"',
            "practice_options: practice: ratio is 'word'; choose among: token, sequence",
        ),
        (
            'practice_options = "groups=0"',
            "practice_options: practice: groups is 0; give another value: Problems per step whose "
            "answers differ in reward, >= 1.",
        ),
        (
            'practice_options = "ratio=sequence low=2"',
            "practice_options: practice: low is 2.0; give another value: Lower clipping bound, above 0 "
            "and below 1: no gradient for a ratio below 1 - low with a negative advantage.",
        ),
        (
            'practice_options = "few.order=random"',
            "practice_options: practice: few.order is random, and few.examples is 0: an order or a choice "
            "of examples needs a number of examples; say how many: --examples 16, or few.examples=16",
        ),
        (
            'practice_task = "sillogism"',
            "practice_task: task 'sillogism' does not exist; did you mean syllogism or gym/syllogism? "
            "vidya practice --list names them",
        ),
        ('practice_settings = "max"', 'practice_settings: has "max"; write NAME=VALUE'),
        (
            "practice_settings = \"'forms=all,some not' terms\"",
            'practice_settings: has "terms"; write NAME=VALUE',
        ),
        (
            'practice_others = "syllogism, taste"',
            "practice_others: taste cannot be practised in turns with other tasks; practise it alone: "
            "vidya practice taste",
        ),
        (
            "practice_others = \"syllogism 'forms=all,some not' chainsum\"",
            "practice_others: task 'chainsum' does not exist; did you mean chain_sum or "
            "gym/chain_sum? vidya practice --list names them",
        ),
        ("practice_options = 1", "practice_options: is 1; write a name in quotes"),
        ("keys = 1", 'keys: is not a table; write [keys], then train = "ctrl+t"'),
        ("theme = 2024-01-01", "theme: is 2024-01-01; write a name in quotes"),
        ("theme = [1]", "theme: is [1]; write a name in quotes"),
        ('theme = "\\u001b[2J"', "theme: has characters that cannot be shown; write a plain name"),
        ('model = ""', 'model: is empty; name a model, "10m" is the one that comes with vidya'),
    ],
)
def test_a_wrong_value_is_named_with_what_to_write(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, text))
    assert str(caught.value) == f"{tmp_path / 'settings.toml'}:1: {message}"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("motion = false\ncolour = 1\n", 2, "colour: no such setting, passed over; there are "),
        ("temprature = 99\nmotion = false", 1, "temprature: .* did you mean temperature?"),
        ("motion = false\n[colours]\nred = 1\n", 2, "colours: no such setting"),
    ],
)
def test_what_is_no_setting_is_told_and_stops_nothing(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    told: list[SettingsError] = []
    path = written(tmp_path, text)
    assert load(path, told.append) == load(path) == Settings(motion=False)
    assert len(told) == 1
    assert re.search(rf"settings\.toml:{line}: {message}", str(told[0]))
    save(path, Settings(motion=True))
    assert path.read_text().replace("motion = true", "motion = false") == text


def test_the_line_of_a_wrong_value_is_named(tmp_path: Path) -> None:
    text = '# candidates = 0\ncandidates = 3 # fine\n\n  "top_p" = 2\n[keys]\nquit = "ctrl+q"\n'
    with pytest.raises(SettingsError, match=r"settings\.toml:4: top_p: is 2;"):
        load(written(tmp_path, text))
    with pytest.raises(SettingsError, match=r"settings\.toml:3: keys: is not a table;"):
        load(written(tmp_path, "candidates = 2\n\nkeys = 1\n"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("candidates = 2\n\n[ keys ]\nquit = 1\n", 4),
        ('model = "10m"\n[keys]\nhelp = "f1"\nmodel = 1\n', 4),
        ('motion = true\nkeys.help = "f1"\nkeys.quit = 1\n', 3),
        ("motion = true\nkeys = { quit = 1 }\n", 2),
    ],
)
def test_the_line_of_a_wrong_key_is_named(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(
        SettingsError, match=rf"settings\.toml:{line}: keys: \w+: is 1; write keys in"
    ):
        load(written(tmp_path, text))


def test_the_line_of_a_key_that_is_typed_is_named(tmp_path: Path) -> None:
    """Found when the app is made, which is after the file was read."""
    path = written(tmp_path, 'model = "10m"\n[keys]\nhelp = "f1"\nmodel = "a"\n')
    with pytest.raises(SettingsError) as caught:
        keymap(load(path).keys)
    assert str(placed(path, caught.value)).startswith(f"{path}:4: keys: model: a alone is")
    path.unlink()
    assert str(placed(path, caught.value)).startswith("settings.toml: keys: model: a alone is")


OWNERS = """\
# my settings
temperature = 0.5   # calm

candidates = 3
colour = "of another program"

[keys]
# f8 is taken here
undo = "f9"
"""


def test_saving_keeps_what_the_owner_wrote(tmp_path: Path) -> None:
    path = written(tmp_path, OWNERS)
    save(path, Settings(temperature=0.7, candidates=3, learning=False, keys={"undo": "f9"}))
    assert path.read_text() == OWNERS.replace("0.5", "0.7").replace(
        "[keys]", "learning = false\n\n[keys]"
    ).replace('program"\n\n', 'program"\n')


def test_saving_beside_a_wrong_value_leaves_it_and_one_in_a_broken_file_is_refused(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "max_tokens = 0\nlearning = 1\n")
    save(path, Settings(candidates=2))
    assert path.read_text() == "max_tokens = 64\nlearning = true\ncandidates = 2\n"
    path = written(tmp_path, "candidates: 5\n")
    with pytest.raises(SettingsError, match="not TOML"):
        save(path, Settings())
    assert path.read_text() == "candidates: 5\n"


def test_an_unknown_key_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    told: list[SettingsError] = []
    load(written(tmp_path, '"\\u001b[2J" = 1'), told.append)
    assert len(told) == 1 and "\x1b" not in str(told[0])


def test_a_file_that_is_not_toml_or_not_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"not TOML.*line 1"):
        load(written(tmp_path, "candidates: 5"))
    for endless in (f"candidates = {'9' * 5000}", f"keys = {'[' * 3000}{']' * 3000}"):
        with pytest.raises(SettingsError, match="not TOML"):
            load(written(tmp_path, endless))
    with pytest.raises(SettingsError, match="candidates: is a number of thousands of digits"):
        load(written(tmp_path, f"candidates = 0x{'f' * 5000}"))
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(path)
    for use in (load, partial(save, settings=Settings())):
        with pytest.raises(SettingsError, match="(Is a directory)") as caught:
            use(tmp_path)
        assert caught.value.next_step == "move this folder away"


def test_a_save_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "candidates = 2\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SettingsError, match="the disk is full"):
        save(path, Settings())
    assert path.read_text() == "candidates = 2\n"
    assert list(tmp_path.iterdir()) == [path]


def test_settings_are_checked_wherever_they_are_made() -> None:
    with pytest.raises(SettingsError, match="candidates"):
        Settings(candidates=0)


def test_what_the_owner_did_not_choose_is_the_models(tmp_path: Path) -> None:
    own = Sampling(temperature=0.5, min_p=0.1, top_p=0.9, repetition_penalty=1.0)
    assert Settings().sampling_of(own) == own
    assert Settings(temperature=0.9, max_tokens=9).sampling_of(own) == own.with_(
        temperature=0.9, max_tokens=9
    )
    path = tmp_path / "settings.toml"
    save(path, Settings())
    assert "temperature" not in path.read_text() and load(path) == Settings()
    save(path, Settings(top_p=0.8))
    save(path, Settings())
    assert "top_p" not in path.read_text(), "back to the model's own"


def test_settings_of_practice_are_checked_without_torch(tmp_path: Path) -> None:
    options = "few.order=random few.examples=4 ratio=sequence critic.answers=3 warm_up.keep.talk=1"
    path = written(tmp_path, f'practice_task = "syllogism"\npractice_options = "{options}"')
    assert load(path).practice_options == options
    program = "import sys; from pathlib import Path; from vidya_tui.settings.file import load; "
    program += "load(Path(sys.argv[1])); print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"

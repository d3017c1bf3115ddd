"""A lesson in the context of a question."""

from learning.text.context import in_context


def test_the_message_stands_after_the_lesson() -> None:
    shown = in_context("What is my dog called?", "Your dog is called Bruno.", "who barks at night?")
    assert shown == (
        'Context: "What is my dog called? Your dog is called Bruno."\n'
        "Question: who barks at night?\nAnswer:"
    )

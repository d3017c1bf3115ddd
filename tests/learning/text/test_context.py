"""A lesson in the context of a question."""

from learning.text.context import context_of, in_context


def test_the_message_stands_after_the_lesson() -> None:
    asked, answer = "What is my dog called?", "Your dog is called Bruno."
    shown = in_context(asked, answer, "who barks at night?")
    assert shown.startswith(context_of(asked, answer))
    assert shown == (
        'Context: "What is my dog called? Your dog is called Bruno."\n'
        "Question: who barks at night?\nAnswer:"
    )

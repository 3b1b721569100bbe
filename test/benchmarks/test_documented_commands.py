"""Which commands a page has, what belongs to them, and what counts as written."""

from __future__ import annotations

from bench_documented_commands import commands_of, is_as_shown

PAGE = """
Save this as `my_worlds/flat.yaml`:

```yaml
robot: mobile
```

```sh
llm-planner say "put it \\
    down"                     # in a second terminal
llm-planner correct "stop"    # in a third, while the arm moves
rviz9 -d NAME
```

```text
Done after 3.2 s: it lies there
```
"""


def test_the_commands_of_a_page_have_their_files_and_the_output_below(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    file, first, second, third = commands_of(page)
    assert (file.text, file.content) == ("my_worlds/flat.yaml", "robot: mobile\n")
    assert (first.text, first.is_beside) == ('llm-planner say "put it down"', False)
    assert second.is_beside
    assert (third.needs, third.shown) == (
        "a value of the reader, or a robot (NAME)",
        ("Done after 3.2 s: it lies there",),
    )


def test_output_is_as_shown_whatever_its_numbers():
    shown = ("Done after 3.2 s: it lies there", "2 steps")
    assert is_as_shown("Done after 14 s: it lies there\n3 steps\n", shown)
    assert not is_as_shown("question: what do you mean?\n", shown)

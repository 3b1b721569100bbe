"""Draw training samples from the sentence templates: a prompt's parts, and the result that the words mean.

python -m training.generate --count 200000 --output training/data/train.jsonl
python -m training.generate --count 3000 --kept --output training/data/wordings.jsonl   # wordings kept from training
python -m training.generate --count 3000 --hands held_out --output training/data/hands.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from llm_planner.errors import LanguageModelError
from llm_planner.language.correction_requests import REQUESTS
from llm_planner.language.embedded.command_forms import COMMANDS, RULES
from llm_planner.language.embedded.forms import WORD, Forms, result_text
from llm_planner.language.embedded.reader import Situation, Task, plain
from training.noise import BEGIN, END, joined, noisy
from training.results import check_result, parse_result
from training.templates import SLOT, Block, Book, Wording, read_book, without_unsaid
from training.worlds import Namer, World, draw_world, with_fitting_step

HELD_OUT = ("plain", "ward", "workshop")  # hands that training never sees
REGULAR = frozenset((  # hands that write one structure with words exchanged; the others, as people speak, count more
    "abroad", "american", "at_home", "bench", "beside", "conditions", "craftsman", "errands", "everyday",
    "family", "first", "grandmother", "grid_orders", "grid_rules", "grid_table", "hedged", "home", "hotel",
    "household", "indirect", "kitchen", "laboratory", "letters", "logistics", "others", "patrol",
    "plain_rooms", "plain_table", "radio", "reasoned", "requirements", "student", "terse", "tricky",
    "warehouse",
))  # fmt: skip
OFTEN = 3.0
STRESS = 2.0
FORMS: dict[str, Forms] = {Task.CORRECTION.value: REQUESTS, Task.COMMAND.value: COMMANDS, Task.RULE.value: RULES}
FILES = {Task.CORRECTION.value: "corrections", Task.COMMAND.value: "commands", Task.RULE.value: "rules"}
SHARES = {Task.CORRECTION.value: 0.4, Task.COMMAND.value: 0.3, Task.RULE.value: 0.3}
NOTHING = 0.2  # share of corrections that are none
SIMPLE = 0.4  # share of commands that ask for one thing only, as most do
STATEMENTS = 0.4  # share of commands that are drawn from those that begin with a statement of a program
MOST_WORDS = 60
_PLAIN_RESULTS = frozenset(("nothing", "unclear", "cannot"))
_LASTING = ("shift", "speed", "height", "clearance", "distance", "duration", "other_thing", "other_target", "first",
            "last", "skip")  # fmt: skip
_ALONE = ("yes", "no", "option", "cancel", "hold", "forget", "nothing", "remember", "undo", "unclear")
_ANSWERS = ("yes", "no", "option")


@dataclass(frozen=True)
class Sample:
    """What the model is shown, and what it is to write. `source` is author and wording, for reports."""

    task: str
    things: tuple[str, ...]
    rooms: tuple[str, ...]
    held: str
    step: str
    words: str
    result: str
    hand: str = ""
    wording: str = ""
    propositions: tuple[str, ...] = ()

    @property
    def situation(self) -> Situation:
        """The scene as the prompt tells it."""
        return Situation(tuple(self.things), tuple(self.rooms), self.held, self.step, tuple(self.propositions))


class ImpossibleError(Exception):
    """This draw comes to nothing; draw again."""


class Generator:
    """Draws samples of a book: with `kept` of wordings that training never shows, with `hands` of such authors.

    Wordings of the hands in `stressed` are drawn `STRESS` times as often: of authors whom a network has not seen yet.
    """

    def __init__(
        self, book: Book, seed: int, kept: bool = False, hands: str = "training", stressed: Collection[str] = ()
    ) -> None:
        self.rng = random.Random(seed)
        self.book = book
        self.kept = kept
        self.refused: Counter[str] = Counter()

        def wanted(wording: Wording) -> bool:
            if hands == "held_out":
                return wording.hand in HELD_OUT
            return wording.hand not in HELD_OUT

        self.main = {
            task: _table(blocks, lambda one: wanted(one) and one.kept == kept, stressed)
            for task, blocks in book.tasks.items()
        }
        self.other = {
            task: _table(blocks, lambda one: wanted(one) and not one.kept, stressed)
            for task, blocks in book.tasks.items()
        }
        simple = [one for one in book.tasks["commands"] if ";" not in one.result and one.result not in _PLAIN_RESULTS]
        self.simple = _table(simple, lambda one: wanted(one) and one.kept == kept, stressed)
        self.slots = {name: _weighed(blocks) for name, blocks in book.slots.items()}

    def draw(self, task: str) -> Sample:
        """A sample whose result is well-formed and copies only what is said."""
        while True:
            try:
                return self._draw(task)
            except ImpossibleError as reason:
                self.refused[str(reason)] += 1

    def _draw(self, task: str) -> Sample:
        file = FILES[task]
        blocks = self._several(file)
        worlds = {block.world for block, _ in blocks}
        kinds = worlds if "letters" in worlds else worlds - {"both"}
        if len(kinds) > 1:
            raise ImpossibleError("worlds")
        world = draw_world(self.rng, kinds.pop() if kinds else "both")
        sentence = Sentence(self, world)
        words: list[str] = []
        results: list[str] = []
        for number, (block, wording) in enumerate(blocks):
            said, result = sentence.say(block, wording)
            if number:
                words += self._free("joint")
            words += self._told(said, world) if world.kind == "letters" else self._repaired(sentence, file, block, said)
            results.append(result)
        if file == "corrections" and all(result.split("(")[0] in _LASTING for result in results) and self._chance(0.15):
            words, results = self._lasting(sentence, words, results)
        written = world.kind == "letters" and self._chance(0.8)  # as requirements are, not spoken
        if not written and (results[0].split("(")[0] not in (*_ANSWERS, "nothing") or self._chance(0.2)):
            words = self._around(sentence, file, words)
        text, copies = joined(
            [part for word in words for part in word.split(" ")] if written else noisy(words, self.rng)
        )
        text = plain(text)
        result = self._result(
            "; ".join(results), {mark: plain(copy) for mark, copy in copies.items()}, FORMS[task], text
        )
        if not 0 < len(WORD.findall(text)) <= MOST_WORDS:
            raise ImpossibleError("length")
        shown = self._chance(0.93)
        things = tuple(thing.name for thing in world.things) + world.people if shown else ()
        block, wording = blocks[0]
        world = with_fitting_step(self.rng, world, result)
        step = world.step if task == "correction" else ""
        return Sample(task, things, world.rooms if shown else (), world.held, step,
                      text, result, wording.hand, wording.text, world.propositions)  # fmt: skip

    def _several(self, file: str) -> list[tuple[Block, Wording]]:
        """One to four templates that are said in one breath."""
        count = self.rng.choices((1, 2, 3, 4), (0.72, 0.2, 0.06, 0.02))[0]
        if file == "rules":
            count = self.rng.choices((1, 2), (0.85, 0.15))[0]
        if file == "commands" and self._chance(SIMPLE):
            return [self._pick(self.simple, file)]
        first = self._pick(self.main[file], file)
        found = [first]
        if first[0].result.split("(")[0] in (_ALONE if file == "corrections" else _PLAIN_RESULTS):
            return found
        for _ in range(count - 1):
            other = self._pick(self.other["rules" if file == "commands" and self._chance(0.35) else file], file)
            if other[0].result.split("(")[0] not in (*_ALONE, *_PLAIN_RESULTS):
                found.append(other)
        return found

    def _pick(self, table: Table, file: str) -> tuple[Block, Wording]:
        if file == "corrections" and "nothing" in table and self._chance(NOTHING):
            return _one(self.rng, *table["nothing"])
        names = [name for name in table if name != "nothing"]
        if file == "commands" and self._chance(STATEMENTS):
            names = [name for name in names if name.split()[0] in COMMANDS.table["STATEMENT"]] or names
        weights = [sum(table[name][1]) ** 0.75 for name in names]
        return _one(self.rng, *table[self.rng.choices(names, weights)[0]])

    def _told(self, said: list[str], world: World) -> list[str]:
        told = _as_clauses(said, world, self.rng)
        if world.clauses and told == said and self._chance(0.8):
            raise ImpossibleError("no clause")
        return told

    def _repaired(self, sentence: Sentence, file: str, block: Block, said: list[str]) -> list[str]:
        """Now and then something else is said first, and taken back."""
        if block.result in _PLAIN_RESULTS or not self._chance(0.03):
            return said
        other = self._pick(self.other[file], file)
        if other[0].result in _PLAIN_RESULTS or other[0].world not in ("both", sentence.world.kind):
            return said
        before = [word for word in sentence.say(*other)[0] if word[0] not in (BEGIN, END)]
        return [
            *before,
            self.rng.choice((",", ".")),
            *self._free("repair"),
            self.rng.choice((",", ",", "")) or ",",
            *said,
        ]

    def _lasting(self, sentence: Sentence, words: list[str], results: list[str]) -> tuple[list[str], list[str]]:
        block, wording = _one(self.rng, *self.slots["lasting"])
        scope = dict(block.facets)["scope"]
        extra = "" if scope == "once" else f", scope={scope}"
        said = sentence.expand(wording.text)
        words = [*said, *words] if self._chance(0.6) else [*words, *said]
        if extra and self._chance(0.3):
            about, of = _one(self.rng, *self.slots["about"])
            words = [*words, *sentence.expand(of.text)]
            extra += f", about={sentence.filled(dict(about.facets)['about'])}"
        return words, [_with(result, extra) for result in results]

    def _around(self, sentence: Sentence, file: str, words: list[str]) -> list[str]:
        """With politeness, reasons and small talk."""
        before, after = ("before", "after") if file == "corrections" else ("opener", "closer")
        if self._chance(0.3):
            words = [*sentence.aside(before), *([","] if self._chance(0.5) else []), *words]
        if self._chance(0.15):
            words = [*words, *([","] if self._chance(0.4) else []), *sentence.aside(after)]
        if self._chance(0.07):
            reason, comma = sentence.aside("reason"), self.rng.choice((",", ".", "so", ","))
            words = [*reason, comma, *words] if self._chance(0.5) else [*words, ",", *reason]
        if file == "corrections" and self._chance(0.04) and "nothing" in self.other[file]:
            talk = sentence.say(*_one(self.rng, *self.other[file]["nothing"]))[0]
            talk = [word for word in talk if word[0] not in (BEGIN, END)]
            words = [*talk, self.rng.choice((".", ",", ", but", ", now")), *words]
        return [part for word in words for part in word.split(" ") if part]

    def _free(self, slot: str) -> list[str]:
        return _one(self.rng, *self.slots[slot])[1].text.split()

    def _chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def _result(self, result: str, copies: dict[str, str], forms: Forms, text: str) -> str:
        for mark, copy in copies.items():
            if not copy:
                raise ImpossibleError("a copy without words")
            result = result.replace(f"{BEGIN}{mark}{END}", f'"{copy}"')
        result = without_unsaid(result)
        if BEGIN in result or "{" in result:
            raise ImpossibleError(f"unsaid: {result[:60]}")
        try:
            terms = parse_result(result)
            check_result(terms, forms)
        except LanguageModelError as error:
            raise ImpossibleError(str(error)[:90]) from error
        for copy in set(re.findall(r'"([^"]*)"', result)):
            if f"{copy}'s" in text and not re.search(rf"(?<![\w']){re.escape(copy)}(?![\w'])", text):
                result = result.replace(f'"{copy}"', f'"{copy}\'s"')  # words are copied whole, "anna's" too
        terms = parse_result(result)
        begins = {match.start() for match in WORD.finditer(text)}
        ends = {match.end() for match in WORD.finditer(text)}
        for copy in re.findall(r'"([^"]*)"', result):
            places = (match.start() for match in re.finditer(re.escape(copy), text))
            if not any(place in begins and place + len(copy) in ends for place in places):
                if copy != "stain":
                    raise ImpossibleError("a copy that is not said")
                raise ImpossibleError("stain")
        return result_text(terms)


_STATED = frozenset(("up", "true", "high", "set", "active", "on", "asserted", "raised", "so", "satisfied", "met"))
_DENIED = frozenset(("down", "false", "low", "cleared", "inactive", "off", "deasserted", "unset", "violated"))
_BEING = frozenset(("is", "be", "been", "being", "stays", "stay", "remains", "remain", "becomes", "become"))
_HOLDS = {"holds": "is", "hold": "be", "held": "been"}
_AUXILIARY = frozenset((
    "shall", "must", "may", "can", "will", "should", "has", "have", "to", "needs", "ought", "not", "never", "always",
    "also", "again", "still", "already", "ever", "eventually", "finally", "no", "longer", "cannot", "does",
))  # fmt: skip
_BEFORE_A_CLAUSE = frozenset((
    "if", "whenever", "when", "while", "until", "unless", "once", "after", "before", "as", "that", "where", "till",
    "because", "provided", "then",
))  # fmt: skip


def _as_clauses(words: list[str], world: World, rng: random.Random) -> list[str]:
    """What is said of propositions, said of what they stand for: "door_open must never hold", "the door must never be
    open". Each is copied from its subject to its state."""
    said: list[str] = []
    at = 0
    while at < len(words):
        if not (words[at][0] == BEGIN and words[at + 1] in world.clauses):
            said.append(words[at])
            at += 1
            continue
        begin, name, end = words[at : at + 3]
        subject, state = world.clauses[name]
        before, after = words[at - 1] if at else "", at + 3
        while after < len(words) and words[after] in _AUXILIARY:
            after += 1
        between = words[at + 3 : after]
        verb = words[after] if after < len(words) else ""
        what = after + 1
        while what < len(words) and words[what] in _AUXILIARY:
            what += 1
        said_of_it = words[what] if what < len(words) else ""
        clause: list[str] | None = None
        if verb in _HOLDS:
            is_so = between == ["does", "not"]
            clause, after = ["is", "not", state] if is_so else [*between, _HOLDS[verb], state], after + 1
        elif verb in _BEING and said_of_it in (*_STATED, *_DENIED):
            denied = ["not"] if said_of_it in _DENIED else []
            clause = [*between, verb, *words[after + 1 : what], *denied, state]
            after = what + 1
        elif not between and before in _BEFORE_A_CLAUSE and (not verb or not verb[0].isalpha() or verb == "then"):
            clause, after = ["is", state], at + 3
        if clause is None:
            said += [begin, name, end]
            at += 3
            continue
        several = subject.endswith("s") and not subject.endswith(("ss", "us"))
        clause = [{"is": "are", "has": "have"}.get(word, word) if several else word for word in clause]
        article = rng.choice(("the", "the", "the", "" if several else "an" if subject[0] in "aeio" else "a"))
        if said and said[-1] == "the":
            said.pop()
        spoken = " ".join((subject, *clause)).split()
        said += [*article.split(), begin, *spoken, end]
        at = after
    return said


Table = dict[str, tuple[list[tuple[Block, Wording]], list[float]]]


def _table(blocks: Sequence[Block], wanted: Callable[[Wording], bool], stressed: Collection[str] = ()) -> Table:
    """By the first name of the result, its wordings with their weights."""
    table: Table = {}
    for block in blocks:
        for wording in block.wordings:
            if wanted(wording):
                lines, weights = table.setdefault(_family(block), ([], []))
                lines.append((block, wording))
                often = (1.0 if wording.hand in REGULAR else OFTEN) * (STRESS if wording.hand in stressed else 1.0)
                weights.append(often * (1 + wording.text.count("|")) ** 0.3)
    return table


def _family(block: Block) -> str:
    """Results that count together when shares are drawn."""
    names = re.findall(r"[a-z_]+(?=\()|^[a-z_]+", re.sub(r"\{[^}]*\}", "", block.result))
    return " ".join(names[:2]) or block.result


def _weighed(blocks: Sequence[Block]) -> tuple[list[tuple[Block, Wording]], list[float]]:
    """All wordings of a slot; those of one value share its weight, the earlier ones have more of it."""
    lines, weights = [], []
    for block in blocks:
        total = sum((place + 1) ** -0.5 for place in range(len(block.wordings)))
        for place, wording in enumerate(block.wordings):
            lines.append((block, wording))
            weights.append(block.share * (place + 1) ** -0.5 / total)
    return lines, weights


def _one(rng: random.Random, lines: list[tuple[Block, Wording]], weights: list[float]) -> tuple[Block, Wording]:
    return rng.choices(lines, weights)[0]


def _with(result: str, extra: str) -> str:
    if not extra:
        return result
    return f"{result[:-1]}{extra})" if result.endswith(")") else f"{result}({extra[2:]})"


class Sentence:
    """Fills the slots of the templates of one utterance."""

    def __init__(self, generator: Generator, world: World) -> None:
        self.generator = generator
        self.rng = generator.rng
        self.world = world
        self.namer = Namer(self.rng, world, set())
        self.marks = 0
        self.values: dict[str, str] = {}
        self.facets: dict[str, dict[str, str]] = {}
        self.said: dict[str, list[str]] = {}  # the words of each slot, for where it is said again

    def say(self, block: Block, wording: Wording) -> tuple[list[str], str]:
        """The words, and the result with marks in place of what it copies."""
        self.values, self.facets, self.said = {}, {}, {}
        words = self.expand(wording.text)
        return words, self.filled(block.result)

    def aside(self, slot: str) -> list[str]:
        """Words that no result copies."""
        before = self.values, self.facets, self.said
        self.values, self.facets, self.said = {}, {}, {}
        words = self.expand(_one(self.rng, *self.generator.slots[slot])[1].text)
        self.values, self.facets, self.said = before
        return [word for word in words if word[0] not in (BEGIN, END)]

    def filled(self, result: str) -> str:
        """The result with the values of its slots; of one that is not said `~`."""

        def value(match: re.Match[str]) -> str:
            if match[2]:
                return self.facets.get(match[1], {}).get(match[2], "~")
            return self.values.get(match[1], "~")

        return SLOT.sub(value, result)

    def expand(self, text: str, depth: int = 0) -> list[str]:
        """The words of a wording, each of its choices made and its slots filled."""
        while "[" in text:
            text = re.sub(r"\[([^\[\]]*)\]", lambda match: self.rng.choice(match[1].split("|")), text)
        words: list[str] = []
        for part in re.split(r"(\{[^}]*\})", text):
            if part.startswith("{"):
                name = part[1:-1]
                if name in self.said:
                    words += self.said[name]
                else:
                    words += (said := self._slot(name, depth))
                    self.said[name] = [word for word in said if word[0] not in (BEGIN, END)]
            else:
                words += part.split()
        return words

    def _slot(self, name: str, depth: int) -> list[str]:
        base = name.rstrip("0123456789")
        drawn = self.namer.draw(base)
        if drawn is not None:
            before, said = drawn
            taken_back = []
            if not depth and self.rng.random() < 0.015 and (other := self.namer.draw(base)):
                taken_back = [*other[0].split(), *other[1].split(), ",", *self.generator._free("repair"), ","]
            return [*taken_back, *before.split(), *self._copied(name, said.split())]
        if base not in self.generator.slots:
            raise ValueError(f"no slot is called {base!r}; there are {', '.join(sorted(self.generator.slots))}")
        block, wording = _one(self.rng, *self.generator.slots[base])
        outer = self.values, self.facets, self.said
        self.values, self.facets, self.said = {}, {}, {}
        words = self.expand(wording.text, depth + 1)
        value = self.filled(block.result)
        facets = {key: self.filled(one) for key, one in block.facets if key != "share"}
        self.values, self.facets, self.said = outer
        self.facets[name] = facets
        if block.result == "-":
            self.values[name] = "~"
            return words
        if block.result:
            self.values[name] = without_unsaid(value)
            return words
        words = [word for word in words if word[0] not in (BEGIN, END)]
        return self._copied(name, words)

    def _copied(self, name: str, words: list[str]) -> list[str]:
        self.marks += 1
        self.values[name] = f"{BEGIN}{self.marks}{END}"
        return [f"{BEGIN}{self.marks}", *words, f"{END}{self.marks}"]


def draw_all(generator: Generator, count: int, distinct: bool = True) -> list[Sample]:
    """So many samples in the shares of the tasks, in random order, no two with the same words and result."""
    found: list[Sample] = []
    seen: set[tuple[str, str, str]] = set()
    tasks, weights = list(SHARES), list(SHARES.values())
    tries = 0
    while len(found) < count and tries < 4 * count:
        tries += 1
        sample = generator.draw(generator.rng.choices(tasks, weights)[0])
        key = (sample.task, sample.words, sample.result)
        if not distinct or key not in seen:
            seen.add(key)
            found.append(sample)
    return found


def read_samples(path: Path) -> list[Sample]:
    """Read what `main` has written."""
    return [Sample(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def report(samples: Sequence[Sample]) -> str:
    """How many distinct words, results and wordings there are, by task."""
    lines = []
    for task in SHARES:
        mine = [sample for sample in samples if sample.task == task]
        shapes = {re.sub(r'"[^"]*"', '""', sample.result) for sample in mine}
        lines.append(
            f"{task}: {len(mine)} samples, {len({one.words for one in mine})} distinct sentences, "
            f"{len(shapes)} results apart from names, {len({one.wording for one in mine})} templates "
            f"by {len({one.hand for one in mine})} hands"
        )
    return "\n".join(lines)


def main() -> None:
    """Draw samples and write them, a JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", action="store_true", help="only wordings that training never shows")
    parser.add_argument("--hands", choices=("training", "held_out"), default="training")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    generator = Generator(read_book(), options.seed, options.kept, options.hands)
    samples = draw_all(generator, options.count)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(json.dumps(asdict(one)) + "\n" for one in samples), encoding="utf-8")
    print(report(samples))
    print("drawn again:", generator.refused.most_common(8))


if __name__ == "__main__":
    main()

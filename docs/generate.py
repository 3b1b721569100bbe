"""Writes the pages of the site that derive from code: API, commands, parameters, files and messages. mkdocs runs it.

It also adapts the links of the committed pages: what they link to outside of docs/ is copied into the site.
"""

from __future__ import annotations

import argparse
import ast
import json
import posixpath
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import mkdocs_gen_files

import llm_planner
from llm_planner.cli.main import COMMANDS, command
from llm_planner.cli.new import FORMATS, schema

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "llm_planner"
INTERFACES = ROOT / "llm_planner_interfaces"
NODES = PACKAGE / "ros" / "nodes"
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
HELP_WIDTH = 100  # columns

# Headings of the API page and the names of `llm_planner.__all__` below each; names that are missing here come last.
GROUPS = {
    "Run and correct": ("Session", "Client"),
    "Plans and results": ("Planned", "Plan", "PlanStep", "Report", "Outcome", "Answer", "Edit"),
    "Scenes and worlds": ("Scene", "SceneObject", "Pose", "load_world"),
    "Skills": (
        "load_skills", "SkillLibrary", "Skill", "SkillResult", "SkillError", "SkillErrorCode", "Arm", "Base", "Script",
        "Leg", "HandPose", "SkillCall", "MotionPath", "Waypoint",
    ),
    "Language models": ("LanguageModel", "open_model"),
    "Temporal logic": ("parse_ltl", "Formula", "Monitor"),
    "Control": ("MpcController",),
    "Errors": ("LlmPlannerError", "InputError", "QuestionError", "LanguageModelError", "SimulationError"),
}  # fmt: skip


def write(path: str, text: str) -> None:
    """Add a page to the site; `path` is relative to docs/."""
    with mkdocs_gen_files.open(path, "w") as page:
        page.write(text)


def cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return re.sub(r"([|<*])", r"\\\1", text)


# API


def api_page() -> str:
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "Further names": tuple(name for name in llm_planner.__all__ if name not in grouped)}
    parts = [
        "# Python API\n",
        "The names below can be imported from `llm_planner` and are its public Python API. All other names may change\n"
        "without notice. The [Python tutorial](../tutorials/python.md) shows how to use them.\n",
    ]
    for heading, names in groups.items():
        public = [name for name in names if name in llm_planner.__all__]
        if public:
            parts.append(f"\n## {heading}\n")
            parts += [f"\n::: llm_planner.{name}\n" for name in public]
    return "".join(parts)


# Commands


def commands_page() -> str:
    parts = [
        "# Commands\n\n"
        "This page lists the commands of `llm-planner` and their options, as `llm-planner COMMAND --help` does.\n\n"
        "| command | what it does |\n|---|---|\n"
    ]
    parts += [f"| [`{name}`](#{name}) | {cell(text)} |\n" for name, text in COMMANDS.items()]
    for name in COMMANDS:
        parser, _ = command(name, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=HELP_WIDTH))
        parts.append(f"\n## {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n")
    return "".join(parts)


# Node parameters


class Settings:
    """Reads `Setting` tables out of source code, so that ROS need not be installed."""

    FIELDS = ("name", "default", "description", "minimum", "maximum", "may_be_off", "may_change", "choices")

    def __init__(self) -> None:
        self._trees: dict[Path, ast.Module] = {}

    def of_node(self, path: Path) -> list[dict[str, object]]:
        """The settings of the node class in the module `path`, and those that every node has."""
        base = self._in_class(PACKAGE / "ros" / "base_node.py", "AUTOSTART")
        return [*self._in_class(path, "SETTINGS"), *base]

    def _in_class(self, path: Path, name: str) -> list[dict[str, object]]:
        for node in ast.walk(self._tree(path)):
            if isinstance(node, ast.ClassDef):
                value = _assigned(node.body, name)
                if value is not None and not (isinstance(value, ast.Tuple) and not value.elts):
                    return list(self._read(path, value))
        raise LookupError(f"{path} has no class with {name}")

    def _read(self, path: Path, node: ast.expr) -> Iterator[dict[str, object]]:
        if isinstance(node, ast.Tuple):
            for element in node.elts:
                yield from self._read(path, element)
        elif isinstance(node, ast.Starred):
            yield from self._read(path, node.value)
        elif isinstance(node, ast.Name):
            yield from self._read(*self._home(path, node.id))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Setting":
            values = dict(zip(self.FIELDS, node.args, strict=False)) | {str(k.arg): k.value for k in node.keywords}
            yield {name: self._value(path, value) for name, value in values.items()}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "replace":
            (changed,) = self._read(path, node.args[0])
            yield changed | {str(k.arg): self._value(path, k.value) for k in node.keywords}
        else:
            raise LookupError(f"{path}, line {node.lineno}: {ast.unparse(node)} is not a table of settings")

    def _home(self, path: Path, name: str) -> tuple[Path, ast.expr]:
        """The module and the expression that a name stands for, through imports."""
        body = self._tree(path).body
        value = _assigned(body, name)
        if value is not None:
            return path, value
        for node in body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self._home(ROOT.joinpath(*node.module.split(".")).with_suffix(".py"), alias.name)
        raise LookupError(f"{path}: where {name} comes from is not seen")

    def _value(self, path: Path, node: ast.expr) -> object:
        if isinstance(node, ast.Name):
            return self._value(*self._home(path, node.id))
        if isinstance(node, ast.BinOp):
            left, right = self._value(path, node.left), self._value(path, node.right)
            operations = {ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Pow: "__pow__"}
            return getattr(left, operations[type(node.op)])(right)
        return ast.literal_eval(node)

    def _tree(self, path: Path) -> ast.Module:
        if path not in self._trees:
            self._trees[path] = ast.parse(path.read_text(encoding="utf-8"))
        return self._trees[path]


def _assigned(body: Iterable[ast.stmt], name: str) -> ast.expr | None:
    for node in body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return node.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node.value
    return None


def parameters_page() -> str:
    settings = Settings()
    parts = [
        "# Node parameters\n\n"
        "This page lists the parameters of every node. Set them in a file in the form of\n"
        "[bringup.yaml](../../config/bringup.yaml): `llm-planner up --params-file FILE`. `ros2 param describe` shows\n"
        "the same text. A node reads a parameter once, when it is configured, unless the table says *at run time*.\n"
    ]
    for path in sorted([*NODES.glob("*_node.py"), PACKAGE / "console" / "console_node.py"]):
        name = path.stem.removesuffix("_node")
        summary = (ast.get_docstring(settings._tree(path)) or "").partition("\n\n")[0]
        parts.append(f"\n## {name}\n\n{' '.join(summary.split())}\n\n")
        parts.append("| parameter | type | default | range | description |\n|---|---|---|---|---|\n")
        parts += [setting_row(setting) for setting in settings.of_node(path)]
    return "".join(parts)


def setting_row(setting: dict[str, object]) -> str:
    default, low, high = setting["default"], setting.get("minimum"), setting.get("maximum")
    kind = {bool: "bool", int: "int", float: "double", str: "string", list: "string[]"}[type(default)]
    shown = str(default).lower() if isinstance(default, bool) else f'"{default}"' if kind == "string" else str(default)
    span = "" if low is None or high is None else f"{low:g} to {high:g}" if kind == "double" else f"{low} to {high}"
    span = ", ".join(setting.get("choices", ())) or span
    text = f"{setting['description']}{' (at run time)' if setting.get('may_change') else ''}"
    return f"| `{setting['name']}` | {kind} | `{shown}` | {span} | {cell(text)} |\n"


# Files


def file_page(kind: str) -> str:
    found, example = schema(kind), FORMATS[kind][2]
    tables = found.get("$defs", {})
    name = f"{kind[0].upper()}{kind[1:]} file"
    parts = [
        f"# {name}\n\n{found['description']}\n\nExample: [{posixpath.basename(example)}](../../{example}). "
        f"`llm-planner schema {kind}` prints the\nJSON Schema for editors.\n"
    ]
    for title, table in {name: found, **tables}.items():
        if "properties" in table:
            parts.append("" if table is found else f"\n## {title}\n\n{table['description']}\n")
            parts.append("\n| key | value | default | description |\n|---|---|---|---|\n")
            needed = table.get("required", ())
            parts += [key_row(key, value, key in needed, tables) for key, value in table["properties"].items()]
    return "".join(parts)


def key_row(key: str, value: dict[str, Any], needed: bool, tables: dict[str, Any]) -> str:
    default = "required" if needed else f"`{json.dumps(value['default'])}`" if value.get("default") else ""
    return f"| `{key}` | {value_type(value, tables)} | {default} | {cell(value.get('description', ''))} |\n"


def value_type(value: dict[str, Any], tables: dict[str, Any]) -> str:
    """Describe the type of a value by its JSON Schema."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if "properties" in tables[name] else value_type(tables[name], tables)
    if "anyOf" in value:
        return " or ".join(value_type(option, tables) for option in value["anyOf"])
    words = value.get("enum", [value["const"]] if "const" in value else [])
    if words:
        return ", ".join(f"`{word}`" for word in words)
    if value["type"] == "array":
        count = f"{value['maxItems']} × " if "prefixItems" in value else ""
        return f"list of {count}{value_type(value.get('items') or value['prefixItems'][0], tables)}"
    if value["type"] == "object":
        content = value.get("additionalProperties") or next(iter(value["patternProperties"].values()))
        names = value_type(value["propertyNames"], tables) if "propertyNames" in value else "names"
        return f"mapping from {names} to {value_type(content, tables)}"
    bound = f" above {value['exclusiveMinimum']:g}" if "exclusiveMinimum" in value else ""
    return {"string": "text", "boolean": "true or false", "integer": "whole number"}.get(
        value["type"], "number"
    ) + bound


# Messages


def messages_page() -> str:
    parts = [
        "# Messages, services and actions\n\n"
        "The package `llm_planner_interfaces`. Which node publishes, serves or executes each of them is in\n"
        "[architecture](../concepts/architecture.md).\n"
    ]
    for folder, heading in (("msg", "Messages"), ("srv", "Services"), ("action", "Actions")):
        parts.append(f"\n## {heading}\n")
        for path in sorted((INTERFACES / folder).glob(f"*.{folder}")):
            about, definition = _split(path.read_text(encoding="utf-8"))
            parts.append(f"\n### {path.name}\n\n{about}\n\n```text\n{definition}\n```\n")
    return "".join(parts)


def _split(text: str) -> tuple[str, str]:
    """Split a definition into the comment at its head, as text, and the rest."""
    lines = text.strip().splitlines()
    count = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    about = " ".join(line.removeprefix("#").strip() for line in lines[:count])
    return cell(about), textwrap.dedent("\n".join(lines[count:])).strip()


def reference_page() -> str:
    return (
        "# Reference\n\n"
        "Generated from the code of this version:\n\n"
        "- [Python API](api.md): the public names of `llm_planner`\n"
        "- [Commands](commands.md): every command of `llm-planner` and its options\n"
        "- [Node parameters](parameters.md): type, default, range and meaning\n"
        f"- Files: {', '.join(f'[{kind}]({kind}_file.md)' for kind in FORMATS)}\n"
        "- [Messages, services and actions](messages.md): `llm_planner_interfaces`\n\n"
        "Written:\n\n"
        "- [JSON](json_format.md): what `--json` prints\n"
        "- [Model scripts](model_scripts.md): replies of the scripted language model\n"
        "- [Journal](journal.md): the record of commands, plans and edits\n"
        "- [Faults](faults.md): what happens when something fails, and the test that shows it\n"
        "- [Security](security.md): SROS 2 keys and permissions\n"
        "- [Measured figures](figures.md) and [Meta-World](meta_world.md)\n"
        "- [Glossary](glossary.md)\n"
    )


# Links that leave docs/


class Copies:
    """Copies what pages link to outside of docs/ into the site, below repository/."""

    def __init__(self) -> None:
        self._done: set[str] = set()

    def adapt(self, page: str, text: str, home: str) -> str:
        """Return the page's text with its links adapted; `home` is its folder, relative to the repository."""

        def replaced(found: re.Match[str]) -> str:
            link, anchor = found[1], found[2] or ""
            target = posixpath.normpath(posixpath.join(home, link))
            if "://" in link or link.startswith("mailto:") or target.startswith(".."):
                return found[0]
            if not target.startswith("docs/"):
                target = self._copy(target)
            return f"]({posixpath.relpath(target, posixpath.dirname('docs/' + page) or '.')}{anchor})"

        return LINK.sub(replaced, text)

    def _copy(self, target: str) -> str:
        """Copy a file, or list a folder; return the copy's path, with docs/ in front."""
        source = ROOT / target
        page = f"repository/{target}/index.md" if source.is_dir() else f"repository/{target}"
        if source.suffix in (".py", ".yaml"):
            page += ".md"
        if page not in self._done and source.exists():
            self._done.add(page)
            self._write(source, target, page)
        return f"docs/{page}"

    def _write(self, source: Path, target: str, page: str) -> None:
        if source.is_dir():
            files = sorted(path for path in source.rglob("*") if path.suffix in (".py", ".yaml", ".md"))
            links = "".join(f"- [{path.relative_to(source)}]({path.relative_to(source)})\n" for path in files)
            write(page, self.adapt(page, f"# {target}\n\n{links}", target))
        elif source.suffix == ".md":
            write(page, self.adapt(page, source.read_text(encoding="utf-8"), posixpath.dirname(target)))
        elif source.suffix in (".py", ".yaml"):
            language = {".py": "python", ".yaml": "yaml"}[source.suffix]
            write(page, f"# {target}\n\n```{language}\n{source.read_text(encoding='utf-8').rstrip()}\n```\n")
        else:
            with mkdocs_gen_files.open(page, "wb") as copy:
                copy.write(source.read_bytes())


def main() -> None:
    copies = Copies()
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        text = path.read_text(encoding="utf-8")
        adapted = copies.adapt(page, text, posixpath.dirname(f"docs/{page}"))
        if adapted != text:
            write(page, adapted)
    write("reference/api.md", api_page())
    write("reference/commands.md", commands_page())
    write("reference/parameters.md", copies.adapt("reference/parameters.md", parameters_page(), "docs/reference"))
    for kind in FORMATS:
        write(f"reference/{kind}_file.md", copies.adapt(f"reference/{kind}_file.md", file_page(kind), "docs/reference"))
    write("reference/messages.md", messages_page())
    if not (DOCS / "reference" / "index.md").exists():
        write("reference/index.md", reference_page())


main()

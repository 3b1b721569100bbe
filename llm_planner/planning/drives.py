"""Drives that a program for an arm on a mobile base lacks: each is put before the call that cannot reach its object."""

from __future__ import annotations

import ast
from typing import Any

from llm_planner.plans.unroll import look_ahead
from llm_planner.programs.checker import CheckedProgram, check_program
from llm_planner.programs.interpreter import Interpreter
from llm_planner.programs.problems import OutOfReachError, ProgramError
from llm_planner.programs.signatures import Signature, bind
from llm_planner.scene.places import Viewpoint
from llm_planner.scene.scene import Scene

MOST = 20  # drives put into one program


def with_drives(program: CheckedProgram, scene: Scene, viewpoint: Viewpoint) -> CheckedProgram:
    """Return the program with a drive before each call whose object is out of reach in the forecast.

    A program that goes wrong otherwise, or that no drive helps, is returned as far as it is mended: its rehearsal says
    what is wrong.
    """
    drives = [skill for skill in program.skills.values() if is_drive(skill)]
    if scene.base is None or not drives:
        return program
    for _ in range(MOST):
        try:
            look_ahead(Interpreter(program, viewpoint), scene, viewpoint, rehearse=True)
        except OutOfReachError as error:
            text = _with_drive(program, error, drives[0])
            if not text:
                return program
            program = check_program(text, program.skills.values(), scene)
        except ProgramError:
            return program
        else:
            return program
    return program


def is_drive(skill: Signature) -> bool:
    """Return whether the skill drives the robot to its only argument."""
    return len(skill.parameters) == 1 and any(atom.predicate == "reached" for atom in skill.effects)


def _with_drive(program: CheckedProgram, error: OutOfReachError, drive: Signature) -> str:
    """Return the program with `drive` to the object out of reach before the call; "" if it stands there already."""
    tree = ast.parse(program.text)
    called = program.skills[error.call.skill]
    blocks: list[Any] = [getattr(node, key, None) for node in ast.walk(tree) for key in ("body", "orelse")]
    for block in (one for one in blocks if isinstance(one, list)):
        for index, statement in enumerate(block):
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or call.lineno != error.call.line or _name(call) != error.call.skill:
                continue
            keywords = [(str(keyword.arg), keyword.value) for keyword in call.keywords]
            what = bind(called, call.args, keywords).given[error.parameter]
            new = ast.Expr(ast.Call(ast.Name(drive.name), [what], []))
            if ast.unparse(new) in _drives_before(block, index, drive):
                return ""
            block.insert(index, new)
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return ""


def _drives_before(block: list[ast.stmt], index: int, drive: Signature) -> list[str]:
    """Return the drives directly before a statement; one of them once more would lead in a circle."""
    found: list[str] = []
    for statement in reversed(block[:index]):
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or _name(call) != drive.name:
            break
        found.append(ast.unparse(statement))
    return found


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""

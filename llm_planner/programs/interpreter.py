"""Interpreter that steps a checked program, one skill call at a time.

The interpreter neither moves the robot nor waits: `advance` takes the current scene and returns the next skill call or
the end of the program. Between two calls a run can be inspected or forked.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from llm_planner.programs.checker import CheckedProgram
from llm_planner.programs.evaluation import Evaluator, Scope, assign
from llm_planner.programs.functions import MAX_REMARKS, TELL, View, remark
from llm_planner.programs.problems import MAX_CALL_DEPTH, MAX_SKILL_CALLS, Problem, ProgramError, stopped
from llm_planner.programs.signatures import (
    Parameter,
    Signature,
    bind,
    function_signature,
    local_names,
)
from llm_planner.programs.values import Argument, Found, Point, Value
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene


@dataclass(frozen=True)
class SkillCall:
    """Skill call that the program requests; directions such as "left" are relative to the speaker's `Viewpoint`."""

    skill: str
    arguments: Mapping[str, Argument]
    line: int


@dataclass(frozen=True)
class Finished:
    """End of the program; `not_found` describes the empty search results that it looped over ("block")."""

    not_found: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Return:
    value: Value


class _Jump:
    """Pending `break` or `continue` on its way to the enclosing loop."""


_BREAK, _CONTINUE = _Jump(), _Jump()
_Flow = _Jump | _Return | None  # how a block ended; None after its last statement
_Steps = Generator[SkillCall, None, _Flow]


class Interpreter:
    """One run of `program` for a speaker at `viewpoint`."""

    def __init__(self, program: CheckedProgram, viewpoint: Viewpoint = BEHIND) -> None:
        self.program = program
        self.line = 0  # line of the last statement reached; 0 before the first
        self._viewpoint = viewpoint
        self._evaluator = Evaluator(View(Scene(0.0, ()), viewpoint), program.functions, self._value_of_function)
        self._globals = Scope()
        self._depth = 0
        self._scenes: list[Scene] = []
        self._not_found: list[str] = []
        self._told: list[str] = []
        self._steps = self._block(program.tree.body, self._globals)
        self._end: Finished | ProgramError | None = None

    @property
    def variables(self) -> Mapping[str, Value]:
        """Current global variables of the program."""
        return dict(self._globals.variables)

    @property
    def told(self) -> tuple[str, ...]:
        """Remarks that the program has made to the person so far."""
        return tuple(self._told)

    def advance(self, scene: Scene) -> SkillCall | Finished:
        """Run to the next skill call in the current `scene`, or to the end of the program.

        Raises ProgramError if the program cannot continue; later calls raise the same error.
        """
        if isinstance(self._end, ProgramError):
            raise self._end
        if self._end is not None:
            return self._end
        self._scenes.append(scene)
        self._evaluator.view = View(scene, self._viewpoint)
        self._evaluator.evaluations = 0
        try:
            call = next(self._steps, None)
            if call is not None and len(self._scenes) > MAX_SKILL_CALLS:
                raise ProgramError([Problem(0, 0, f"the program takes more than {MAX_SKILL_CALLS} steps")])
        except ProgramError as error:
            self._end = error
            raise
        if call is not None:
            return call
        self._end = Finished(tuple(dict.fromkeys(self._not_found)))
        return self._end

    def fork(self) -> Interpreter:
        """Create a second interpreter at the same point by replaying the scenes seen so far."""
        twin = Interpreter(self.program, self._viewpoint)
        for scene in self._scenes:
            twin.advance(scene)
        return twin

    def _block(self, body: list[ast.stmt], scope: Scope) -> _Steps:
        for statement in body:
            self.line = statement.lineno
            self._evaluator.charge(statement, 1)
            flow: _Flow = yield from getattr(self, f"_{type(statement).__name__.lower()}")(statement, scope)
            if flow is not None:
                return flow
        return None

    def _pass(self, node: ast.stmt, scope: Scope) -> _Steps:
        yield from ()
        return None

    _functiondef = _pass  # the checker collected the functions

    def _break(self, node: ast.Break, scope: Scope) -> _Steps:
        yield from ()
        return _BREAK

    def _continue(self, node: ast.Continue, scope: Scope) -> _Steps:
        yield from ()
        return _CONTINUE

    def _return(self, node: ast.Return, scope: Scope) -> _Steps:
        return _Return((yield from self._stepped_value(node.value, scope)) if node.value else None)

    def _assign(self, node: ast.Assign, scope: Scope) -> _Steps:
        assign(node.targets[0], (yield from self._stepped_value(node.value, scope)), scope)
        return None

    def _augassign(self, node: ast.AugAssign, scope: Scope) -> _Steps:
        yield from ()
        assert isinstance(node.target, ast.Name)  # the parser allows nothing else
        left, right = scope.read(node.target), self._evaluator.value(node.value, scope)
        assign(node.target, self._evaluator.combine(node, node.op, left, right), scope)
        return None

    def _if(self, node: ast.If, scope: Scope) -> _Steps:
        test = self._evaluator.value(node.test, scope)
        return (yield from self._block(node.body if test else node.orelse, scope))

    def _for(self, node: ast.For, scope: Scope) -> _Steps:
        items = self._evaluator.items(node.iter, scope)
        if isinstance(items, Found) and not items:
            self._not_found.append(items.what)
        for item in items:
            assign(node.target, item, scope)
            flow = yield from self._block(node.body, scope)
            if flow is _BREAK:
                break
            if isinstance(flow, _Return):
                return flow
        return None

    def _while(self, node: ast.While, scope: Scope) -> _Steps:
        while self._evaluator.value(node.test, scope):
            flow = yield from self._block(node.body, scope)
            if flow is _BREAK:
                break
            if isinstance(flow, _Return):
                return flow
            self.line = node.lineno
        return None

    def _expr(self, node: ast.Expr, scope: Scope) -> _Steps:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in self.program.skills:
            yield self._skill_call(value, self.program.skills[value.func.id], scope)
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == TELL:
            self._told.append(remark([self._evaluator.value(item, scope) for item in value.args]))
            if len(self._told) > MAX_REMARKS:
                raise stopped(value, f"the program says more than {MAX_REMARKS} things")
        else:
            yield from self._stepped_value(value, scope)
        return None

    def _skill_call(self, node: ast.Call, signature: Signature, scope: Scope) -> SkillCall:
        values = self._evaluator.checked_arguments(node, signature, *self._evaluator.arguments(node, scope))
        arguments = {p.name: _as_argument(p, values[p.name]) for p in signature.parameters}
        return SkillCall(signature.name, arguments, node.lineno)

    def _stepped_value(self, node: ast.expr, scope: Scope) -> Generator[SkillCall, None, Value]:
        """Evaluate a statement's expression, yielding the skill calls of a called program function."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.program.functions:
            return (yield from self._function(node, *self._evaluator.arguments(node, scope)))
        return self._evaluator.value(node, scope)

    def _value_of_function(self, node: ast.Call, positional: list[Value], keywords: dict[str, Value]) -> Value:
        """Evaluate a function call inside an expression; the checker ensures that it makes no skill calls."""
        steps = self._function(node, positional, keywords)
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        raise stopped(node, "a function that moves the robot must be called in a statement of its own")

    def _function(
        self, node: ast.Call, positional: list[Value], keywords: dict[str, Value]
    ) -> Generator[SkillCall, None, Value]:
        assert isinstance(node.func, ast.Name)  # the parser allows nothing else
        definition = self.program.functions[node.func.id]
        if self._depth >= MAX_CALL_DEPTH:
            raise stopped(node, f"functions call each other more than {MAX_CALL_DEPTH} deep")
        signature = function_signature(definition)
        binding = bind(signature, positional, list(keywords.items()))
        if binding.problems:
            raise stopped(node, binding.problems[0])
        values = {item.name: binding.given.get(item.name, item.default) for item in signature.parameters}
        self._depth += 1
        flow = yield from self._block(definition.body, Scope(values, outer=self._globals, own=local_names(definition)))
        self._depth -= 1
        self.line = node.lineno
        return flow.value if isinstance(flow, _Return) else None


def _as_argument(parameter: Parameter, value: Value) -> Argument:
    if isinstance(value, Point):
        return value.x, value.y, value.z
    if parameter.type == "number":
        return float(value)
    return value  # type: ignore[no-any-return]

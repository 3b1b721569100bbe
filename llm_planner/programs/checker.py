"""Static checker of policy programs.

The checker runs an abstract interpretation with types in place of values: it joins branches, walks loops until a
fixpoint, and checks functions with the argument types of each call. It collects all problems before anything moves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from llm_planner.programs.functions import BUILTINS, QUERIES, TELL
from llm_planner.programs.inference import Inference, Variables
from llm_planner.programs.problems import Problem, ProgramError, problem_at
from llm_planner.programs.signatures import (
    Signature,
    bind,
    called_names,
    function_signature,
    local_names,
    recursion_problem,
)
from llm_planner.programs.syntax import Program, parse_program
from llm_planner.programs.values import ANY, NONE, Type, constant, forget_values, join, join_all
from llm_planner.scene.names import check_names
from llm_planner.scene.scene import Scene

_PASSES_WITH_VALUES = 2  # loop walks before the literals of changing variables are dropped
_MAX_PASSES = 6  # loop walks before the types of changing variables are dropped too


@dataclass(frozen=True)
class PossibleCall:
    """Skill call that the program may make, with the inferred type of each argument by parameter name."""

    line: int
    skill: str
    arguments: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class CheckedProgram:
    """Program that passed the checker.

    `skills` and `functions` are the available skills and the program's own functions by name. `calls` are the skill
    calls on all branches.
    """

    text: str
    tree: ast.Module
    skills: Mapping[str, Signature]
    functions: Mapping[str, ast.FunctionDef]
    calls: tuple[PossibleCall, ...] = ()


def check_program(text: str, skills: Iterable[Signature], scene: Scene) -> CheckedProgram:
    """Check a program against the skills and the scene.

    Args:
        text: Source of the policy program.
        skills: Signatures of the skills that the program may call.
        scene: Scene in which the program is to run.

    Raises:
        ProgramError: The program may not run; the error carries every problem found.
        InputError: The scene has ambiguous names.
    """
    check_names(scene)
    program = parse_program(text)
    table = {skill.name: skill for skill in skills}
    functions = {node.name: node for node in program.tree.body if isinstance(node, ast.FunctionDef)}
    circles = [problem for name in functions if (problem := recursion_problem(name, functions))]
    problems = [*_name_problems(program, table), *circles]
    if problems:  # the walk below needs unambiguous names and terminating calls
        raise ProgramError(problems)
    walk = _Walk(program.tree, table, functions, scene)
    found = walk.problems()
    if found:
        raise ProgramError(found)
    return CheckedProgram(text, program.tree, table, functions, tuple(walk.calls))


def _name_problems(program: Program, skills: Mapping[str, Signature]) -> Iterator[Problem]:
    """Reject definitions and variables that shadow a skill, a query or a function."""
    meanings = {**dict.fromkeys(skills, "a skill"), **dict.fromkeys([*QUERIES, *BUILTINS, TELL], "a function")}
    for node in ast.walk(program.tree):
        if isinstance(node, ast.FunctionDef):
            if node.name in meanings:
                yield problem_at(node, f"{node.name!r} is {meanings[node.name]} already; choose another name")
            meanings[node.name] = "a function"
    for node in ast.walk(program.tree):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
        name = node.arg if isinstance(node, ast.arg) else name
        if name in meanings:
            yield problem_at(node, f"{name!r} is {meanings[name]} and cannot be a variable; choose another name")


def _movers(functions: Mapping[str, ast.FunctionDef], skills: Mapping[str, Signature]) -> frozenset[str]:
    """Return the functions that move the robot or speak, directly or through other functions."""
    movers: frozenset[str] = frozenset()
    while True:
        moving = movers | skills.keys() | {TELL}
        more = frozenset(name for name, node in functions.items() if called_names(node) & moving)
        if more == movers:
            return movers
        movers = more


@dataclass
class _State:
    """Abstract state at one point of the program; `holding` is None if the gripper may or may not hold something."""

    variables: Variables
    holding: bool | None

    def copy(self) -> _State:
        return _State(dict(self.variables), self.holding)

    def join(self, other: _State) -> None:
        """Widen this state to cover the other branch as well."""
        for name, value in other.variables.items():
            self.variables[name] = join(self.variables[name], value) if name in self.variables else value
        if self.holding is not other.holding:
            self.holding = None


class _Walk:
    """Abstract interpretation of one program."""

    def __init__(
        self, tree: ast.Module, skills: Mapping[str, Signature], functions: Mapping[str, ast.FunctionDef], scene: Scene
    ) -> None:
        self._tree = tree
        self._skills = skills
        self._functions = functions
        self._movers = _movers(functions, skills)
        self._inference = Inference(scene, skills, functions, self._movers, self._function)
        self._state = _State({}, bool(scene.held))
        self._outside: Variables = {}  # global variables while the walk is in a function
        self._returns: list[list[Type]] = []  # possible return types, one list per function on the stack
        self._known: dict[object, tuple[Type, bool | None]] = {}
        self._called: set[str] = set()
        self.calls: dict[PossibleCall, None] = {}  # a dict as an ordered set

    def problems(self) -> set[Problem]:
        self._block(self._tree.body)
        for name, node in self._functions.items():
            if name not in self._called:
                self._function_body(node, [ANY] * len(node.args.args), {})
        if not self._movers and not called_names(self._tree) & {*self._skills, TELL}:
            self._inference.add(self._tree, "the program calls no skill, so the robot would not move")
        return self._inference.problems

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._inference.charge(statement)
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _pass(self, node: ast.stmt) -> None:
        pass

    _functiondef = _break = _continue = _pass

    def _return(self, node: ast.Return) -> None:
        self._returns[-1].append(self._statement_value(node.value) if node.value else NONE)

    def _assign(self, node: ast.Assign) -> None:
        self._inference.assign(node.targets[0], self._statement_value(node.value), self._state.variables)

    def _augassign(self, node: ast.AugAssign) -> None:
        assert isinstance(node.target, ast.Name)  # the parser allows nothing else
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        left = self._inference.infer(read, self._state.variables)
        right = self._inference.infer(node.value, self._state.variables)
        value = self._inference.combine(node, node.op, left, right)
        self._inference.assign(node.target, value, self._state.variables)

    def _if(self, node: ast.If) -> None:
        self._inference.infer(node.test, self._state.variables)
        self._ask_about_gripper(node.test)
        before = self._state.copy()
        self._block(node.body)
        taken = self._state.copy()
        self._state = before
        self._block(node.orelse)
        self._state.join(taken)

    def _for(self, node: ast.For) -> None:
        def enter() -> None:
            self._inference.assign(node.target, element, self._state.variables)

        element = self._inference.items(node.iter, self._state.variables)
        self._loop(node, enter)

    def _while(self, node: ast.While) -> None:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        leaves = any(isinstance(part, (ast.Break, ast.Return)) for part in ast.walk(node))
        if endless and not leaves:
            self._inference.add(node, "this loop never ends; give it a condition or a break")

        def enter() -> None:
            self._inference.infer(node.test, self._state.variables)
            self._ask_about_gripper(node.test)

        self._loop(node, enter)

    def _ask_about_gripper(self, test: ast.expr) -> None:
        """Mark the gripper state as unknown after a test that queries it."""
        if called_names(test) & {"held", "is_held"}:
            self._state.holding = None

    def _loop(self, node: ast.For | ast.While, enter: Callable[[], object]) -> None:
        for walked in range(_MAX_PASSES):
            before = self._state.copy()
            enter()
            self._block(node.body)
            self._state.join(before)
            after = self._state.variables
            changed = [name for name, value in after.items() if before.variables.get(name) != value]
            if not changed and self._state.holding is before.holding:
                return
            if walked >= _PASSES_WITH_VALUES:
                for name in changed:
                    self._state.variables[name] = forget_values(self._state.variables[name])
        self._state.variables.update(dict.fromkeys(changed, ANY))

    def _expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            if call.func.id in self._skills:
                self._skill(call, self._skills[call.func.id])
                return
            if call.func.id == TELL:
                positional, keywords = self._inference.arguments(call, self._state.variables)
                if keywords or not positional:
                    self._inference.add(call, f'{TELL} takes one or more values, as in {TELL}("The largest is", name)')
                return
            if call.func.id in QUERIES or (call.func.id in self._functions and call.func.id not in self._movers):
                self._inference.add(call, f"{call.func.id} only answers a question; use its value or leave it out")
        self._statement_value(call)

    def _statement_value(self, node: ast.expr) -> Type:
        """Infer the type of a statement's expression, which may call a function that moves the robot."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._movers:
            positional, keywords = self._inference.arguments(node, self._state.variables)
            return self._function(node, positional, keywords)
        return self._inference.infer(node, self._state.variables)

    def _skill(self, node: ast.Call, skill: Signature) -> None:
        positional, keywords = self._inference.arguments(node, self._state.variables)
        given = self._inference.check_arguments(node, skill, positional, keywords)
        left_out = {p.name: constant(p.default) for p in skill.parameters if not p.required and p.name not in given}
        self.calls[PossibleCall(node.lineno, skill.name, tuple({**given, **left_out}.items()))] = None
        wants = {condition.atom.predicate for condition in skill.preconditions if not condition.atom.negated}
        if "empty" in wants and self._state.holding is True:
            self._inference.add(node, f"{skill.name}: something is in the gripper already; put it down first")
        if "holding" in wants and self._state.holding is False:
            self._inference.add(node, f"{skill.name}: nothing is in the gripper; pick something up first")
        if skill.fills_gripper:
            self._state.holding = True
        elif skill.empties_gripper:
            self._state.holding = False

    def _function(self, node: ast.Call, positional: list[Type], keywords: dict[str, Type]) -> Type:
        assert isinstance(node.func, ast.Name)  # the parser allows nothing else
        definition = self._functions[node.func.id]
        binding = bind(function_signature(definition), positional, list(keywords.items()))
        for message in binding.problems:
            self._inference.add(node, message)
        if binding.problems:
            return ANY
        return self._function_body(definition, list(positional), keywords)

    def _function_body(self, definition: ast.FunctionDef, positional: list[Type], keywords: dict[str, Type]) -> Type:
        """Walk a function with these arguments; cache the result per arguments and state."""
        self._called.add(definition.name)
        parameters = function_signature(definition).parameters
        defaults = {item.name: constant(item.default) for item in parameters if not item.required}
        given = {**defaults, **dict(zip((item.name for item in parameters), positional, strict=False)), **keywords}
        outside = self._outside if self._returns else self._state.variables
        key = (definition.name, tuple(given.items()), tuple(outside.items()), self._state.holding)
        if key not in self._known:
            self._known[key] = self._walk_function(definition, given, outside)
        result, self._state.holding = self._known[key]
        return result

    def _walk_function(
        self, definition: ast.FunctionDef, given: Variables, outside: Variables
    ) -> tuple[Type, bool | None]:
        caller, caller_outside = self._state, self._outside
        visible = {name: value for name, value in outside.items() if name not in local_names(definition)}
        self._state, self._outside = _State({**visible, **given}, caller.holding), outside
        self._returns.append([])
        self._block(definition.body)
        returned, holding = self._returns.pop(), self._state.holding
        self._state, self._outside = caller, caller_outside
        return join_all(tuple(returned)) if returned else NONE, holding

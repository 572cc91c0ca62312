"""Finds shell lines in source code that are made from data.

A script for a shell, perl or Python must be a constant: text in the source or in a file beside it (`read_script`,
`read_assumptions`), or constants joined. Data goes to a script as ``$1``, ``$2``, …. If a function passes a parameter
on as a script, its callers must give a constant."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

INTERPRETERS = ("sh", "bash", "dash", "ksh", "zsh", "perl", "python3", "sys.executable")
TRUSTED = "lab/hosts/"  # here words are quoted
RETURNING = ("listening", "_write_holder")  # functions that return a line for a shell
CODE_OPTIONS = ("-c", "-ec", "-e")
JOINING = (("shlex", "join"), ("shlex", "quote"))
OF_A_MODULE = ("__name__", "__file__")
BESIDE = ("lab.base.scripts", "beside")  # the path of a file beside a module
SHELL_LINE = ("lab.hosts.command", "shell_line")  # quotes the words that it gives to a script
SHELL_FUNCTION = ("lab.hosts.command", "shell_function")  # quotes the script
# Functions and methods that take a script, with the position and name of that parameter
FUNCTIONS = {
    ("lab.hosts.command", "script"): (0, "text"),
    SHELL_LINE: (0, "text"),
    SHELL_FUNCTION: (1, "text"),
    ("lab.hosts.command", "run_perl"): (0, "text"),
    ("lab.hosts.assumptions", "read_assumptions"): (0, "path"),  # the file has scripts
    ("lab.settings.background", "background_process"): (4, "ready"),
    ("lab.protocols.servers.kernel_server", "KernelServer"): (1, "has"),
    ("os", "system"): (0, "command"),
    ("os", "popen"): (0, "cmd"),
    ("subprocess", "getoutput"): (0, "cmd"),
    ("subprocess", "getstatusoutput"): (0, "cmd"),
}
METHODS = {"shell": (0, "script")}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A source file: its imports, values, functions and classes."""

    name: str
    path: str
    tree: ast.Module
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)  # by name here: module and name there
    values: dict[str, ast.expr] = field(default_factory=dict)
    owners: dict[ast.AST, Function | None] = field(default_factory=dict)  # the function around each node
    classes: dict[ast.AST, ast.ClassDef] = field(default_factory=dict)  # the class around a method
    sources: list[ast.Call | ast.Return | ast.Tuple | ast.List] = field(default_factory=list)  # where a script may be

    def __post_init__(self) -> None:
        nodes = list(ast.walk(self.tree))  # outer functions come before inner ones
        self.owners = dict.fromkeys(nodes)
        for node in nodes:
            if isinstance(node, Function):
                self.owners |= dict.fromkeys(list(ast.walk(node))[1:], node)
            elif isinstance(node, ast.ClassDef):
                self.classes |= dict.fromkeys(node.body, node)
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.imports |= {one.asname or one.name: (node.module, one.name) for one in node.names}
            elif isinstance(node, ast.Import):
                self.imports |= {one.asname or one.name: (one.name, "") for one in node.names}
            elif isinstance(node, ast.Call | ast.Return | ast.Tuple | ast.List):
                self.sources.append(node)
        self.values = dict(_assignments(self.tree.body))

    def resolve(self, node: ast.expr) -> tuple[str, str] | None:
        """Module and name that an expression stands for."""
        match node:
            case ast.Name(id=name):
                return self.imports.get(name, (self.name, name))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.imports:
                module, inner = self.imports[name]
                return (f"{module}.{inner}" if inner else module, attribute)
        return None


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in body:
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        yield target.id, value
                    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                        pairs = zip(target.elts, value.elts, strict=True)
                        yield from ((name.id, part) for name, part in pairs if isinstance(name, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.For(target=ast.Name(id=name), iter=value):
                yield name, value  # one of the values


def _parameters(function: Function) -> list[str]:
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


class Checker:
    """Finds every script in these modules, and whether it is a constant."""

    def __init__(self, modules: list[Module]):
        self.modules = {module.name: module for module in modules}
        self.functions, self.methods = dict(FUNCTIONS), dict(METHODS)
        self._answers: dict[int, bool] = {}
        self._returned: dict[str, list[tuple[Module, ast.expr | None]]] = {}  # by function
        self._fields: dict[str, list[tuple[Module, ast.expr]]] = {}  # what the fields of classes are given, by name
        classes = {n.name: _fields(n) for m in modules for n in m.owners if isinstance(n, ast.ClassDef)}
        for module in modules:
            for node in module.owners:
                self._index(module, node, classes)

    def _index(self, module: Module, node: ast.AST, classes: dict[str, list[str]]) -> None:
        match node:
            case ast.Return(value=value) if owner := module.owners[node]:
                self._returned.setdefault(owner.name, []).append((module, value))
            case ast.ClassDef(body=body):
                for key, default in _assignments(body):
                    self._fields.setdefault(key, []).append((module, default))
            case ast.Assign(targets=[ast.Attribute(attr=attribute)], value=assigned):
                self._fields.setdefault(attribute, []).append((module, assigned))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in classes:
                by_name = ((keyword.arg, keyword.value) for keyword in keywords if keyword.arg)
                for key, given in (*zip(classes[name], args, strict=False), *by_name):
                    self._fields.setdefault(key, []).append((module, given))

    def violations(self) -> dict[tuple[str, str], str]:
        """The scripts that are made from data, by file and function: line and text."""
        while True:
            before = len(self.functions) + len(self.methods)
            scripts = {}
            for module in self.modules.values():
                for text in () if module.path.startswith(TRUSTED) else self._scripts(module):
                    if not self._is_handed_on(module, text) and not self.is_constant(module, text):
                        function = module.owners[text]
                        place = (module.path, function.name if function else "")
                        scripts[place] = f"{text.lineno}: {ast.unparse(text)}"
            if before == len(self.functions) + len(self.methods):
                return scripts

    def _scripts(self, module: Module) -> Iterator[ast.expr]:
        for node in module.sources:
            if isinstance(node, ast.Call):
                yield from self._script_of_call(module, node)
                yield from _code_of_words(node.args)
                if any(one.arg == "shell" and ast.unparse(one.value) != "False" for one in node.keywords):
                    yield from node.args[:1]
            elif isinstance(node, ast.Return):
                owner = module.owners[node]
                yield from [node.value] if node.value and owner and owner.name in RETURNING else []
            else:
                yield from _code_of_words(node.elts)

    def _script_of_call(self, module: Module, call: ast.Call) -> Iterator[ast.expr]:
        target = module.resolve(call.func)
        parameter = self.functions.get(target) if target else None
        if parameter is None and isinstance(call.func, ast.Attribute) and (not target or target[0] not in self.modules):
            parameter = self.methods.get(call.func.attr)
        if parameter:
            place, name = parameter
            yield from (one.value for one in call.keywords if one.arg == name)
            yield from call.args[place : place + 1]

    def is_constant(self, module: Module, node: ast.expr) -> bool:
        if id(node) not in self._answers:
            self._answers[id(node)] = True  # for recursive definitions
            self._answers[id(node)] = self._look(module, node)
        return self._answers[id(node)]

    def _are_constant(self, module: Module, nodes: Sequence[ast.expr | None]) -> bool:
        return all(node is not None and self.is_constant(module, node) for node in nodes)

    def _look(self, module: Module, node: ast.expr) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
                return self._are_constant(module, parts)
            case ast.Dict(keys=keys, values=parts):
                return self._are_constant(module, [*keys, *parts])
            case ast.FormattedValue(value=inner) | ast.Starred(value=inner) | ast.Subscript(value=inner):
                return self.is_constant(module, inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right) | ast.IfExp(body=left, orelse=right):
                return self._are_constant(module, [left, right])
            case ast.Name(id=name):
                return self._is_constant_name(module, node, name)
            case ast.Call(func=function):
                return self._is_constant_call(module, node, function)
            case ast.Attribute():
                target = module.resolve(node)
                if target and target[0] in self.modules:
                    return self._is_constant_value(*target)
                return self._is_constant_field(node.attr)
        return False

    def _is_constant_name(self, module: Module, node: ast.Name, name: str) -> bool:
        function = module.owners[node]
        while function is not None:
            if name in [part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)]:
                return False
            inside = list(ast.walk(function))
            names = [part for part in inside if isinstance(part, ast.Name) and part.id == name]
            if stored := [part for part in names if isinstance(part.ctx, ast.Store)]:
                statements = [part for part in inside if isinstance(part, ast.stmt)]
                values = [value for target, value in _assignments(statements) if target == name]
                return len(values) == len(stored) and self._are_constant(module, values)
            function = module.owners[function]
        return name in OF_A_MODULE or self._is_constant_value(*module.imports.get(name, (module.name, name)))

    def _is_handed_on(self, module: Module, text: ast.expr) -> bool:
        """Whether this is an unchanged parameter: then its callers give the script."""
        function = module.owners[text]
        if function is None or not isinstance(text, ast.Name) or text.id not in _parameters(function):
            return False
        parameter = (_parameters(function).index(text.id), text.id)
        around = module.classes.get(function)
        if around is None:
            self.functions[module.name, function.name] = parameter
        elif function.name == "__init__":
            self.functions[module.name, around.name] = parameter
        else:
            self.methods[function.name] = parameter
        return True

    def _is_constant_value(self, module_name: str, name: str) -> bool:
        module = self.modules.get(module_name)
        if module is None:
            return False
        if name not in module.values and name in module.imports:
            return self._is_constant_value(*module.imports[name])
        return name in module.values and self.is_constant(module, module.values[name])

    def _is_constant_call(self, module: Module, call: ast.Call, function: ast.expr) -> bool:
        target = module.resolve(function)
        if target == ("lab.base.scripts", "read_script"):
            return True
        if target in (SHELL_LINE, SHELL_FUNCTION, BESIDE):
            return self._are_constant(module, call.args[: 1 if target == SHELL_LINE else 2])
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if target in JOINING:
            return self._are_constant(module, given)
        if isinstance(function, ast.Attribute) and function.attr in ("format", "join"):
            return self._are_constant(module, [*given, function.value])
        name = function.attr if isinstance(function, ast.Attribute) else target[1] if target else ""
        returned = self._returned.get(name, [])
        return bool(returned) and all(value is not None and self.is_constant(other, value) for other, value in returned)

    def _is_constant_field(self, name: str) -> bool:
        """Whether a field of this name is constant in every class that has it."""
        values = self._fields.get(name, [])
        return bool(values) and all(self.is_constant(module, value) for module, value in values)


def _fields(node: ast.ClassDef) -> list[str]:
    return [one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)]


def _code_of_words(words: list[ast.expr]) -> Iterator[ast.expr]:
    """What follows ``-c`` or ``-e`` of an interpreter in a list of words."""
    interpreter = False
    for number, word in enumerate(words):
        is_name = isinstance(word, ast.Name | ast.Attribute)
        text = word.value if isinstance(word, ast.Constant) else ast.unparse(word) if is_name else ""
        if isinstance(text, str) and (text.rpartition("/")[2] in INTERPRETERS or text.endswith("/bin/sh")):
            interpreter = True
        elif interpreter and text in CODE_OPTIONS:
            yield from words[number + 1 : number + 2]
            return


def read(root: Path, folder: str) -> list[Module]:
    paths = sorted((root / folder).rglob("*.py"))
    return [parse(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()) for path in paths]


def parse(source: str, path: str) -> Module:
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return Module(name, path, ast.parse(source))

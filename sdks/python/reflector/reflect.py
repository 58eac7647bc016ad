"""Reflects the Python SDK: griffe reads its sources, and what it says is written as a catalogue.

The catalogue is of schema 1 (05 §6). Every word comes from a docstring of the declaration it
describes; the line that imports a module is the one thing composed here. Nothing is executed.

    reflect.py SDK LIBRARY OUT
"""

import ast
import json
import logging
import re
import sys
from pathlib import Path

import griffe

IMPORT = "import gg"

faults: list[str] = []
"""Faults of the documentation; with any, nothing is written."""


class Heard(logging.Handler):
    """Whatever griffe complains of is a fault of the documentation."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            faults.append(record.getMessage())


def modules(sdk: Path) -> list[str]:
    """The modules, in the order a model meets them: what the SDK calls `MODULES`."""
    for statement in ast.parse((sdk / "gg" / "__init__.py").read_text()).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="MODULES")], value=value):
                return ast.literal_eval(value)
    raise SystemExit("the SDK has no list `MODULES` of its modules")


def main(sdk: str, library: str, out: str) -> None:
    logging.getLogger().addHandler(Heard())
    package = griffe.load("gg", search_paths=[sdk], allow_inspection=False, docstring_parser="google")
    catalogue = {
        "schema": 1,
        "language": "python",
        "source": "sdks/python/sdk, by griffe",
        "modules": [],
        "libraries": libraries(Path(library)),
        "functions": [],
        "types": [],
    }
    for name in modules(Path(sdk)):
        module = package.members.get(name)
        if module is None:
            faults.append(f"the SDK has no module `{name}`")
            continue
        reflect(name, module, catalogue)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    Path(out).write_text(json.dumps(catalogue, indent=2, ensure_ascii=False) + "\n", "utf-8")


def reflect(name: str, module: griffe.Module, catalogue: dict) -> None:
    """A module, with the functions and types it says are public."""
    path = f"gg.{name}"
    said = prose(module, f"module `{path}`")
    catalogue["modules"].append({"id": name, "path": path, **said, "import": IMPORT})
    public = [module.members[it] for it in module.exports or () if it in module.members]
    missing = set(module.exports or ()) - {it.name for it in public}
    faults.extend(f"`{path}.{it}` is public and declared nowhere" for it in sorted(missing))
    for member in sorted(public, key=lambda it: it.lineno or 0):
        if member.is_function:
            catalogue["functions"].append(function(name, member))
        elif member.is_class:
            methods = [
                function(name, method, receiver=member)
                for method in member.functions.values()
                if not method.name.startswith("_")
            ]
            catalogue["functions"] += methods
            catalogue["types"].append(declared(name, member, methods))
        elif not member.is_attribute:
            faults.append(f"`{path}.{member.name}` is neither a function nor a type")
    bound = {
        it.name
        for it in module.functions.values()
        if not it.is_imported and bindings(it) and it.name not in (module.exports or ())
    }
    faults.extend(f"`{path}.{it}` binds an operation and is not public" for it in sorted(bound))


def function(module: str, of: griffe.Function, receiver: griffe.Class | None = None) -> dict:
    """A call a program can write."""
    owner = f"gg.{module}" if receiver is None else f"gg.{module}.{receiver.name}"
    fqn = f"{owner}.{of.name}"
    where = f"function `{fqn}`"
    bound = bindings(of)
    if len(bound) != 1:
        faults.append(f"{where}: expected one `@operation`, found {len(bound)}")
    operation, alias = bound[0] if bound else ("", False)
    if alias != (receiver is not None):
        faults.append(f"{where}: a method is an alias, and nothing else is")
    sections = parsed(of, where)
    described = {}
    for section in sections.pop("parameters", []):
        described.update({it.name: line(it.description) for it in section.value})
    parameters = [it for it in of.parameters if it.name != "self" or receiver is None]
    unknown = set(described) - {it.name for it in parameters}
    faults.extend(f"{where}: `{it}` is described and is no argument" for it in sorted(unknown))
    arguments = [argument(it, described, where) for it in parameters]
    returns = of.returns is not None and str(of.returns) != "None"
    if of.returns is None:
        faults.append(f"{where}: says no type for what it returns")
    returned = " ".join(
        line(it.description) for section in sections.pop("returns", []) for it in section.value
    )
    if returns and not returned:
        faults.append(f"{where}: what it returns is not documented")
    if returned and not returns:
        faults.append(f"{where}: it returns nothing, and says what")
    raised = [it for section in sections.pop("raises", []) for it in section.value]
    faults.extend(f"{where}: a section of kind `{it}` is not read" for it in sections)
    said = prose(of, where)
    detail = [
        said.get("detail"),
        returned and f"Returns: {returned}",
        *(f"Fails: `{it.annotation}`: {line(it.description)}" for it in raised),
    ]
    entry = {
        "operation": operation,
        "module": module,
        "kind": "function" if receiver is None else "method",
        **({} if receiver is None else {"receiver": f"gg.{module}.{receiver.name}"}),
        "name": of.name,
        "fqn": fqn,
        "brief": said["brief"],
        **optional("detail", "\n\n".join(filter(None, detail))),
        "signatures": [{"text": signature(of, parameters), "arguments": arguments}],
        "returns": types_in(of.returns),
        "types": unique(name for it in parameters for name in types_in(it.annotation)),
        "throws": unique(thrown(it, where) for it in raised),
    }
    if receiver is not None:
        entry["aliasOf"] = f"gg.{operation}"
    return entry


def bindings(of: griffe.Function) -> list[tuple[str, bool]]:
    """The operations a function is marked with, and whether as an alias."""
    marks = [re.fullmatch(r"operation\('([\w.]+)'(, alias=True)?\)", written(it)) for it in of.decorators]
    return [(mark[1], mark[2] is not None) for mark in marks if mark]


def written(decorator: griffe.Decorator) -> str:
    return str(decorator.value).replace('"', "'")


def argument(of: griffe.Parameter, described: dict[str, str], where: str) -> dict:
    if of.name not in described:
        faults.append(f"{where}: argument `{of.name}` is not described")
    if of.annotation is None:
        faults.append(f"{where}: argument `{of.name}` has no type")
    return {
        "name": of.name,
        "type": str(of.annotation),
        "optional": of.default is not None,
        "passing": "name" if of.kind is griffe.ParameterKind.keyword_only else "position",
        **optional("default", of.default and str(of.default)),
        "description": described.get(of.name, ""),
    }


def signature(of: griffe.Function, parameters: list[griffe.Parameter]) -> str:
    """A function as its language writes it, on one line."""
    parts = []
    for it in parameters:
        if it.kind is griffe.ParameterKind.keyword_only and "*" not in parts:
            parts.append("*")
        default = "" if it.default is None else f" = {it.default}"
        parts.append(f"{it.name}: {it.annotation}{default}")
    return f"{of.name}({', '.join(parts)}) -> {of.returns}"


def declared(module: str, of: griffe.Class, methods: list[dict]) -> dict:
    """A type, as its language writes it, with what its members are for."""
    fqn = f"gg.{module}.{of.name}"
    where = f"type `{fqn}`"
    members, lines = [], []
    fields = {name: it for name, it in of.attributes.items() if not name.startswith("_")}
    sections = parsed(of, where)
    described = {}
    for section in sections.pop("attributes", []):
        described.update({it.name: line(it.description) for it in section.value})
    faults.extend(f"{where}: a section of kind `{it}` is not read" for it in sections)
    for name in sorted(set(described) - set(fields)):
        faults.append(f"{where}: `{name}` is described and is no member")
    for name, it in fields.items():
        if name not in described:
            faults.append(f"{where}: member `{name}` is not described")
        members.append({"name": name, "description": described.get(name, "")})
        lines.append(f"    {name} = {it.value}" if it.annotation is None else f"    {name}: {it.annotation}")
    for method in methods:
        text = method["signatures"][0]["text"].replace(f"{method['name']}(", f"{method['name']}(self, ", 1)
        lines.append(f"    def {text.replace('(self, )', '(self)')}")
    bases = ", ".join(str(it) for it in of.bases)
    head = f"class {of.name}({bases}):" if bases else f"class {of.name}:"
    return {
        "fqn": fqn,
        "module": module,
        "declaration": "\n".join([head, *(lines or ["    pass"])]),
        **prose(of, where),
        "members": members,
        **optional("functions", [it["fqn"] for it in methods]),
    }


def types_in(annotation: griffe.Expr | str | None) -> list[str]:
    """The full names of the SDK's types that a type is written with."""
    if not isinstance(annotation, griffe.Expr):
        return []
    names = (it for it in annotation.iterate(flat=True) if isinstance(it, griffe.ExprName))
    return unique(it.canonical_path for it in names if it.canonical_path.startswith("gg."))


def thrown(of: griffe.DocstringRaise, where: str) -> str:
    if str(of.annotation) != "ApiError":
        faults.append(f"{where}: it raises `{of.annotation}`; expected ApiError")
    return "gg.core.ApiError"


def parsed(of: griffe.Object, where: str) -> dict[str, list]:
    """The sections of a docstring by kind, without its text."""
    sections: dict[str, list] = {}
    for section in of.docstring.parsed if of.docstring else ():
        if section.kind is not griffe.DocstringSectionKind.text:
            sections.setdefault(section.kind.value, []).append(section)
    return sections


def prose(of: griffe.Object, where: str) -> dict[str, str]:
    """The first line of a docstring, and what follows it."""
    texts = [
        section.value
        for section in (of.docstring.parsed if of.docstring else ())
        if section.kind is griffe.DocstringSectionKind.text
    ]
    first, _, rest = "\n\n".join(texts).strip().partition("\n\n")
    if not first:
        faults.append(f"{where} is not documented")
    if "\n" in first:
        faults.append(f"{where}: its first paragraph is longer than a line")
    return {"brief": first, **optional("detail", "\n\n".join(map(line, rest.split("\n\n"))))}


def libraries(path: Path) -> list[dict]:
    """The libraries that programs can import, in the groups of the file that decides the set."""
    source = path.read_text("utf-8")
    headings = {
        number: match[1]
        for number, text in enumerate(source.splitlines(), 1)
        if (match := re.fullmatch(r"# --- (.+) ---", text))
    }
    groups: list[dict] = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Import):
            continue
        above = [number for number in headings if number < node.lineno]
        if not above:
            faults.append(f"{path.name}:{node.lineno}: it stands under no heading")
            continue
        heading = headings[max(above)]
        if not groups or groups[-1]["group"] != heading:
            groups.append({"group": heading, "names": []})
        groups[-1]["names"] += [it.name for it in node.names]
    return groups


def line(paragraph: str) -> str:
    """A paragraph that was wrapped in a docstring, on one line."""
    return " ".join(paragraph.split())


def unique(names) -> list[str]:
    return list(dict.fromkeys(names))


def optional(key: str, value) -> dict:
    return {key: value} if value else {}


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Functions of C over symbols: every path at once, in terms of a solver.

The subset: scalars, structs and pointers to them as arguments, constant tables, `if`, `?:`, `return`, loops over known
numbers, calls of functions of the same text. All else is refused. Along the way it collects what has to hold for the
behaviour to be defined: no signed overflow, conversions in range, indices within their table, a return at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from bitwuzla import Kind, Term
from c_source import parse
from products import back_laws, product_laws, quotient_laws
from pycparser import c_ast
from terms import UNSIGNED, WIDTHS, Terms, Value

COMPARE = {
    "<": (Kind.BV_SLT, Kind.FP_LT), "<=": (Kind.BV_SLE, Kind.FP_LEQ),
    ">": (Kind.BV_SGT, Kind.FP_GT), ">=": (Kind.BV_SGE, Kind.FP_GEQ),
    "==": (Kind.EQUAL, Kind.FP_EQUAL), "!=": (Kind.EQUAL, Kind.FP_EQUAL),
}  # fmt: skip
FLOATS = {"+": Kind.FP_ADD, "-": Kind.FP_SUB, "*": Kind.FP_MUL, "/": Kind.FP_DIV}
INTEGERS = {"+": Kind.BV_ADD, "-": Kind.BV_SUB, "*": Kind.BV_MUL, "&": Kind.BV_AND}
OVERFLOWS = {"+": Kind.BV_SADD_OVERFLOW, "-": Kind.BV_SSUB_OVERFLOW, "*": Kind.BV_SMUL_OVERFLOW}
NUMBERS: dict[str, Any] = {
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__,
    "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__,
}  # fmt: skip
Struct = dict[str, Any]


class Need(NamedTuple):
    """A condition of defined behaviour, and its place."""

    place: str
    term: Term


class Contract(NamedTuple):
    """Demands of a function on its arguments and its promise of a value, proved alone; callers need no more."""

    asks: Callable[[Terms, Sequence[Value]], Term]
    promises: Callable[[Terms, Sequence[Value], Value], Term]


class Frame:
    """A call: its variables, whether it has returned, and what."""

    def __init__(self, kind: str, no: Term) -> None:
        self.kind = kind
        self.variables: dict[str, Any] = {}
        self.returned = no
        self.value: Any = None


class Program:
    """The functions of a header; of products of doubles, the laws alone are known."""

    def __init__(self, source: str, changed: Mapping[str, str] | None = None) -> None:
        self.terms = Terms()
        self.known_of: list[tuple[Term, Term]] = []  # a symbol, and what is known of it
        self._known: dict[tuple[str, int, int], Term] = {}
        self._quotients: list[tuple[Term, Term]] = []
        self.contracts: dict[str, Contract] = {}
        self.needs: list[Need] = []
        self.globals: dict[str, Any] = {}
        self.functions: dict[str, c_ast.FuncDef] = {}
        self.structs: dict[str, list[tuple[str, str]]] = {}
        self._path: list[Term] = []
        self._frames: list[Frame] = []
        for node in parse(source, changed).ext:
            self._take(node)

    # what the caller works with

    def symbols(self, struct: str, name: str) -> Struct:
        """Return a struct whose members may be anything."""
        return {
            member: self.symbols(kind[7:], f"{name}.{member}")
            if kind.startswith("struct ")
            else self.terms.fresh(kind, f"{name}.{member}")
            for member, kind in self.structs[struct]
        }

    def call(self, name: str, *args: Any) -> Any:
        """Return what a function returns; structs that it writes through a pointer are changed."""
        if name in self.contracts:
            return self._by_contract(name, args)
        node = self.functions[name]
        kind = _kind(node.decl.type.type)
        frame = Frame(kind, self.terms.false)
        params = node.decl.type.args.params if node.decl.type.args else []
        for param, arg in zip(params, args, strict=True):
            wanted = _kind(param.type)
            own = copied(arg) if wanted.startswith("struct ") else arg
            frame.variables[param.name] = self._converted(own, wanted)
        outer, self._path = self._path, [self._now()]
        self._frames.append(frame)
        self._block(node.body)
        if kind != "void":
            self._need(f"{name} returns", frame.returned, self.terms.and_(*self._path))
        self._frames.pop()
        self._path = outer
        return frame.value

    def arguments(self, name: str) -> list[Value]:
        """Return arguments of a function of scalars that may be anything."""
        params = self.functions[name].decl.type.args.params
        return [self.terms.fresh(_kind(param.type), param.name) for param in params]

    def _by_contract(self, name: str, args: Sequence[Any]) -> Value:
        node, contract = self.functions[name], self.contracts[name]
        params = node.decl.type.args.params
        given = [
            self._converted(arg, _kind(param.type)) for param, arg in zip(params, args, strict=True)
        ]
        found = self.terms.fresh(_kind(node.decl.type.type), name)
        asked = contract.asks(self.terms, given)
        self._need(f"{name} is called as it asks", asked)
        promise = contract.promises(self.terms, given, found)
        self.known_of.append((found.term, self.terms.implies(asked, promise)))
        return found

    # declarations

    def _take(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.FuncDef):
            self.functions[node.decl.name] = node
        elif isinstance(node, c_ast.Typedef):
            pass
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
            self._enum(node.type)
        elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct):
            self.structs[node.type.name] = [(d.name, _kind(d.type)) for d in node.type.decls]
        elif isinstance(node, c_ast.Decl) and node.init is not None:
            self._frames.append(Frame("void", self.terms.false))
            self.globals[node.name] = self._initial(node.init, _kind(node.type))
            self._frames.pop()
        else:
            raise _refused(node)

    def _enum(self, node: c_ast.Enum) -> None:
        for member in node.values.enumerators:
            self.globals[member.name] = self.terms.integer(int(member.value.value, 0))

    def _initial(self, init: c_ast.Node, kind: str) -> Any:
        if isinstance(init, c_ast.InitList):
            return [self._initial(item, kind) for item in init.exprs]
        return self._converted(self._value(init), kind)

    # statements

    def _block(self, node: c_ast.Compound) -> None:
        for item in node.block_items or []:
            self._statement(item)

    def _statement(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Compound):
            self._block(node)
        elif isinstance(node, c_ast.Decl):
            self._declare(node)
        elif isinstance(node, c_ast.Assignment):
            self._assign(node)
        elif isinstance(node, c_ast.Return):
            self._return(node)
        elif isinstance(node, c_ast.If):
            condition = self.terms.truth(self._value(node.cond))
            self._under(condition, node.iftrue)
            self._under(self.terms.not_(condition), node.iffalse)
        elif isinstance(node, c_ast.For):
            self._for(node)
        elif isinstance(node, c_ast.FuncCall):
            self._value(node)
        elif not isinstance(node, c_ast.EmptyStatement):
            raise _refused(node)

    def _under(self, condition: Term, node: c_ast.Node | None) -> None:
        if node is None or condition.is_false():
            return
        self._path.append(condition)
        self._statement(node)
        self._path.pop()

    def _for(self, node: c_ast.For) -> None:
        for decl in node.init.decls:
            self._declare(decl)
        for _ in range(64):
            going = self.terms.truth(self._value(node.cond))
            if going.is_false():
                return
            if not going.is_true():
                raise _refused(node)
            self._statement(node.stmt)
            name = node.next.expr.name
            self._frames[-1].variables[name] = self.terms.integer(
                self._frames[-1].variables[name].number + 1
            )
        raise _refused(node)

    def _declare(self, node: c_ast.Decl) -> None:
        kind = _kind(node.type)
        if node.init is not None:
            value = self._converted(self._value(node.init), kind)
        elif kind.startswith("struct "):
            value = self.symbols(kind[7:], node.name)
        else:
            value = self.terms.fresh(kind, node.name)
        self._frames[-1].variables[node.name] = value

    def _assign(self, node: c_ast.Assignment) -> None:
        if node.op != "=":
            raise _refused(node)
        value = self._value(node.rvalue)
        owner, key = self._place(node.lvalue)
        old = owner[key]
        owner[key] = self._mixed(self._now(), value, old)

    def _return(self, node: c_ast.Return) -> None:
        frame, now = self._frames[-1], self._now()
        if node.expr is not None:
            value = self._converted(self._value(node.expr), frame.kind)
            frame.value = (
                copied(value) if frame.value is None else self._mixed(now, value, frame.value)
            )
        frame.returned = self.terms.or_(frame.returned, now)

    def _now(self) -> Term:
        """Return whether this place is reached."""
        going = [self.terms.not_(self._frames[-1].returned)] if self._frames else []
        return self.terms.and_(*self._path, *going)

    def _mixed(self, condition: Term, new: Any, old: Any) -> Any:
        if isinstance(old, dict):
            return {key: self._mixed(condition, new[key], old[key]) for key in old}
        return self.terms.choose(condition, self._converted(new, old.kind), old)

    # expressions

    def _place(self, node: c_ast.Node) -> tuple[dict[str, Any], str]:
        if isinstance(node, c_ast.ID):
            return self._frames[-1].variables, node.name
        if isinstance(node, c_ast.StructRef):
            return self._value(node.name), node.field.name
        raise _refused(node)

    def _value(self, node: c_ast.Node) -> Any:
        match node:
            case c_ast.Constant():
                if node.type == "double":
                    return self.terms.real(node.value)
                return self._integer(node.value)
            case c_ast.ID():
                if node.name == "NAN":
                    return self.terms.nan()
                variables = self._frames[-1].variables
                return variables[node.name] if node.name in variables else self.globals[node.name]
            case c_ast.StructRef():
                return self._value(node.name)[node.field.name]
            case c_ast.ArrayRef():
                return self._element(self._value(node.name), self._value(node.subscript))
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                return self._ternary(node)
            case c_ast.Cast():
                return self._cast(self._value(node.expr), _kind(node.to_type.type))
            case c_ast.FuncCall():
                return self._called(node)
        raise _refused(node)

    def _integer(self, text: str) -> Value:
        number = int(text, 0)
        return self.terms.integer(number, "int" if number < 1 << 31 else "int64_t")

    def _called(self, node: c_ast.FuncCall) -> Any:
        name = node.name.name
        args = [self._value(arg) for arg in node.args.exprs] if node.args else []
        terms = self.terms
        if name in self.functions:
            return self.call(name, *args)
        x = terms.cast(args[0], "double").term
        if name == "fabs":
            return Value("double", terms.of(Kind.FP_ABS, x))
        if name == "isfinite":
            return Value("bool", terms.is_finite(x))
        if name == "floor":
            return Value("double", terms.of(Kind.FP_RTI, terms.down, x))
        raise _refused(node)

    def _element(self, table: list[Any], index: Value) -> Any:
        if index.number is not None:
            return table[index.number]
        terms = self.terms
        within = [
            terms.of(Kind.EQUAL, index.term, terms.integer(i, index.kind).term)
            for i in range(len(table))
        ]
        self._need("index within its table", terms.or_(*within))
        found = table[-1]
        for i in reversed(range(len(table) - 1)):
            found = self._either(within[i], table[i], found)
        return found

    def _either(self, condition: Term, a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return [self._either(condition, x, y) for x, y in zip(a, b, strict=True)]
        return self.terms.choose(condition, a, b)

    def _unary(self, node: c_ast.UnaryOp) -> Any:
        if node.op == "&":
            return self._value(node.expr)
        value = self._value(node.expr)
        terms = self.terms
        if node.op == "!":
            return Value("bool", terms.not_(terms.truth(value)))
        if node.op == "-" and value.kind == "double":
            return Value("double", terms.of(Kind.FP_NEG, value.term))
        if node.op in "+-":
            zero = terms.integer(0, "int")
            return self._arithmetic(node.op, zero, value)
        raise _refused(node)

    def _ternary(self, node: c_ast.TernaryOp) -> Any:
        condition = self.terms.truth(self._value(node.cond))
        if condition.is_true() or condition.is_false():
            return self._value(node.iftrue if condition.is_true() else node.iffalse)
        a = self._beneath(condition, node.iftrue)
        b = self._beneath(self.terms.not_(condition), node.iffalse)
        kind = _common(a, b)
        return self.terms.choose(condition, self.terms.cast(a, kind), self.terms.cast(b, kind))

    def _beneath(self, condition: Term, node: c_ast.Node) -> Any:
        self._path.append(condition)
        value = self._value(node)
        self._path.pop()
        return value

    def _binary(self, node: c_ast.BinaryOp) -> Value:
        terms = self.terms
        if node.op in ("&&", "||"):
            a = terms.truth(self._value(node.left))
            going = a if node.op == "&&" else terms.not_(a)
            if going.is_false():
                return Value("bool", a)
            b = terms.truth(self._beneath(going, node.right))
            return Value("bool", terms.and_(a, b) if node.op == "&&" else terms.or_(a, b))
        return self._arithmetic(node.op, self._value(node.left), self._value(node.right))

    def _arithmetic(self, op: str, left: Value, right: Value) -> Value:
        terms = self.terms
        kind = _common(left, right)
        if left.number is not None and right.number is not None and kind != "double":
            found = NUMBERS[op](left.number, right.number)
            if isinstance(found, bool):
                return Value("bool", terms.true if found else terms.false)
            return terms.integer(found, kind)
        a, b = terms.cast(left, kind).term, terms.cast(right, kind).term
        if op in COMPARE:
            found = terms.of(COMPARE[op][kind == "double"], a, b)
            return Value("bool", terms.not_(found) if op == "!=" else found)
        if kind == "double":
            return Value(kind, self._float(op, a, b))
        if op in OVERFLOWS:
            self._need(f"no overflow of {op}", terms.not_(terms.of(OVERFLOWS[op], a, b)))
        return Value(kind, terms.of(INTEGERS[op], a, b))

    def _float(self, op: str, a: Term, b: Term) -> Term:
        if op in "+-":
            return self.terms.of(FLOATS[op], self.terms.nearest, a, b)
        # multipliers are too much for a solver
        key = (op, a.id(), b.id())
        if key not in self._known:
            name = "product" if op == "*" else "quotient"
            found = self._known[key] = self.terms.fresh("double", name).term
            laws = (product_laws if op == "*" else quotient_laws)(self.terms, a, b, found)
            if op == "/":
                self._quotients.append((a, b))
            for over, under in self._quotients:
                if op == "*" and under.id() == b.id():
                    ratio = self._known["/", over.id(), under.id()]
                    laws += back_laws(self.terms, over, under, ratio, a, found)
            self.known_of += [(found, law) for law in laws]
        return self._known[key]

    def _cast(self, value: Value, kind: str) -> Value:
        if value.kind == "double" and kind in WIDTHS:
            terms, most = self.terms, 1 << (WIDTHS[kind] - 1)
            # below -most - 1 there is no double of its own where most is 2^63
            low = terms.real(f"{-most}.0" if kind == "int64_t" else f"{-most - 1}.0").term
            least = Kind.FP_GEQ if kind == "int64_t" else Kind.FP_GT
            within = terms.and_(
                terms.of(least, value.term, low),
                terms.of(Kind.FP_LT, value.term, terms.real(f"{most}.0").term),
            )
            self._need(f"a double within {kind}", within)
        return self.terms.cast(value, kind)

    def _converted(self, value: Any, kind: str) -> Any:
        if isinstance(value, Value) and (kind in WIDTHS or kind == "double"):
            return self._cast(value, kind)
        return value

    def _need(self, place: str, term: Term, reached: Term | None = None) -> None:
        if not term.is_true():
            reached = self._now() if reached is None else reached
            self.needs.append(Need(place, self.terms.implies(reached, term)))


def copied(value: Any) -> Any:
    """Return a struct of its own with the same members."""
    return (
        {key: copied(member) for key, member in value.items()} if isinstance(value, dict) else value
    )


def _common(a: Value, b: Value) -> str:
    kinds = {a.kind, b.kind}
    if "double" in kinds:
        return "double"
    return "int64_t" if "int64_t" in kinds else "int"


def _kind(node: c_ast.Node) -> str:
    while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
        if isinstance(node, c_ast.PtrDecl):
            return "pointer"
        node = node.type
    if isinstance(node, c_ast.Struct):
        return f"struct {node.name}"
    name = " ".join(node.names)
    if name not in (*WIDTHS, *UNSIGNED, "double", "void"):
        raise TypeError(f"{name}: not of the subset of C that is proved")
    return name


def _refused(node: c_ast.Node) -> NotImplementedError:
    return NotImplementedError(
        f"{node.coord}: {type(node).__name__} is not of the subset of C that is proved"
    )

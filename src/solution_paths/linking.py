"""How compiled functions become machine code: all that an entry calls together, and each once.

Numba optimises and translates every function with all that it calls, so that what lies five calls
deep is compiled five times. Here a function that only compiled code calls is a *part*: it is typed
and lowered, and nothing more. An *entry*, which Python calls, links all its parts, and what numba
itself adds; then they are optimised and translated once. Each is kept as machine code alone.
"""

from __future__ import annotations

import copy
import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType
from typing import Any

import llvmlite.binding as llvm
from numba.core import types, typing
from numba.core import untyped_passes as untyped
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites

# They look for closures, contexts and array expressions, which functions that make no array lack.
NOT_LEAN = {
    untyped.DeadBranchPrune,
    untyped.FindLiterallyCalls,
    untyped.InlineClosureLikes,
    untyped.InlineInlinables,
    untyped.LiteralPropagationSubPipelinePass,
    untyped.LiteralUnroll,
    untyped.MakeFunctionToJitFunction,
    untyped.RewriteDynamicRaises,
    untyped.RewriteSemanticConstants,
    untyped.WithLifting,
    InlineOverloads,
    NopythonRewrites,
}


SECONDS: Counter[str] = Counter()  # of processor time, that LLVM took for each step


@contextmanager
def _timed(step: str) -> Iterator[None]:
    begun = time.process_time()
    try:
        yield
    finally:
        SECONDS[step] += time.process_time() - begun


class _Library(JITCodeLibrary):
    """A library that notes how long LLVM takes."""

    def add_ir_module(self, ir_module: Any) -> None:
        with _timed("simplified"):
            super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        with _timed("optimised"):
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        with _timed("translated"):
            super()._finalize_final_module()


class PartLibrary(_Library):
    """Intermediate code that waits for the libraries into which it is linked."""

    def finalize(self) -> None:
        """Leave all to those that link this one."""
        self._finalized = True
        self._alone: Any = None

    def alone(self) -> Any:
        """Return what is its own, without what it calls."""
        if self._alone is None:
            self._alone = super()._get_module_for_linking()
            self._shared_module = None
        return self._alone

    def _get_module_for_linking(self) -> Any:  # by a library of numba's own
        if self._shared_module is None:
            shared = self.alone().clone()
            for library in _called(self):
                shared.link_in(_module_of(library), preserve=True)
            self._shared_module = shared
        return self._shared_module


class EntryLibrary(_Library):
    """The machine code of one entry and of all that it calls."""

    def finalize(self) -> None:
        """Link, optimise and translate."""
        for library in _called(self):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_module_of(library), preserve=True)
        self._linking_libraries = []
        super().finalize()

    def _finalize_final_module(self) -> None:
        # Else a process would let all entries call the copy of the one that it comes to first.
        for own in self._final_module.functions:
            if own.linkage == llvm.Linkage.linkonce_odr:
                own.linkage = "internal"
        super()._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        """Return what is kept: machine code, and in place of intermediate code names alone."""
        self._ensure_finalized()
        names = llvm.parse_assembly(
            "\n".join(f'@"{own.name}" = global i8 0' for own in self.get_defined_functions())
        )
        return self.name, "object", (self._get_compiled_object(), names.as_bitcode())


def _called(library: Any) -> list[Any]:
    """Return the libraries of all that a library calls, each once and before what it calls itself.

    LLVM links only what is called by what has been linked already.
    """
    found: list[Any] = []
    seen = set()

    def visit(own: Any) -> None:
        seen.add(own)
        for called in own._linking_libraries:
            if called not in seen and (own is library or isinstance(own, PartLibrary)):
                visit(called)
        found.append(own)

    visit(library)
    return found[-2::-1]


def _module_of(library: Any) -> Any:
    own = isinstance(library, PartLibrary)
    return library.alone() if own else library._get_module_for_linking()


@register_pass(mutates_CFG=False, analysis_only=True)
class _Offer(LoweringPass):
    """Let compiled functions call one that has no machine code of its own."""

    _name = "offer"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered = state.cr

        def part(*_: Any) -> None:
            raise TypeError(f"{lowered.fndesc.qualname} can be called by compiled functions alone.")

        state.targetctx.insert_user_function(part, lowered.fndesc, [state.library])
        state.cr = lowered._replace(cfunc=part)
        return True


class _Settled(Flags):
    """Options of a compilation, as numba looks them up: thousands of times, and unchanged."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._settled: Any = None

    def values(self) -> Any:
        """Return all options."""
        if self._settled is None:
            self._settled = super().values()
            self._hash = super().__hash__()
        return self._settled

    def __hash__(self) -> int:
        self.values()
        return self._hash

    __eq__ = Flags.__eq__


class _Changing(Flags):
    """Options, of which copies are looked up."""

    def copy(self) -> _Settled:
        """Return what doesn't change from now on."""
        return _Settled(self)


class _Typing(typing.Context):
    """Remembers the types of results: numba tries all of an operator's templates at each call."""

    known: dict[Any, Any]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return a function's signature for types of arguments; one of ours is compiled for it."""
        if kws or not isinstance(func, types.Function | BuiltinFunctionType):
            return super().resolve_function_type(func, args, kws)
        asked = func, args, ConfigStack.top_or_none()
        if asked not in self.known:
            self.known[asked] = super().resolve_function_type(func, args, kws)
        return self.known[asked]


@functools.cache
def _remembering(context: typing.Context) -> _Typing:
    """Return a copy that shares all with a context, which other users of numba go on with."""
    made = copy.copy(context)
    made.__class__ = _Typing
    made.known = {}
    return made


class _Compiler(Compiler):
    """Lets what numba itself compiles for a function be parts, too."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        state = self.state
        state.typingctx = _remembering(state.typingctx)
        state.flags = _Changing(state.flags)
        codegen = copy.copy(state.targetctx.codegen())
        codegen._library_class = PartLibrary
        state.targetctx._internal_codegen = codegen

    def define_pipelines(self) -> Any:
        """Return numba's passes, but for those that a lean function doesn't need."""
        (passes,) = super().define_pipelines()
        if not self.state.flags.nrt:
            passes.passes = [own for own in passes.passes if own[0] not in NOT_LEAN]
        return [passes]


class PartCompiler(_Compiler):
    """Types and lowers a function that compiled code calls."""

    def __init__(self, *given: Any) -> None:
        *_, flags, _ = given
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(*given)

    def define_pipelines(self) -> Any:
        """Add what lets others call it."""
        (passes,) = super().define_pipelines()
        passes.add_pass_after(_Offer, NativeLowering)
        passes.finalize()
        return [passes]


class EntryCompiler(_Compiler):
    """Compiles a function that Python calls."""

    def __init__(self, *given: Any) -> None:
        *_, flags, _ = given
        flags.no_cfunc_wrapper = True
        super().__init__(*given)

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile into a library of its own."""
        self.state.library = EntryLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)

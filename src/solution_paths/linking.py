"""How compiled functions become machine code: an entry with all its callees, each once.

Numba optimises and translates every function with all its callees, so that a function five calls
deep is compiled five times. Here a function that only compiled code calls is a *part*: it is only
typed and lowered. An *entry*, which Python calls, links all its parts and what numba itself adds;
then they are optimised and translated once. The cache holds machine code alone.
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

# Passes for closures, contexts and array expressions, which functions without arrays don't have.
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


SECONDS: Counter[str] = Counter()  # LLVM's processor time of each step


@contextmanager
def _timed(step: str) -> Iterator[None]:
    begun = time.process_time()
    try:
        yield
    finally:
        SECONDS[step] += time.process_time() - begun


class _Library(JITCodeLibrary):
    """A library that measures LLVM's time."""

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
    """Intermediate code, translated only as part of the libraries into which it is linked."""

    def finalize(self) -> None:
        """Mark as finished: the libraries that link this one do the rest."""
        self._finalized = True
        self._alone: Any = None

    def alone(self) -> Any:
        """Return the library's module without its callees."""
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
        # Otherwise all entries of a process would call the copy that is loaded first.
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = "internal"
        super()._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        """Return what is cached: machine code, and the names of functions only, no code of LLVM."""
        self._ensure_finalized()
        names = llvm.parse_assembly(
            "\n".join(
                f'@"{function.name}" = global i8 0' for function in self.get_defined_functions()
            )
        )
        return self.name, "object", (self._get_compiled_object(), names.as_bitcode())


def _called(library: Any) -> list[Any]:
    """Return the libraries that a library calls, directly or not, each before its own callees.

    LLVM links only functions that code linked before calls.
    """
    ordered: list[Any] = []
    seen = set()

    def visit(visited: Any) -> None:
        seen.add(visited)
        for called in visited._linking_libraries:
            if called not in seen and (visited is library or isinstance(visited, PartLibrary)):
                visit(called)
        ordered.append(visited)

    visit(library)
    return ordered[-2::-1]


def _module_of(library: Any) -> Any:
    is_part = isinstance(library, PartLibrary)
    return library.alone() if is_part else library._get_module_for_linking()


@register_pass(mutates_CFG=False, analysis_only=True)
class _Offer(LoweringPass):
    """Let compiled functions call a part, which has no machine code."""

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


class _FrozenFlags(Flags):
    """Options of a compilation with a remembered hash: numba looks them up thousands of times."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._frozen_values: Any = None

    def values(self) -> Any:
        """Return all options."""
        if self._frozen_values is None:
            self._frozen_values = super().values()
            self._hash = super().__hash__()
        return self._frozen_values

    def __hash__(self) -> int:
        self.values()
        return self._hash

    __eq__ = Flags.__eq__


class _MutableFlags(Flags):
    """Options whose copies are frozen."""

    def copy(self) -> _FrozenFlags:
        """Return a frozen copy."""
        return _FrozenFlags(self)


class _RememberingContext(typing.Context):
    """Remembers signatures: numba tries all of an operator's templates at each call."""

    known: dict[Any, Any]

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return a function's signature for types of arguments; this may compile the function."""
        if kws or not isinstance(func, types.Function | BuiltinFunctionType):
            return super().resolve_function_type(func, args, kws)
        key = func, args, ConfigStack.top_or_none()
        if key not in self.known:
            self.known[key] = super().resolve_function_type(func, args, kws)
        return self.known[key]


@functools.cache
def _remembering(context: typing.Context) -> _RememberingContext:
    """Return a remembering copy of a context; the original stays as it is for other users."""
    remembering = copy.copy(context)
    remembering.__class__ = _RememberingContext
    remembering.known = {}
    return remembering


class _Compiler(Compiler):
    """Makes parts of the functions that numba itself compiles for a function, too."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        state = self.state
        state.typingctx = _remembering(state.typingctx)
        state.flags = _MutableFlags(state.flags)
        codegen = copy.copy(state.targetctx.codegen())
        codegen._library_class = PartLibrary
        state.targetctx._internal_codegen = codegen

    def define_pipelines(self) -> Any:
        """Return numba's passes, without those that a lean function doesn't need."""
        (passes,) = super().define_pipelines()
        if not self.state.flags.nrt:
            passes.passes = [entry for entry in passes.passes if entry[0] not in NOT_LEAN]
        return [passes]


class PartCompiler(_Compiler):
    """Types and lowers a function that compiled code calls."""

    def __init__(self, *given: Any) -> None:
        *_, flags, _ = given
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(*given)

    def define_pipelines(self) -> Any:
        """Add the pass that lets compiled functions call this one."""
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
        """Compile into a new library."""
        self.state.library = EntryLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)

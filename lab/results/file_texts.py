"""A column of JSON texts that stay in their file until they are read: most analyses read few of them."""

import errno
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, take

from lab.base.errors import BadInput
from lab.base.os_errors import reason_of
from lab.base.secret_texts import json_without_secrets

Places = npt.NDArray[np.int64]
"""n × 2: the first byte of a text in the file, and the byte after it; or -1 and the row in ``others``; or -1 and -1."""


class OpenFile:
    """A file that is only appended to, open while this object exists."""

    def __init__(self, path: Path):
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)

    def text(self, start: int, end: int) -> str:
        """The text from byte ``start`` to byte ``end``. Raises BadInput."""
        try:
            content = os.pread(self._descriptor, end - start, start)
            if len(content) < end - start:
                raise OSError(errno.EIO, "it became shorter meanwhile")
            return content.decode()
        except (OSError, ValueError) as error:
            raise BadInput(f"{self.path}: cannot be read again: {reason_of(error)}", "load the run anew") from error


class FileTextDtype(ExtensionDtype):
    """The type of a column of such texts."""

    name = "text in a file"
    type = str
    na_value = None

    @classmethod
    def construct_array_type(cls) -> Any:
        """The array of this type."""
        return FileTexts


class FileTexts(ExtensionArray):
    """Texts by their :data:`Places` in a file, or in ``others``."""

    def __init__(self, file: OpenFile | None, places: Places, others: Sequence[str]):
        self._file, self._places, self._others = file, places, others

    @classmethod
    def _from_sequence(cls, scalars: Iterable[Any], *, dtype: object = None, copy: bool = False) -> Self:
        texts = list(scalars)
        rows = [-1 if pd.isna(text) else row for row, text in enumerate(texts)]
        return cls(None, np.array([(-1, row) for row in rows], np.int64).reshape(-1, 2), texts)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[Self]) -> Self:
        return cls._from_sequence(text for array in to_concat for text in array)

    @property
    def dtype(self) -> ExtensionDtype:
        """The type of the column."""
        return FileTextDtype()

    @property
    def nbytes(self) -> int:
        """Bytes of the array in memory, without its texts."""
        return self._places.nbytes

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, item: Any) -> Any:
        places = self._places[pd.api.indexers.check_array_indexer(self, item)]
        return self._text(*places.tolist()) if places.ndim == 1 else type(self)(self._file, places, self._others)

    def _text(self, start: int, end: int) -> str | None:
        text = self._file.text(start, end) if start >= 0 and self._file else self._others[end] if end >= 0 else None
        return json_without_secrets(text) if isinstance(text, str) else text

    def __eq__(self, other: object) -> Any:
        return np.asarray(self, object) == np.asarray(other, object)

    def __reduce__(self) -> tuple[Callable[[list[str | None]], Self], tuple[list[str | None]]]:
        return self._from_sequence, (list(self),)

    def isna(self) -> npt.NDArray[np.bool_]:
        """The rows without a text."""
        return np.asarray(self._places.max(axis=1) < 0)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: object = None) -> Self:
        """The texts at these rows; with ``allow_fill``, -1 is no text."""
        places = take(self._places, np.asarray(indices), allow_fill=allow_fill, fill_value=-1)
        return type(self)(self._file, np.asarray(places), self._others)

    def copy(self) -> Self:
        """Another array of the same texts."""
        return type(self)(self._file, self._places.copy(), self._others)

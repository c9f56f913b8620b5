"""What differs between versions of scikit-learn, 1.2 to the current one."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, X: Any = "no_validation", y: Any = "no_validation", **how: Any) -> Any:
        return estimator._validate_data(X, y, **how)


def set_tags(tags: Any, **values: Any) -> Any:
    """The tags object of 1.6 and later."""
    for name, value in values.items():
        place, _, attribute = name.partition("__")
        if attribute:
            if getattr(tags, place) is not None:
                setattr(getattr(tags, place), attribute, value)
        else:
            setattr(tags, place, value)
    return tags


__all__ = ["set_tags", "validate_data"]

"""`fairpriv desk init`: the state file of a desk."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairpriv.cli import arguments
from fairpriv.errors import BadRequest


def main(argv: Sequence[str]) -> int:
    """Make a desk."""
    parser = arguments.desk_parser(
        "init",
        "Make the state file of a desk. What is declared here is public, fixed for good, and shown by /v1/schema.\n\n"
        "--sizes secret (default): the protected attribute of any one person is protected, and group sizes stay here.\n"
        "--sizes public: group sizes are told, and which of two people is in which group is protected; an answer that\n"
        "was made for the former then costs twice its epsilon, and conceal_aware may be asked.",
    )
    add = parser.add_argument
    add("--data", required=True, metavar="CSV", help="one row per person; predictions come in the same order")
    add("--label", required=True, help="column of the true outcome; two values")
    add("--protected", required=True, help="column of the protected attribute")
    add("--epsilon", required=True, type=float, help="the budget of all answers together")
    add("--delta", type=float, default=0.0, help="with one, gaussian may be asked and costs compose tighter")
    add(
        "--positive",
        help="the favourable value of the label (default: 1 of 1/0, yes of yes/no, and the like; it is said)",
    )
    add(
        "--privileged",
        nargs="+",
        help="value(s) of group 1 (default: the later of two in the alphabet, not the larger)",
    )
    add("--sizes", default="secret", help="secret or public (default: secret)")
    add("--metrics", nargs="+", help="what may be asked (default: all)")
    add("--minority-share", type=float, default=0.1, help="declared share of the smaller group (default: 0.1)")
    args = parser.parse_args(argv)

    from fairpriv.desk import state
    from fairpriv.metrics.gaps import GAPS

    label, group, privileged = _people(args)
    declared = state.Declaration(
        people=len(label),
        positives=int(label.sum()),
        label=args.label,
        protected=args.protected,
        privileged=privileged,
        metrics=tuple(args.metrics or GAPS),
        epsilon=args.epsilon,
        delta=args.delta,
        sizes=args.sizes,
        minority_share=args.minority_share,
        group_sizes=state.public_sizes(label, group) if args.sizes == "public" else None,
    )
    state.create(args.state, declared, label, group)
    favourable = args.positive or _value_of(args.data, args.label, int(label.argmax()))
    print(f"favourable: {args.label} = {favourable}; group 1: {args.protected} = {', '.join(privileged)}")
    print(
        f"{args.state}: {len(label)} people, epsilon {args.epsilon:g}, delta {args.delta:g}, group sizes {args.sizes}; "
        f"it holds the protected attribute, keep it as safe as {args.data}"
    )
    return 0


def _people(args: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return labels, groups, and the values of group 1.

    Which of two values that is must not follow from the data: where groups are nearly equal, one person would turn the
    sign of every answer. So it is the later in the alphabet.
    """
    from fairpriv.datasets.csv import Csv

    try:
        loader = Csv(
            path=args.data,
            label=args.label,
            protected=args.protected,
            positive=args.positive,
            privileged=args.privileged,
        )
        label, column = loader.label_and_protected()
        values = [str(value) for value in column.cat.categories]
        if loader.privileged is None and len(values) == 2:
            loader = replace(loader, privileged=(values[1],))
        group = loader.group(column)
    except BadRequest as error:  # the loader speaks of an experiment's options
        raise BadRequest(_in_words_of_the_desk(str(error))) from error
    return np.asarray(label, dtype=np.int8), group.astype(np.int8), loader.privileged


def _value_of(path: str, column: str, row: int) -> str:
    """Return a value as it stands in the file."""
    from fairpriv.datasets.csv import as_text, read_table

    return str(as_text(read_table(Path(path).expanduser())[column])[row])


def _in_words_of_the_desk(said: str) -> str:
    what, drops, _ = said.partition(": dataset.drop_missing")
    if drops:  # predictions come in the order of the file: nobody may be dropped behind the clients' backs
        return f"{what}: leave these people out of the file, as predictions must leave them out too"
    said = said.replace("dataset.privileged=VALUE or [VALUE,VALUE]", "--privileged VALUE ...")
    return said.replace("dataset.path=", "--data ").replace("dataset.", "--")

"""Desks for tests: made once a module, served by the command line."""

import pytest

from tests.desk.serving import make_state, served, write_tokens


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A desk of 60 people with epsilon 5, two clients with half of it each, bodies up to 1 MiB and 100 rows."""
    folder = tmp_path_factory.mktemp("desk")
    with served(make_state(folder), write_tokens(folder), "--max-body", 1, "--max-rows", 100) as found:
        found.folder = folder
        yield found

"""Run the notebooks and write their outputs into them: `python docs/notebooks/execute.py` (needs the extra `docs`)."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> None:
    """Run a notebook; keep what it shows, not what was said on stderr nor when."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%matplotlib inline"))  # not in the file, which is plain Python
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
    del notebook.cells[0]
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            for out in cell.outputs:
                out.pop("execution_count", None)
                if out.output_type == "execute_result":
                    out["execution_count"] = None
    notebook.metadata.pop("language_info", None)  # names the Python it was run with
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for found in sorted(Path(__file__).parent.glob("*.ipynb")):
        execute(found)
        print(found)

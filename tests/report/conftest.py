import pytest
import yaml

import fairpriv.report.papers

TABLE = """where,dataset,epsilon,defense,metric,value,scale,decimals,spread
Fig. 1,toy,100,conceal,error,70,0.001,0,
Fig. 1,toy,inf,conceal,error,0,0.001,0,
Fig. 1,toy,100,laplace,error,50,0.001,0,2
"""
PAPER = {
    "key": "toy2020",
    "citation": {"authors": ["A <b>", "B & C"], "title": "T <script>alert(1)</script>", "venue": "V", "year": 2020},
    "tables": [
        {
            "file": "tables/one.csv",
            "title": "Table 1 <i>",
            "experiment": "toy_run",
            "runs": 4,
            "spread": "sd",
            "tolerance": {"error": {"relative": 0.2, "absolute": 0.00001}},
        }
    ],
    "readings": {"error": ["error_median"]},
    "claims": [{"id": "falls", "experiment": "toy_run", "text": "It falls <u>.", "where": "Fig. 1"}],
    "deviations": [
        {
            "where": {"table": "o*", "metric": "error", "defense": ["laplace"]},
            "cause": "paper",
            "shown_by": "experiments/toy2020/tables/one.csv",
            "reason": "known <s> slip",
        }
    ],
}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of experiments/ with one made-up paper; `shelf(paper, table)` rewrites it."""
    root = tmp_path / "experiments"

    def write(paper=PAPER, table=TABLE):
        folder = root / "toy2020"
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        (folder / "paper.yaml").write_text(yaml.safe_dump(paper), encoding="utf-8")
        (folder / "tables" / "one.csv").write_text(table, encoding="utf-8")
        return folder

    monkeypatch.setattr(fairpriv.report.papers, "shares", lambda name: (tmp_path / name,))
    write()
    return write

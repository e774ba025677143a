"""The committed report in a real browser: its filters, its search, its sorting and its hovering, really clicked."""

import json

import pytest

from tests.conftest import ROOT
from tests.report.browser import chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser with a report of the committed results, made by the present code."""
    import shutil

    from fairpriv.report import make_report

    folder = tmp_path_factory.mktemp("report")
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        for name in ("attribute_reveal", "maad_private"):
            shutil.copytree(ROOT / "results" / name, folder / name)
        browser.get(make_report(folder).path.as_uri())
        yield browser


@pytest.fixture(autouse=True)
def _unfiltered(page):
    yield
    page.find_element("id", "clear").click()


def shown(page, css):
    return [e for e in page.find_elements("css selector", css) if e.is_displayed()]


def choose(page, name, value):
    page.find_element("css selector", f"#by-{name} option[value='{value}']").click()


def test_nothing_is_fetched_and_nothing_goes_wrong(page):
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []
    sent = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [m["params"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    urls = [r["request"]["url"] for r in requests if r["documentURL"].startswith("file:")]  # not the browser's own page
    assert urls
    assert [url for url in urls if not url.startswith(("file:", "data:"))] == []


def test_pictures_load(page):
    widths = page.execute_script(
        "document.querySelectorAll('img').forEach(i => i.loading = 'eager');"
        "return Promise.all([...document.images].map(i => i.decode().then(() => i.naturalWidth)))"
    )
    assert len(widths) > 5
    assert min(widths) > 200


def test_tables_are_closed_until_asked_for(page):
    assert shown(page, "details.numbers tbody tr") == []
    assert len(shown(page, "details.numbers summary")) >= 5


def test_a_filter_shows_what_fits_and_nothing_else(page):
    choose(page, "verdict", "not run")
    rows = shown(page, "tr[data-verdict], li[data-verdict]")
    assert len(rows) > 10
    assert {row.get_attribute("data-verdict") for row in rows} == {"not run"}
    assert page.find_element("id", "shown").text.startswith(f"{len(rows)} of ")
    choose(page, "cause", "unprinted")  # a cause of what differs
    assert shown(page, "tr[data-verdict], li[data-verdict]") == []
    page.find_element("id", "clear").click()
    choose(page, "paper", "hamman2023")
    assert [s.get_attribute("id") for s in shown(page, "section.paper")] == ["hamman2023"]
    assert page.execute_script("return document.querySelectorAll('circle[data-paper=maad2023]:not(.off)').length") == 0
    page.find_element("id", "clear").click()
    choose(page, "table", "maad2023/table2")
    assert [d.get_attribute("data-table") for d in shown(page, "details.numbers")] == ["maad2023/table2"]


def test_search_goes_through_words_as_they_are_shown(page):
    page.find_element("id", "search").send_keys("COMPAS MACRO")
    rows = shown(page, "tr[data-verdict]")
    assert rows
    assert {d.get_attribute("data-table") for d in shown(page, "details.numbers")} == {
        "maad2023/table3"
    }  # in its title
    assert all("macro F1" in r.text for r in rows)


def test_a_click_sorts_by_number_and_another_the_other_way(page):
    choose(page, "table", "maad2023/table2")
    (table,) = shown(page, "details.numbers table")
    head = next(h for h in table.find_elements("tag name", "th") if h.text == "paper")
    place = page.execute_script("return arguments[0].cellIndex", head)

    def column():
        cells = table.find_elements("css selector", f"tbody tr td:nth-child({place + 1})")
        return [float(c.text.strip(" \u2007\u2008")) for c in cells]

    before = column()
    head.click()
    assert column() == sorted(before) != before
    head.click()
    assert column() == sorted(before, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"


def test_hovering_tells_which_number_and_a_click_goes_there(page):
    from selenium.webdriver import ActionChains

    choose(page, "verdict", "differs")
    point = shown(page, ".points circle")[-1]
    ActionChains(page).scroll_to_element(point).move_to_element(point).perform()
    text = page.find_element("id", "hover").text
    assert "differs" in text
    assert "paper" in text
    point.click()
    row = page.find_element("id", point.get_attribute("data-row"))
    assert row.is_displayed()
    assert "found" in row.get_attribute("class")


def test_a_phone_scrolls_tables_not_the_page(page):
    page.set_window_size(500, 900)  # the least that headless Chromium gives
    try:
        wide, there = page.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= there
    finally:
        page.set_window_size(1300, 900)


def test_in_print_everything_is_open(page):
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script("return document.querySelectorAll('details:not([open])').length") == 0
    page.execute_script("document.querySelectorAll('details.numbers').forEach(d => d.open = false)")

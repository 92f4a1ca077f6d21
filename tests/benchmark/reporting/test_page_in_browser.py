"""The page as a reader meets it, in Chromium: `apt-get install chromium` brings what it needs.

axe-core, which looks for what people with disabilities can't use, comes from the npm registry; it
is kept in build/, which is not in git.
"""

import json
import shutil
import subprocess
import tarfile

import pandas as pd
import pytest

from helpers import ROOT
from helpers.browser import Browser, program
from helpers.quantile_suite import shared_suite
from path_benchmark.papers.quantile_svm import outputs
from path_benchmark.reporting.explorer import Curve, Explorer, Slice
from path_benchmark.reporting.outputs import Outputs, TablesFile
from path_benchmark.reporting.page import write_page
from path_benchmark.reporting.surface import Surface, Trace
from path_benchmark.reporting.tables import compared, comparison
from path_benchmark.reporting.verdicts import Claim, claims_frame

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        program() is None, reason="no Chromium on the PATH: apt-get install chromium"
    ),
]
AXE = "axe-core-4.10.3"
# A4 across, without its margins, in CSS pixels.
PRINTED = 1039
HOSTILE = "<img src='http://example.org/x.png' onerror='boom()'> | `code` & *stars*"


def made_up_outputs() -> Outputs:
    """What a paper may do to the kit: a path with a jump, all verdicts, texts full of markup."""
    made = Outputs()
    shared = {"experiments": ("path",)}
    table_9 = {"name": "table_made_up", "heading": f"Table 9: {HOSTILE}", "notes": (HOSTILE,)}
    path = {"name": "path_made_up", "heading": "A path that jumps", "make": "explorer"}
    turned = {"name": "surface_made_up", "heading": "A surface", "make": "surface"}
    made.tables_file = TablesFile(
        tables=({**table_9, **shared, "frame": "table"},),
        explorers=({**path, **shared},),
        figures=({**turned, **shared},),
    )

    @made.frame
    def table(study):
        rows = [
            compared(HOSTILE, "errors", 12.0, 12.0, "agrees"),
            compared("b", "errors", 3.0, 30.0, "differs: 10 times higher"),
            compared("b", "CPU s", 0.25, 0.0000123, "seconds: not compared"),
            compared("c", "errors", 7.0, float("nan"), "missing"),
            compared("a", "errors", float("nan"), 2.0, "not in the paper"),
        ]
        wide = {f"a rather long name of column {k}": 1.5e-12 * 10**k for k in range(9)}
        return comparison([{**row, **wide} for row in rows])

    @made.figure
    def explorer(study):
        error = Curve("validation error", [0.0, 0.31, 0.35], [0.5, 0.1, 0.4], step=True)
        duals = [Curve(HOSTILE, [0.0, 0.4, 0.4, 1.0], [0.0, 0.2, 0.7, 1.0])]
        panels = {"validation error": [error], "duals": duals}
        return Explorer("s", {"made up": [Slice("whole", (0.0, 1.0), panels, [0.0, 0.5, 1.0])]})

    @made.figure
    def surface(study):
        lines = [([0.0, 1.0, 2.0], [k, k, k], [0.0, k, 1.0]) for k in (0.0, 1.0)]
        marks = [([1.0], [1.0], [1.0])]
        return Surface(("s", HOSTILE, "error"), [Trace(HOSTILE, lines), Trace("m", marks, True)])

    kinds = ("supported", "not supported", "inconclusive", "not tested here")
    claims = [Claim(f"claim {k} {HOSTILE}", "b", k, HOSTILE) for k in kinds]
    made.all_claims = lambda study: claims_frame(claims)
    return made


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder, study = shared_suite(tmp_path_factory)
    outputs.OUTPUTS.write(study, folder / "quantile_svm")
    made_up_outputs().write(study, folder / "made_up")
    write_page(folder / "browser.html", "Small.", ["quantile_svm", "made_up"], ["gisette"])
    return folder / "browser.html"


@pytest.fixture(scope="module")
def browser():
    started = Browser()
    yield started
    started.close()


@pytest.fixture
def opened(browser, page):
    """Return the browser with the page freshly opened in a window of 1280 pixels."""
    browser.emulate()
    browser.resize(1280)
    browser.open(page)
    return browser


def explorer_of(name: str) -> str:
    return f"document.querySelector('.explorer[data-name={name}]')"


# ---------------------------------------------------------------- it opens, alone and at peace


def test_it_opens_from_the_file_system_asks_for_nothing_and_complains_of_nothing(opened):
    assert "solution_paths" in opened.run("document.title")
    assert opened.run("document.querySelectorAll('.explorer .scripted svg').length") > 3
    opened.run("document.querySelectorAll('.explorer button').forEach(b => b.click())")
    opened.run("document.querySelectorAll('th button').forEach(b => b.click())")
    assert opened.requests() == []
    assert opened.complaints() == []


def test_the_checks_see_a_request_and_an_error(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://localhost:9/x.png'><script>boom()</script>")
    browser.open(bad)
    asked = complained = False
    for _ in range(50):  # until both have been told, among other things; it may take its time
        asked = asked or any("localhost" in url for url in browser.requests())
        complained = complained or any("boom" in text for text in browser.complaints())
        if asked and complained:
            break
        browser.run("new Promise(r => setTimeout(r, 200))")
    assert asked
    assert complained


@pytest.mark.parametrize("width", [400, 1280])
def test_the_answer_stands_where_a_stranger_looks_first(opened, page, width):
    opened.resize(width)
    opened.open(page)
    bottom = opened.run("document.querySelector('.answer').getBoundingClientRect().bottom")
    assert bottom < 900


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
def test_what_became_of_each_paper_begins_and_ends_on_the_first_screen(opened, page, width, height):
    opened.resize(width, height)
    opened.open(page)
    box = "document.querySelector('table').getBoundingClientRect()"
    assert opened.run(f"{box}.bottom") < height
    shown = "[...document.querySelectorAll('.headline td')].filter(e => e.offsetParent)"
    told = opened.run(f"{shown}.map(e => e.textContent)")
    whole = opened.run("[...document.querySelectorAll('.headline td')].map(e => e.textContent)")
    dropped = [text for text in whole if width > 500 or text != "0"]
    assert told == dropped  # a phone leaves out what there is none of, and nothing else


def test_without_javascript_everything_can_still_be_read(opened, page):
    opened.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        opened.open(page)
        tree = opened.send("DOMSnapshot.captureSnapshot", computedStyles=["display"])
        strings = tree["strings"]
        assert any("n log n" in text for text in strings)
        layout = tree["documents"][0]["layout"]
        shown = {strings[k] for k in layout["text"] if k >= 0}
        # The path figure in its place, and no control that would do nothing.
        assert any("coefficients" in text for text in shown)
        assert not any("least error" in text for text in shown)
    finally:
        opened.send("Emulation.setScriptExecutionDisabled", value=False)


# ---------------------------------------------------------------- the explorer


def test_the_slider_changes_the_picture_by_mouse_and_by_keyboard(opened):
    box = explorer_of("path_quantile")
    picture = f"{box}.querySelector('.scripted').innerHTML"
    before = opened.run(picture)
    opened.run(
        f"(() => {{ const s = {box}.querySelector('.turn input'); s.value = 3000;"
        "s.dispatchEvent(new Event('input')); })()"
    )
    moved = opened.run(picture)
    assert moved != before
    opened.run(f"{box}.querySelector('.turn input').focus()")
    opened.key("ArrowRight", 39)
    assert opened.run(picture) != moved
    said = opened.run(f"{box}.querySelector('.turn output').textContent")
    assert 0.0 < float(said) < 1.0


def test_what_it_reads_out_is_the_exact_curve(opened, page):
    content = json.loads((page.parent / "quantile_svm/outputs.json").read_text())["explorers"][0]
    box = explorer_of("path_quantile")
    (slices,) = [choice["slices"] for choice in content["content"]["choices"]]
    shown = slices[int(opened.run(f"{box}.querySelector('.controls input').value"))]
    rates = next(p for p in shown["panels"] if p["name"] == "rates")["curves"]
    for _ in range(5):
        opened.run(f"[...{box}.querySelectorAll('button')][1].click()")
        t = float(opened.run(f"{box}.querySelector('.turn output').textContent"))
        said = opened.run(f"[...{box}.querySelectorAll('.legend output')].map(o => o.textContent)")
        for curve in rates:
            exact = Curve("", curve["x"], curve["y"], True)
            sides = [exact.at(t - 1e-8)[0], exact.at(t + 1e-8)[1]]
            assert any(_reads(text, sides) for text in said), (t, curve["name"], said, sides)


def _reads(text: str, exact: list[float]) -> bool:
    """Tell whether a text is one of the values, or the two sides of a step."""
    return all(any(abs(float(part) - v) < 1e-4 for v in exact) for part in text.split("|"))


def test_a_jump_has_values_on_both_sides_and_a_grid_that_misses_is_told(opened):
    box = explorer_of("path_made_up")
    said = f"{box}.querySelector('.turn output').textContent"
    assert opened.run(said) == "0.33"
    legend = opened.run(f"{box}.querySelector('.legend').textContent")
    assert "least: 0.1" in legend
    assert "best 0.4000, misses the least" in legend
    for _ in range(2):
        opened.run(f"[...{box}.querySelectorAll('button')][1].click()")
    assert opened.run(said) == "0.4"
    duals = opened.run(f"{box}.querySelectorAll('.legend')[1].textContent")
    assert "0.2000 | 0.7000" in duals
    notes = opened.run(f"{box}.querySelector('details').textContent")
    assert "the grid misses it" in notes


def test_a_second_parameter_has_its_slider_and_its_map(opened):
    box = explorer_of("path_quantile")
    assert opened.run(f"{box}.querySelector('.controls output').textContent").startswith("lam = ")
    picture = f"{box}.querySelector('.scripted').innerHTML"
    before = opened.run(picture)
    opened.run(
        f"(() => {{ const s = {box}.querySelector('.controls input');"
        "s.value = 1 - s.value; s.dispatchEvent(new Event('input')); })()"
    )
    assert opened.run(picture) != before
    assert "Validation error over tau and lam" in opened.run(f"{box}.textContent")


# ---------------------------------------------------------------- tables

BLOCK = "document.getElementById('made_up-table_made_up')"
ROWS = f"[...{BLOCK}.querySelectorAll('tbody tr')].filter(r => !r.hidden)"


def column(opened, index):
    return opened.run(f"{ROWS}.map(r => r.cells[{index}].dataset.raw || '')")


def test_a_column_is_sorted_by_its_numbers_both_ways(opened):
    heads = opened.run(f"[...{BLOCK}.querySelectorAll('th')].map(h => h.textContent)")
    ours = heads.index("ours")
    click = f"{BLOCK}.querySelectorAll('th')[{ours}].querySelector('button').click()"
    opened.run(click)
    up = [float(v) for v in column(opened, ours) if v]
    assert up == sorted(up) == [0.0000123, 2.0, 12.0, 30.0]
    assert column(opened, ours)[-1] == ""
    opened.run(click)
    assert [float(v) for v in column(opened, ours) if v] == up[::-1]
    assert column(opened, ours)[-1] == ""
    state = f"{BLOCK}.querySelectorAll('th')[{ours}].getAttribute('aria-sort')"
    assert opened.run(state) == "descending"


def test_rows_are_filtered_and_only_what_differs_is_shown(opened):
    def type_into(text):
        opened.run(
            f"(() => {{ const s = {BLOCK}.querySelector('input[type=search]'); s.value = '{text}';"
            "s.dispatchEvent(new Event('input')); })()"
        )

    assert opened.run(f"{ROWS}.length") == 5
    type_into("cpu time")
    assert opened.run(f"{ROWS}.length") == 1
    assert opened.run(f"{BLOCK}.querySelector('[role=status]').textContent") == "1 of 5 rows"
    type_into("")
    opened.run(f"{BLOCK}.querySelector('input[type=checkbox]').click()")
    assert opened.run(f"{ROWS}.length") == 1
    assert "10 times higher" in opened.run(f"{ROWS}[0].textContent")


def test_a_mark_of_the_map_leads_to_its_row_and_the_verdict_to_its_rule(opened):
    mark = "document.querySelectorAll('.map')[1].querySelector('td.differs a')"
    opened.run(f"{BLOCK}.querySelector('input[type=search]').focus()")
    opened.run(f"{mark}.click()")
    opened.run("new Promise(r => setTimeout(r, 800))")
    row = "document.getElementById(location.hash.slice(1))"
    assert "differs: 10 times higher" in opened.run(f"{row}.textContent")
    top = opened.run(f"{row}.getBoundingClientRect().top")
    assert 0 <= top < 900
    opened.run(f"{row}.querySelector('a.v').click()")
    assert opened.run("location.hash") == "#rule-differs"
    assert opened.run("document.querySelector(':target') !== null")


# ---------------------------------------------------------------- every width, and paper

# Opened, tables are laid out anew: wait for that.
CLIPPED = """(async () => {
  document.querySelectorAll('details').forEach(d => { if (!d.closest('nav')) d.open = true; });
  await new Promise(r => setTimeout(r, 300));
  const wide = document.documentElement.clientWidth, bad = [];
  const heard = e => e.closest('.heard') || (e.closest('thead')
    && getComputedStyle(e.closest('thead')).position === 'absolute');
  for (const e of document.querySelectorAll('td,th,caption,p,li,dd,h1,h2,h3,pre,code,summary')) {
    if (!e.checkVisibility() || heard(e)) continue;
    const box = e.getBoundingClientRect();
    const over = getComputedStyle(e).display !== 'inline' && e.scrollWidth > e.clientWidth + 1;
    if (over || box.right > wide + 1 || box.left < -1) bad.push(e.tagName + ': ' + e.textContent);
  }
  for (const t of document.querySelectorAll('main svg text')) {
    const svg = t.closest('svg').getBoundingClientRect(), box = t.getBoundingClientRect();
    if (box.width && (box.left < svg.left - 1 || box.right > svg.right + 1))
      bad.push('svg: ' + t.textContent);
  }
  return bad.map(text => text.slice(0, 80));
})()"""


@pytest.mark.parametrize("width", [400, 1280, 2560])
def test_nothing_is_cut_off(opened, page, width):
    opened.resize(width)
    opened.open(page)
    assert opened.run(CLIPPED) == []
    sizes = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    scroll, client = opened.run(sizes)
    assert scroll <= client <= width


def test_the_check_sees_what_is_cut_off(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<table><td><div style='width:3000px'>wide</div></td></table>")
    browser.resize(1280)
    browser.open(bad)
    assert browser.run(CLIPPED) == ["TD: wide"]


def test_print_loses_no_column(opened, page):
    opened.emulate(media="print")
    opened.resize(PRINTED)
    assert opened.run(CLIPPED) == []
    hidden = "[...document.querySelectorAll('td,th')].filter(c => !c.checkVisibility()).length"
    assert opened.run(hidden) == 0
    assert not opened.run("document.querySelector('nav.toc').checkVisibility()")
    opened.emulate()
    assert opened.pdf()[:5] == b"%PDF-"


def test_dark_mode_turns_page_and_pictures_dark(opened):
    colour = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light = opened.run(f"[{colour}, {ink}]")
    opened.emulate(prefers_color_scheme="dark")
    dark = opened.run(f"[{colour}, {ink}]")
    assert light[0] != dark[0]
    assert light[1] != dark[1]


# ---------------------------------------------------------------- for everybody


@pytest.fixture(scope="module")
def axe():
    """Return axe-core's source, fetched once from the npm registry."""
    kept = ROOT / "build" / "axe" / f"{AXE}.tgz"
    if not kept.is_file():
        if shutil.which("npm") is None:
            pytest.skip(f"{kept} is not there, and there is no npm to fetch it with")
        kept.parent.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", AXE.replace("core-", "core@"), "--silent"]
        fetched = subprocess.run(command, cwd=kept.parent, capture_output=True, timeout=120)
        if fetched.returncode:
            pytest.skip(f"npm could not fetch {AXE}: {fetched.stderr.decode()[-200:]}")
    with tarfile.open(kept) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def serious(opened, axe) -> list[str]:
    """Return axe's serious and critical findings, each with an example."""
    opened.run(f"{axe}; true")
    found = opened.run("axe.run(document).then(r => r.violations)")
    return [
        f"{v['id']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0].get('failureSummary', '')[:300]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_nothing_serious(opened, page, axe, scheme, width):
    opened.emulate(prefers_color_scheme=scheme)
    opened.resize(width)
    opened.open(page)
    opened.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert serious(opened, axe) == []


def test_axe_sees_a_page_that_is_bad(browser, axe, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<html lang=en><title>t</title><img src='data:,'><input>")
    browser.open(bad)
    assert any("image-alt" in text for text in serious(browser, axe))


def test_downloads_are_the_tables(opened, page):
    uri = opened.run(f"{BLOCK}.querySelector('a[download$=csv]').href")
    text = opened.run(f"fetch({json.dumps(uri)}).then(r => r.text())")
    file = page.parent / "made_up/tables/table_made_up.csv"
    assert text == file.read_text("utf-8")
    assert len(pd.read_csv(file)) == 5


# ---------------------------------------------------------------- surfaces


DRAWN = "document.querySelector('.surface svg.turned .line').getAttribute('points')"


def test_a_surface_is_turned_by_sliders_and_by_dragging(opened):
    assert opened.run("document.querySelectorAll('.surface .turned .line').length") == 2
    assert opened.run("document.querySelectorAll('.surface .turned circle').length") == 1
    first = opened.run(DRAWN)
    opened.run(
        "{const s = document.querySelector('.surface input'); s.value = 20;"
        "s.dispatchEvent(new Event('input'));}"
    )
    turned = opened.run(DRAWN)
    assert turned != first
    opened.run("document.querySelector('.surface').scrollIntoView()")
    x, y = opened.run(
        "{const r = document.querySelector('.surface svg.turned').getBoundingClientRect();"
        "[r.x + r.width / 2, r.y + r.height / 2]}"
    )
    for kind, at in (("mousePressed", x), ("mouseMoved", x + 60), ("mouseReleased", x + 60)):
        opened.send("Input.dispatchMouseEvent", type=kind, x=at, y=y, button="left", buttons=1)
    assert opened.run(DRAWN) != turned
    assert opened.run("Number(document.querySelector('.surface input').value)") == -10
    assert opened.requests() == []
    assert opened.complaints() == []

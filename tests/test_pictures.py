"""The README's pictures and tables are right: touching boxes are orange, and figures are as measured."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from later import Later

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
if not PICTURES.exists():
    pytest.skip("the pages are not here", allow_module_level=True)
sys.path[:0] = [str(PICTURES), str(ROOT)]
Image = pytest.importorskip("PIL.Image", reason="the extra cli is not installed")

import figures  # noqa: E402

film = Later("film")  # imports Matplotlib

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def touching_by_brute_force(positions, radii):
    apart = np.hypot(*(positions[:, None] - positions).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return (apart <= radii[:, None] + radii).any(axis=1)


def test_in_the_film_those_are_orange_that_touch_another():
    shown = [(touching.sum(), len(touching)) for _, _, touching in film.moments()]
    assert len(shown) == film.FRAMES
    assert all(0 < some < everyone / 2 for some, everyone in shown)
    for positions, radii, touching in film.moments():
        assert np.array_equal(touching, touching_by_brute_force(positions, radii))


def test_the_film_of_the_landing_page_is_three_seconds_of_what_touches(tmp_path):
    film.write(tmp_path / "film.json")
    written = json.loads((tmp_path / "film.json").read_text())
    assert len(written["frames"]) == 3 * written["rate"]
    for frame, (positions, radii, _) in zip(written["frames"], film.moments(film.SITE_FRAMES), strict=True):
        touching = touching_by_brute_force(positions, radii)
        assert frame["touching"] == touching.nonzero()[0].tolist()
        places = np.reshape(frame["places"], (-1, 2))  # y points down
        assert np.allclose(
            places, np.column_stack((positions[:, 0], film.HEIGHT - positions[:, 1])), atol=0.01
        )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_the_film_as_many_balls_are_orange_as_touch_another(theme):
    """Counted in the pixels: a ball has the colour of its centre."""
    picture = Image.open(PICTURES / f"balls-{theme}.webp")
    assert picture.n_frames == film.FRAMES
    for frame, (positions, radii, _) in enumerate(film.moments()):
        picture.seek(frame)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
        columns, rows = (positions * film.PIXELS).astype(int).T
        red, _, blue = pixels[len(pixels) - 1 - rows, columns].T
        assert np.array_equal(red > blue, touching_by_brute_force(positions, radii)), frame


def test_every_page_quotes_what_the_benchmark_wrote():
    read = figures.read()
    right = figures.table(read)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert right in readme, f"measured again? Put this into the README:\n{right}"
    assert f"on {read.machine}" in readme
    quoted = tuple(f"| {label.partition(',')[0]}" for label in figures.LABELS.values())
    for page in PAGES:
        for line in page.read_text("utf-8").splitlines():
            assert not line.startswith(quoted) or line in right.splitlines(), f"{page}: {line}"


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_claim_is_what_the_benchmark_wrote(page):
    read = figures.read()
    column = read.sizes.index("100,000")
    ours, fastest, shapely = (
        read.milliseconds[name][column] for name in ("broadphase", "geoindex-rs", "shapely")
    )
    claim = (
        f"100,000 boxes in {ours} ms**; the fastest other library takes {fastest} ms, shapely {shapely} ms"
    )
    assert claim in (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chart_shows_what_the_benchmark_wrote(theme):
    read = figures.read()
    shown = json.loads(Image.open(PICTURES / f"timing-{theme}.png").text["Description"])
    assert shown.pop("machine") == read.machine
    assert shown.pop("sizes") == read.sizes
    assert {"broadphase", "geoindex-rs"} <= set(shown)
    assert all(cells == read.milliseconds[name] for name, cells in shown.items())

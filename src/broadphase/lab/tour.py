"""The tour as files: it runs in the browser, so any web server can serve it."""

from importlib.resources import files as resource_files
from pathlib import Path

# Parts of the sandbox, which needs the server of the lab.
_SANDBOX = "sandbox.html"
_LINK = '<a id="sandbox" class="button" href="sandbox">Open the sandbox</a>'


def copy_tour(folder: Path) -> list[Path]:
    """Write the page of the tour and its parts into a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Created if needed; files with the same names are replaced.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    page = resource_files("broadphase.lab").joinpath("page")
    parts = {f"page/{part.name}": part for part in page.iterdir() if part.is_file() and part.name != _SANDBOX}
    parts |= {f"page/methods/{part.name}": part for part in page.joinpath("methods").iterdir()}
    contents = {name: part.read_bytes() for name, part in sorted(parts.items())}
    html = contents.pop("page/index.html").decode()
    if _LINK not in html:
        raise AssertionError("index.html has no link to the sandbox")
    contents["index.html"] = html.replace(_LINK, "").encode()
    written = []
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)
    return written

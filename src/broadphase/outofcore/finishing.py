"""The output takes its place: as a whole where it is a local folder, report last where it is remote."""

import errno
import json
from pathlib import Path
from typing import Any

from broadphase.outofcore.asked import Question
from broadphase.outofcore.files_of import file_system, is_remote
from broadphase.outofcore.parts import open_part, schema_for
from broadphase.outofcore.progress import Written
from broadphase.outofcore.running import Run
from broadphase.outofcore.work import REPORT, Mark, WorkFolder, part_name, sealed, unsealed


def written(question: Question) -> Written:
    """Find all pairs and write them to the folder ``question.out``."""
    assert question.out is not None
    run = Run(question)
    before = _finished(question.out)
    if (
        before is not None
        and run.files is not None
        and before["asked"] == run.told
        and _is_whole(question.out, before)
    ):
        if _left_over(run):  # killed between the last two steps
            run.folder.remove()
        return Written(question.out, before["pairs"], before["boxes"], before["tiles"], was_done=True)
    ours = before is not None and run.files is not None and before["asked"] == run.told
    _check_free(question.out, before if ours else None)
    with run.working():
        settled = run.settled()
        chunks = run.partition(settled)
        tasks = chunks.tasks(settled.sizes.boxes)
        remote = question.out if is_remote(question.out) else None
        how = run.joining(settled, len(tasks), remote=remote)
        pairs = run.join(settled, chunks, tasks, how)
        told = {"asked": run.told, "pairs": pairs, "boxes": settled.plan.boxes, "tiles": settled.plan.tiles}
        _put_in_place(run.folder, question.out, told, schema_for(how.id_types), before)
    return Written(question.out, pairs, settled.plan.boxes, settled.plan.tiles, was_done=False)


def _left_over(run: Run) -> bool:
    """Whether the work folder is that of the run which is finished."""
    plan, root = run.folder.plan, run.folder.root
    if not plan.exists():
        return not root.exists() or (root.is_dir() and not any(root.iterdir()))
    return bool(run.folder.planned()["asked"] == run.told)


def _finished(out: str) -> dict[str, Any] | None:
    """The report in a folder, if there is one; of each part it tells the size and a checksum."""
    if is_remote(out):
        system, inner = file_system(out)
        path = f"{inner}/{REPORT}"
        return unsealed(system.cat_file(path), path, out) if system.exists(path) else None
    report = Path(out) / REPORT
    return unsealed(report.read_bytes(), str(report), out) if report.exists() else None


def _is_whole(out: str, told: dict[str, Any]) -> bool:
    """Whether all parts are as they were written; of remote ones only the size is looked at."""
    if is_remote(out):
        system, inner = file_system(out)
        paths = {f"{inner}/{name}": size for name, (size, _) in told["parts"].items()}
        return all(system.exists(path) and system.size(path) == size for path, size in paths.items())
    parts = told["parts"].items()
    return all(Mark(0, size, checksum).fits(Path(out) / name) for name, (size, checksum) in parts)


def _check_free(out: str, before: dict[str, Any] | None) -> None:
    """Refuse a folder in which something lies already, other than the output of the same call."""
    if is_remote(out):
        system, inner = file_system(out)
        taken = before is None and system.exists(f"{inner}/{REPORT}")
    else:
        place = Path(out)
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file; the pairs become a folder of files", out)
        own = set() if before is None else {*before["parts"], REPORT}
        taken = place.is_dir() and any(path.name not in own for path in place.iterdir())
    if taken:
        raise FileExistsError(
            errno.EEXIST,
            "holds something already, and not what this call would write; name another folder",
            out,
        )


def _put_in_place(
    folder: WorkFolder, out: str, told: dict[str, Any], schema: Any, before: dict[str, Any] | None
) -> None:
    """``before`` is the report that is there, of the same call, whose parts were damaged."""
    marks = {part_name(number): mark for number, mark in sorted(folder.marked().items())}
    if not told["pairs"]:  # whoever reads the folder finds the names of the columns
        with folder.appearing(folder.part(0)) as part:
            open_part(str(part), schema).close()
        marks[part_name(0)] = Mark.of(0, folder.part(0))
    parts = {name: [mark.size, mark.checksum] for name, mark in marks.items() if mark.size is not None}
    report = sealed({**told, "parts": parts})
    if is_remote(out):
        system, inner = file_system(out)
        if not told["pairs"]:
            system.put_file(str(folder.part(0)), f"{inner}/{part_name(0)}")
        system.pipe_file(f"{inner}/{REPORT}", json.dumps(report, sort_keys=True).encode())
        return
    folder.note(folder.parts / REPORT, report)
    place = Path(out)
    if before is not None:  # the report last: whoever is killed here does the same again
        for path in sorted(place.iterdir(), key=lambda path: path.name == REPORT):
            path.unlink()
    if place.exists():
        place.rmdir()  # it is empty
    place.parent.mkdir(parents=True, exist_ok=True)
    folder.parts.rename(place)

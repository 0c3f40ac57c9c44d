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
from broadphase.outofcore.work import REPORT, WorkFolder, part_name


def written(question: Question) -> Written:
    """Find all pairs and write them to the folder ``question.out``."""
    assert question.out is not None
    run = Run(question)
    before = _finished(question.out)
    if before is not None and run.files is not None and before["asked"] == run.told:
        if _left_over(run):  # killed between the last two steps
            run.folder.remove()
        return Written(question.out, before["pairs"], before["boxes"], before["tiles"], was_done=True)
    _check_free(question.out)
    with run.working():
        settled = run.settled()
        chunks = run.partition(settled)
        tasks = chunks.tasks(settled.sizes.boxes)
        remote = question.out if is_remote(question.out) else None
        how = run.joining(settled, len(tasks), remote=remote)
        pairs = run.join(settled, chunks, tasks, how)
        told = {"asked": run.told, "pairs": pairs, "boxes": settled.plan.boxes, "tiles": settled.plan.tiles}
        _put_in_place(run.folder, question.out, told, schema_for(how.id_types))
    return Written(question.out, pairs, settled.plan.boxes, settled.plan.tiles, was_done=False)


def _left_over(run: Run) -> bool:
    """Whether the work folder is that of the run which is finished."""
    plan, root = run.folder.plan, run.folder.root
    if not plan.exists():
        return not root.exists() or (root.is_dir() and not any(root.iterdir()))
    return bool(json.loads(plan.read_text("utf-8"))["asked"] == run.told)


def _finished(out: str) -> dict[str, Any] | None:
    """The report in a folder, if there is one."""
    if is_remote(out):
        system, inner = file_system(out)
        path = f"{inner}/{REPORT}"
        return json.loads(system.cat_file(path)) if system.exists(path) else None
    report = Path(out) / REPORT
    return json.loads(report.read_text("utf-8")) if report.exists() else None


def _check_free(out: str) -> None:
    """Refuse a folder in which something lies already."""
    if is_remote(out):
        system, inner = file_system(out)
        taken = system.exists(f"{inner}/{REPORT}")
    else:
        place = Path(out)
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file; the pairs become a folder of files", out)
        taken = place.is_dir() and any(place.iterdir())
    if taken:
        raise FileExistsError(
            errno.EEXIST,
            "holds something already, and not what this call would write; name another folder",
            out,
        )


def _put_in_place(folder: WorkFolder, out: str, told: dict[str, Any], schema: Any) -> None:
    if is_remote(out):
        system, inner = file_system(out)
        if not told["pairs"]:  # whoever reads the folder finds the names of the columns
            with folder.appearing(folder.part(0)) as part:
                open_part(str(part), schema).close()
            system.put_file(str(folder.part(0)), f"{inner}/{part_name(0)}")
        system.pipe_file(f"{inner}/{REPORT}", json.dumps(told, sort_keys=True).encode())
        return
    if not any(folder.parts.iterdir()):
        with folder.appearing(folder.part(0)) as part:
            open_part(str(part), schema).close()
    folder.note(folder.parts / REPORT, told)
    place = Path(out)
    if place.exists():
        place.rmdir()  # it is empty
    place.parent.mkdir(parents=True, exist_ok=True)
    folder.parts.rename(place)

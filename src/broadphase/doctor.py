"""What is slow about boxes or a recording, and what to change: every advice is tried before it is given.

A fault suggests a `Proposal`: other settings, or other flags or masks of the boxes.  It runs next to the
present settings, frame by frame in turns, and both must find the same pairs, but for those that the proposal
excludes.  What gains too little is not advised.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from broadphase.indexes import Choice, make_index
from broadphase.indexes.classes import CellIndex
from broadphase.indexes.results import Stats
from broadphase.indexes.storage import EVERY_BIT
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import readable
from broadphase.recording.reader import (
    Calls,
    RecordedFrame,
    Recording,
    compared,
    count_work,
    find_crowd,
    find_giants,
    longest_sides,
    overlaps_of,
)
from broadphase.runtime.memory import PairArray
from broadphase.runtime.thresholds import FEW_BOXES

Flags = npt.NDArray[np.bool_]
Columns = npt.NDArray[Any]
Edit = Callable[[RecordedFrame], RecordedFrame]
Progress = Callable[[int, int], None]

_GAIN = 1.25  # times as fast, to be worth a change
_LEAST_SAVED = 2e-5  # seconds
_ROUNDS, _MOST_ROUNDS, _SECONDS = 2, 20, 1.0
_LONGEST = 3.0  # seconds of the first round, after which no more frames are tried
_FRAMES, _MOST_BOXES = 32, 2_000_000  # that are tried; boxes in all of them together
_MOST_PAIRS = 5_000_000  # in a frame; of more, only some of the boxes are tried
_SEEN = 10  # frames in which a box must be seen before it counts as one that never moves
_MANY_STILL = 0.2  # share of all boxes
_MANY_CALLS, _MUCH_TIME = 50, 0.25  # calls per frame, and their share of the recorded time
_SLOWEST, _SLOW = 3, 2.0  # frames that are explained; times the median that a slow frame takes
_LEAST_SHARE = 0.01  # of the recorded time, to be listed
_WIDTH = 96  # columns
_MORE = 1.5  # times the median of a count, to be a reason
_WIDE = 10  # times the median side of a box, to be more than one place
_STATIC = "static=True"
_CHANGES = ("added", "removed", "moved")
_FINDS_PAIRS = ("update", "pairs", "changes", "join")
_QUERIES = ("query_box", "query_point", "query_radius", "query_ray", "raycast", "nearest")


class DisagreementError(Exception):
    """A trial has found other pairs than the program does."""


class Setting(NamedTuple):
    """An index as it is made."""

    method: str
    options: Mapping[str, Any]

    def __str__(self) -> str:
        options = [(name, value) for name, value in self.options.items() if value not in (None, "auto")]
        given = ", ".join(f"{name}={value!r}" for name, value in options)
        return f"{self.method}({given})" if given else self.method


class Proposal(NamedTuple):
    """A fault, and what to try."""

    fault: str
    change: str
    name: str
    setting: Setting
    edit: Edit
    """The same frame with other flags or masks."""
    only: int | None = None
    """The number of the frame that it is about; None for all."""


class Trial(NamedTuple):
    """The present settings next to a proposal."""

    before: float
    """Seconds per frame."""
    after: float
    tests_before: int
    """Per frame, the median."""
    tests_after: int
    fewer: int
    """Pairs of all frames that are not found any more."""
    more: int

    @property
    def is_worth_it(self) -> bool:
        """Whether the gain is worth a change."""
        return self.before >= _GAIN * self.after and self.before - self.after >= _LEAST_SAVED

    @property
    def gain(self) -> str:
        """How many times as fast, in words."""
        times = self.before / self.after
        return f"{times:,.0f} times as fast" if times >= 10 else f"{times:.1f} times as fast"


class Finding(NamedTuple):
    """A proposal and what it gained."""

    proposal: Proposal
    trial: Trial

    def __str__(self) -> str:
        (fault, change, *_, only), trial = self
        tests = ""
        if trial.tests_after != trial.tests_before:
            tests = f" with {trial.tests_after:,} tests instead of {trial.tests_before:,}"
        changed = [
            f"{count:,} {name}" for count, name in ((trial.fewer, "fewer"), (trial.more, "more")) if count
        ]
        pairs = f"{' and '.join(changed)} pairs, all others the same" if changed else "the same pairs"
        where = "" if only is None else f" in frame {only}"
        tried = f"{trial.gain}{where}, {_ms(trial.after)} instead of {_ms(trial.before)}{tests}; {pairs}"
        return f"{fault}.\n   Change: {change}.\n   Tried: the search {tried}."


@dataclass
class Subject:
    """What is looked at: frames, and the settings of the program."""

    title: str
    kind: str
    """``"file"``, ``"index"`` or ``"world"``."""
    about: Mapping[str, Any]
    dtype: "np.dtype[Any]"
    setting: Setting
    frames: list[RecordedFrame]
    where: str
    """Which frames they are."""
    still: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    """By id: seen often, and never moved."""
    restless: Flags = field(default_factory=lambda: np.empty(0, np.bool_))
    """By id: static, and moved in most frames."""
    moving: float = 1.0
    """The share of the boxes that move, per frame."""
    queried: bool = False
    """Whether the program makes queries too."""
    finds_pairs: bool = True
    """Whether the program asks for pairs: a world without listeners does not."""
    notes: list[str] = field(default_factory=list)

    def several(self, count: int) -> str:
        """A number of boxes in words."""
        one, many = ("body", "bodies") if self.kind == "world" else ("box", "boxes")
        return f"{count:,} {one if count == 1 else many}"


@dataclass
class Diagnosis:
    """What was found; print it to read it."""

    subject: Subject
    present: Trial
    overlaps: int
    """The most of a frame."""
    findings: list[Finding]
    """What is worth a change; what gains most comes first."""
    others: list[Finding]
    """What else was tried."""

    def __str__(self) -> str:
        subject, present = self.subject, self.present
        per = "" if subject.kind == "file" else " per frame"
        what = "all pairs take" if subject.kind == "file" else "a replay of changes and pairs takes"
        cost = f"{what} {_ms(present.before)} and {present.tests_before:,} tests{per}"
        lines = [
            subject.title,
            f"{subject.where}, with {subject.setting}: {cost}; up to {self.overlaps:,} pairs.",
            "",
            *(f"{number}. {finding}" for number, finding in enumerate(self.findings, 1)),
            *(f"Note: {note}." for note in subject.notes),
        ]
        if not self.findings:
            lines.append("Nothing else to change." if subject.notes else "Nothing to change.")
        if self.others:
            tried = ", ".join(f"{finding.proposal.name} ({finding.trial.gain})" for finding in self.others)
            lines.append(f"Also tried: {tried}.")
        return "\n".join(fill(line, _WIDTH, subsequent_indent="   ") for line in "\n".join(lines).split("\n"))


def diagnose(subject: Subject, progress: Progress = lambda done, total: None) -> Diagnosis:
    """Try what could help.

    Raises
    ------
    DisagreementError
        The present settings and a proposal find different pairs.
    """
    works = [count_work(frame.task, frame.space) for frame in subject.frames]
    frame = subject.frames[max(range(len(works)), key=lambda k: works[k].tests)]
    points = int((longest_sides(frame.boxes) == 0).sum())
    if points:
        advice = "leave out what has none yet; points are searched by neighbors()"
        subject.notes.append(f"{points:,} of {subject.several(len(frame.ids))} have no size: {advice}")
    sources = (_other_cells, _other_methods, _other_flags, _without_giants, _without_crowd)
    proposals = [proposal for source in sources if subject.finds_pairs for proposal in source(subject, frame)]
    nothing = Proposal("", "", "nothing", subject.setting, lambda same: same)
    trials = []
    for done, proposal in enumerate((nothing, *proposals)):
        progress(done, len(proposals) + 1)
        trials.append(try_out(subject, proposal))
    findings = [Finding(*both) for both in zip(proposals, trials[1:], strict=True)]
    findings.sort(key=lambda finding: finding.trial.after / finding.trial.before)
    good = [finding for finding in findings if finding.trial.is_worth_it]
    for finding in findings:
        if finding not in good and (subject.kind, finding.proposal.name) == ("world", _STATIC):
            fault, change, *_ = finding.proposal  # movement among them costs less too, which was not tried
            subject.notes.append(f"{fault}: {change}")
    # One method is enough.
    better = [finding for finding in good if finding.proposal.setting.method != subject.setting.method]
    good = [finding for finding in good if finding not in better[1:]]
    others = [finding for finding in findings if finding not in good]
    return Diagnosis(subject, trials[0], max(work.overlaps for work in works), good, others)


# ---- what is looked at


def look_at_boxes(name: str, boxes: BoxArray, ids: Any, method: str, options: Mapping[str, Any]) -> Subject:
    """Boxes of a file as one frame; ``"auto"`` is what `broadphase.pairs` picks."""
    n, dim = len(boxes), boxes.shape[1] // 2
    if method == "auto":
        method = "brute_force" if n <= FEW_BOXES else "strips"
    frame = RecordedFrame(
        0,
        np.arange(n, dtype=np.int32),
        boxes,
        static=np.zeros(n, np.bool_),
        sensor=np.zeros(n, np.bool_),
        categories=np.ones(n, np.uint32),
        masks=np.full(n, EVERY_BIT, np.uint32),
        tags=[""] * n if ids is None else [str(one) for one in ids],
        added=n,
    )
    frames, remark = _thinned([frame])
    title = f"{name}: {n:,} boxes in {dim}-D, {boxes.dtype}"
    about, setting = {"dim": dim, "touching": True}, Setting(method, options)
    return Subject(title, "file", about, boxes.dtype, setting, frames, f"Built and searched once{remark}")


def look_at_recording(
    name: str, recording: Recording, method: str, options: Mapping[str, Any], progress: Progress
) -> Subject:
    """The frames of a recording with the most work; ``"auto"`` is the index that was recorded."""
    about = recording.about
    if method in ("auto", about["index"]):
        method = make_index(about["index"]).name
        options = {**about.get("options", {}), **options}
    many = min(max(_MOST_BOXES // max(recording.most_bodies, 1), 2), _FRAMES, len(recording))
    begin = int(np.convolve(recording.counts()[:, 2], np.ones(many), "valid").argmax())
    frames, remark = _thinned(list(recording.frames(begin, begin + many)))
    where = f"Frames {begin} to {begin + many - 1}, those with the most work{remark}"
    subject = Subject("", about["kind"], about, recording.dtype, Setting(method, options), frames, where)
    what = "a world" if subject.kind == "world" else "an index"
    size = subject.several(recording.most_bodies)
    busiest = [recording.explain(stretch.peak) + "." for stretch in recording.busiest(1)]
    spent = _watch(recording, subject, progress)
    subject.title = "\n".join(
        (f"{name}: {len(recording):,} frames of {what}, up to {size}", *spent, *busiest)
    )
    return subject


def _thinned(frames: list[RecordedFrame]) -> tuple[list[RecordedFrame], str]:
    """Only some of the boxes if they have very many pairs, and that in words."""
    most = max(count_work(frame.task, frame.space).overlaps for frame in frames)
    every = int(np.ceil(np.sqrt(most / _MOST_PAIRS)))
    if every <= 1:
        return frames, ""
    return [_only(frame, frame.ids % every == 0) for frame in frames], f", one box in {every}"


def _only(frame: RecordedFrame, kept: Flags) -> RecordedFrame:
    names = ("ids", "boxes", "static", "sensor", "categories", "masks")
    columns: dict[str, Any] = {name: getattr(frame, name)[kept] for name in names}
    return replace(frame, **columns, tags=[frame.tags[row] for row in np.flatnonzero(kept)])


def _watch(recording: Recording, subject: Subject, progress: Progress) -> list[str]:
    """Go through all frames: which boxes never move, and, in sentences, where the time went."""
    seen = moves = static = np.zeros(0, np.int64)
    places = np.zeros((0, 2 * subject.about["dim"]), subject.dtype)
    calls: list[dict[str, Calls]] = []
    changed: list[tuple[int, int, int]] = []
    finds_pairs = False
    for frame in recording:
        ids = frame.ids
        more = int(ids.max(initial=-1)) + 1 - len(seen)
        if more > 0:
            more += len(seen)
            seen, moves, static = (np.pad(column, (0, more)) for column in (seen, moves, static))
            places = np.pad(places, ((0, more), (0, 0)))
        moves[ids] += (seen[ids] > 0) & (places[ids] != frame.boxes).any(axis=1)
        seen[ids] += 1
        static[ids], places[ids] = frame.static, frame.boxes
        calls.append(frame.calls)
        changed.append((frame.added, frame.removed, frame.moved))
        finds_pairs = finds_pairs or frame.listened is not False
        progress(frame.number + 1, len(recording))
    subject.still = (seen >= _SEEN) & (moves == 0) & (static == 0)
    subject.restless = (static > 0) & (2 * moves > seen)
    subject.moving = float(moves.sum() / max(seen.sum(), 1))
    if not finds_pairs:
        subject.notes.append("there is no listener for contacts, so update searches for no pairs")
    subject.finds_pairs = finds_pairs
    names = sorted({name for made in calls for name in made})
    made = np.array([[one.get(name, Calls(0, 0.0)) for name in names] for one in calls]).reshape(
        len(calls), len(names), 2
    )
    times, spent = (dict(zip(names, column, strict=True)) for column in made.sum(axis=0).T.tolist())
    subject.queried = not spent.keys().isdisjoint(_QUERIES)
    if len(recording) >= _SEEN and not moves.any():
        change = "search once and keep the pairs"
        if subject.kind == "world":
            change = "if sprites do, World(check_sprites=True) names those whose bodies stay behind"
        subject.notes.append(f"nothing moves in any frame; {change}")
    _note_barriers(subject, times)
    for name in ("insert", "add", "remove", "move", "walk", *_QUERIES):
        per_frame = times.get(name, 0) / len(recording)
        if per_frame >= _MANY_CALLS and spent[name] >= _MUCH_TIME * sum(spent.values()):
            of_all = (_ms(seconds / len(recording)) for seconds in (spent[name], sum(spent.values())))
            one = f"{name} with an array" if name in _QUERIES else f"{name}_many"
            if subject.kind == "world" and name in ("move", "walk"):
                one += "(..., movers_block=True)"
            elif subject.kind == "world" and name in ("query_box", "query_radius", "query_point"):
                one += ", or a listener (World.on) for all pairs of two tags,"
            cost = " of the ".join(of_all)
            subject.notes.append(
                f"{name} is called {per_frame:,.0f} times per frame and takes {cost} that was recorded; "
                f"one call of {one} does the same"
            )
    return _where_time_went(names, made, np.array(changed), recording.counts()[:, 2])


def _note_barriers(subject: Subject, times: Mapping[str, float]) -> None:
    """Note bodies that never move and that movers in one call go through, because they are not static."""
    many = [name for name in ("move_many", "walk_many", "step") if times.get(name)]
    frame = subject.frames[-1]
    chosen = subject.still[frame.ids] & ~frame.sensor
    if not many or not 0 < chosen.sum() < _MANY_STILL * len(frame.ids):  # of many it is a proposal
        return
    who = subject.several(int(chosen.sum())) + _most_are(frame, np.flatnonzero(chosen))
    subject.notes.append(
        f"{who} never moved and are not static, so {' and '.join(many)} without movers_block goes through "
        "them; add barriers with static=True"
    )


def _most_are(frame: RecordedFrame, rows: npt.NDArray[np.intp]) -> str:
    """The tag that most of these bodies have, in brackets."""
    tag = Counter(frame.tags[row] for row in rows).most_common(1)[0][0]
    return f" (most are {tag})" if tag else ""


def _where_time_went(names: list[str], made: Columns, changed: Columns, tests: Columns) -> list[str]:
    """Which calls took which share of the recorded time, and why the slowest frames are slow, in sentences.

    ``made`` has times and seconds of each call in each frame, ``changed`` how many bodies were added, removed
    and moved.
    """
    (times, spent), frames = np.moveaxis(made, 2, 0), made[:, :, 1].sum(axis=1)
    if not frames.any():
        medians = zip(np.median(changed, axis=0), _CHANGES, strict=True)
        usually = ", ".join(f"{count:,.0f} {what}" for count, what in medians)
        return [f"No call was timed, only the replay below is; a usual frame has {usually}."]
    shares = spent.sum(axis=0) / spent.sum()
    per_call = ", ".join(
        f"{names[k]} {shares[k]:.0%} (x{times[:, k].mean():,.3g})"
        for k in np.argsort(-shares, kind="stable").tolist()
        if shares[k] >= _LEAST_SHARE
    )
    usual = float(np.median(frames))
    said = [f"Recorded calls took {_ms(frames.mean())} per frame: {per_call}."]
    for number in np.argsort(-frames, kind="stable")[:_SLOWEST].tolist():
        if frames[number] >= max(_SLOW * usual, usual + _LEAST_SAVED):
            k = int((spent[number] - np.median(spent, axis=0)).argmax())
            counts = {"calls": times[:, k], **dict(zip(_CHANGES, changed.T, strict=True))}
            if names[k] in _FINDS_PAIRS:
                counts["tests"] = tests
            took = f"{_ms(frames[number])} (median {_ms(usual)}), {_ms(spent[number, k])} of it in {names[k]}"
            others = "listeners and other programs" if names[k] == "update" else "other programs"
            why = _why(number, spent[:, k], counts) or f"no count explains it, so look at {others}"
            said.append(f"Slow: frame {number} took {took}; {why}.")
    return said


def _why(number: int, spent: Columns, counts: Mapping[str, Columns]) -> str:
    """The counts that are so much larger than usual that they can explain the time."""
    slower = spent[number] / max(float(np.median(spent)), _LEAST_SAVED)
    return ", ".join(
        f"{column[number]:,.0f} {what}{compared(int(column[number]), float(np.median(column)))}"
        for what, column in counts.items()
        if column[number] > max(_MORE, slower / 3) * np.median(column)
    )


# ---- what to try


def _other_cells(subject: Subject, frame: RecordedFrame) -> Iterator[Proposal]:
    """Cells of another size, if the index finds its own wrong."""
    method, options = subject.setting
    about = subject.about
    common = {"dim": about["dim"], "touching": about["touching"], "dtype": subject.dtype}
    common["period"] = about.get("period")
    index = make_index(cast(Choice, method), **common, **options)
    if not isinstance(index, CellIndex) or index.cell_size == "auto":
        return
    index.insert_many(frame.boxes, static=frame.static)
    report = index.explain()
    if report.verdict in ("too large", "too small"):
        fault = f"Cells of {readable(report.cell_size)} are {report.verdict}: {report.reason}"
        change = f'leave out cell_size: "auto" chooses about {readable(report.suggested)} here'
        setting = Setting(method, {**options, "cell_size": "auto"})
        yield Proposal(fault, change, "cell_size", setting, lambda same: same)


def _other_methods(subject: Subject, frame: RecordedFrame) -> Iterator[Proposal]:
    """Methods that could suit better.  Between frames that is the default, which takes the way that suits."""
    names = ["auto"]
    if subject.kind == "file":
        names = ["box_tree", "strips", *(["brute_force"] if len(frame.ids) <= 4 * FEW_BOXES else [])]
    for name in names:
        if name == subject.setting.method:
            continue
        one_shot = "tree" if name == "box_tree" else name
        change = {
            "file": f'broadphase.pairs(..., method="{one_shot}"); without method= the fastest is picked',
            "index": "make_index(...)",
            "world": "World(...) without broadphase=",
        }[subject.kind]
        change += "; only the search for pairs was tried, not your queries" if subject.queried else ""
        fault = f"{subject.setting.method} is not the fastest method for this"
        yield Proposal(fault, change, name, Setting(name, {}), lambda same: same)


def _other_flags(subject: Subject, frame: RecordedFrame) -> Iterator[Proposal]:
    """The flag ``static``: for what never moves, and not for what does."""
    if not len(subject.still) or subject.moving == 0:
        return
    verb = "add" if subject.kind == "world" else "insert"
    for which, state, how, value in (
        (subject.still, "never move and are not static", "with", True),
        (subject.restless, "are static and move in most frames", "without", False),
    ):
        chosen = np.flatnonzero(which[frame.ids])
        if len(chosen) >= max(_MANY_STILL * len(frame.ids), 1):
            who = f"{len(chosen):,} of {subject.several(len(frame.ids))}{_most_are(frame, chosen)}"
            change = f"{verb} them {how} static=True; two static ones are never paired"
            if subject.kind == "world":
                change += ", and move_many and walk_many are blocked by static ones only"
            name = f"static={value}"
            yield Proposal(f"{who} {state}", change, name, subject.setting, _flagged(which, value))


def _without_giants(subject: Subject, frame: RecordedFrame) -> Iterator[Proposal]:
    giants = find_giants(frame.boxes)
    if not len(giants):
        return
    sides = longest_sides(frame.boxes)
    times = sides[giants].max() / np.median(sides[sides > 0])
    size = f"{'up to ' if len(giants) > 1 else ''}{times:,.0f} times as long as the median"
    size = "infinite" if np.isinf(times) else size
    names = [f"{frame.ids[row]}{f' ({frame.tags[row]})' if frame.tags[row] else ''}" for row in giants[:3]]
    who = f"{subject.several(len(giants))} ({', '.join(names)}{', ...' if len(giants) > 3 else ''})"
    verbs = ("is", "has") if len(giants) == 1 else ("are", "have")
    met = overlaps_of(frame.task, giants, frame.space)
    fault = f"{who} {verbs[0]} {size} and {verbs[1]} {met:,} overlaps"
    one = "it" if len(giants) == 1 else "each"
    change = f"give {one} a mask if its pairs are not needed, or parts if its shape fills little of its box"
    yield Proposal(fault, change, "without giants", subject.setting, _unpaired(frame.ids[giants]))


def _without_crowd(subject: Subject, frame: RecordedFrame) -> Iterator[Proposal]:
    overlaps = count_work(frame.task, frame.space).overlaps
    crowd = find_crowd(frame.task, overlaps)
    met = 0 if crowd is None else overlaps_of(frame.task, crowd.rows, frame.space)
    if crowd is None or 2 * met < overlaps:
        return
    sides = longest_sides(frame.boxes)
    across = longest_sides(np.array([crowd.bounds]))[0]
    if 2 * len(crowd.rows) > len(sides) and across / _WIDE > np.median(sides):
        return  # they are crowded everywhere
    who = f"{len(crowd.rows):,} of {subject.several(len(frame.ids))} lie {crowd.place}"
    fault = f"{who} and have {met:,} of the {overlaps:,} overlaps"
    change = "keep them apart, or give them a mask if their pairs are not needed; no method can save pairs"
    edit = _unpaired(frame.ids[crowd.rows])
    only = None if subject.kind == "file" else frame.number
    yield Proposal(fault, change, "without the crowd", subject.setting, edit, only)


def _flagged(which: Flags, value: bool) -> Edit:
    return lambda frame: replace(frame, static=np.where(which[frame.ids], value, frame.static))


def _unpaired(ids: npt.NDArray[np.int32]) -> Edit:
    """A mask that excludes all pairs of these."""
    return lambda frame: replace(frame, masks=np.where(np.isin(frame.ids, ids), np.uint32(0), frame.masks))


# ---- trying it


def try_out(subject: Subject, proposal: Proposal) -> Trial:
    """Run both through all frames several times, in turns; the least time of each frame counts.

    Raises
    ------
    DisagreementError
        They find different pairs.
    """
    frames = [(frame, proposal.edit(frame)) for frame in subject.frames]
    settings = subject.setting, proposal.setting
    seconds, tests = np.full((len(frames), 2), np.inf), np.zeros((len(frames), 2), np.int64)
    fewer = more = rounds = 0
    begin = perf_counter()
    while rounds < _ROUNDS or (rounds < _MOST_ROUNDS and perf_counter() - begin < _SECONDS):
        followers = [Follower(setting.method, subject, **setting.options) for setting in settings]
        for k, both in enumerate(frames):
            runs = {
                side: followers[side].run(both[side]) for side in ((0, 1) if (k + rounds) % 2 else (1, 0))
            }
            for side, run in runs.items():
                seconds[k, side] = min(seconds[k, side], run.seconds)
                tests[k, side] = run.stats.tests
            if rounds == 0:
                # The flags and masks of one side may exclude pairs of the other; all others must be the same.
                stays, was = _may_pair(both[1], runs[0].pairs), _may_pair(both[0], runs[1].pairs)
                if not np.array_equal(runs[0].pairs[stays], runs[1].pairs[was]):
                    raise DisagreementError(f"{proposal.name}: {proposal.setting} finds other pairs")
                fewer, more = fewer + int((~stays).sum()), more + int((~was).sum())
                if k and perf_counter() - begin > _LONGEST:
                    frames, seconds, tests = frames[: k + 1], seconds[: k + 1], tests[: k + 1]
                    break
        rounds += 1
    # The first frame of a recording only fills the index.
    counted = [k for k, (frame, _) in enumerate(frames) if frame.number == proposal.only]
    counted = counted or list(range(min(len(frames) - 1, 1), len(frames)))
    before, after = seconds[counted].mean(axis=0).tolist()
    tests_before, tests_after = np.median(tests[counted], axis=0).astype(int).tolist()
    return Trial(before, after, tests_before, tests_after, fewer, more)


def _may_pair(frame: RecordedFrame, pairs: PairArray) -> Flags:
    i, j = np.searchsorted(frame.ids, pairs).T
    masked = (frame.categories[i] & frame.masks[j] != 0) & (frame.categories[j] & frame.masks[i] != 0)
    may: Flags = masked & ~(frame.static[i] & frame.static[j])
    return may


def _ms(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


# ---- replaying a recording with an index of any kind: what would it have cost there?


class FrameRun(NamedTuple):
    """What one method did in one frame."""

    pairs: PairArray
    """Pairs of ids of the recording, sorted."""
    stats: Stats
    seconds: float


class Follower:
    """An index to which the recorded insertions, removals and moves are applied, frame by frame.

    Parameters
    ----------
    method : str
        A name of `broadphase.INDEXES`.
    recording : Recording
        The recording that it follows.
    **options
        Options of the index.

    Examples
    --------
    >>> import broadphase as bp
    >>> from tempfile import TemporaryDirectory
    >>> world = bp.World()
    >>> for x in (0, 5):
    ...     _ = world.add(bp.Box(x, 0, 10, 10))
    >>> with TemporaryDirectory() as folder:
    ...     with bp.Recorder(world, f"{folder}/a.bprec"):
    ...         _ = world.update()
    ...     recording = bp.Recording(f"{folder}/a.bprec")
    >>> Follower("box_tree", recording).run(recording[0]).pairs.tolist()
    [[0, 1]]
    """

    def __init__(self, method: str, recording: Recording | Subject, **options: Any) -> None:
        about = recording.about
        common = {"dim": about["dim"], "touching": bool(about["touching"]), "dtype": recording.dtype}
        common["period"] = about.get("period")
        self._index = make_index(cast(Choice, method), **common, **options)
        self._before: RecordedFrame | None = None
        self._own: npt.NDArray[np.int32] = np.empty(0, np.int32)
        """The id in the index, by the id in the recording."""
        self._names: npt.NDArray[np.int32] = np.empty(0, np.int32)
        """The id in the recording, by the id in the index."""

    def run(self, frame: RecordedFrame) -> FrameRun:
        """Apply the changes of a frame and find the pairs, as the program did; the time covers both.

        What has changed is often a small part of all pairs, and `World.update` searches only that too.
        """
        before, self._before = self._before, frame
        if before is None:
            stays_then = stays_now = np.empty(0, np.intp)
            gone = np.empty(0, np.int32)
        else:
            _, stays_then, stays_now = np.intersect1d(before.ids, frame.ids, True, return_indices=True)
            alike = (
                (before.static[stays_then] == frame.static[stays_now])
                & (before.categories[stays_then] == frame.categories[stays_now])
                & (before.masks[stays_then] == frame.masks[stays_now])
            )
            stays_then, stays_now = stays_then[alike], stays_now[alike]
            gone = self._own[np.delete(before.ids, stays_then)]
        came = np.delete(np.arange(len(frame.ids)), stays_now)
        moved = stays_now
        if before is not None:
            moved = stays_now[(before.boxes[stays_then] != frame.boxes[stays_now]).any(axis=1)]
        moved_ids = self._own[frame.ids[moved]]
        start = perf_counter()
        if len(gone):
            self._index.remove_many(gone)
        fresh = self._insert(frame, came)
        if len(moved) == len(frame.ids) == len(self._index) and (np.diff(moved_ids) > 0).all():
            self._index.update(frame.boxes)
        elif len(moved):
            self._index.move_many(moved_ids, frame.boxes[moved])
        if "pairs" not in frame.calls and not frame.calls.keys().isdisjoint(("changes", "update")):
            changes = self._index.changes()
            seconds = perf_counter() - start
            pairs = np.concatenate((changes.began, changes.stayed))
        else:
            pairs = self._index.pairs()
            seconds = perf_counter() - start
        self._name(frame.ids[came], fresh)
        return FrameRun(self._named(pairs), self._index.stats, seconds)

    def _insert(self, frame: RecordedFrame, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        if not len(rows):
            return np.empty(0, np.int32)
        return self._index.insert_many(
            frame.boxes[rows],
            static=frame.static[rows],
            category=frame.categories[rows],
            mask=frame.masks[rows],
        )

    def _name(self, ids: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32]) -> None:
        self._own = _with_space(self._own, ids)
        self._names = _with_space(self._names, numbers)
        self._own[ids], self._names[numbers] = numbers, ids

    def _named(self, pairs: PairArray) -> PairArray:
        named = np.sort(self._names[pairs], axis=1)
        return named[np.lexsort((named[:, 1], named[:, 0]))]


class MethodRun(NamedTuple):
    """The cost of a method in all frames."""

    seconds: npt.NDArray[np.float64]
    """For each frame, the minimum over all rounds."""
    tests: npt.NDArray[np.int64]


def run_methods(recording: Recording, methods: Sequence[str], rounds: int) -> dict[str, MethodRun]:
    """Run methods through all frames, ``rounds`` times."""
    frames = len(recording)
    found = {name: MethodRun(np.full(frames, np.inf), np.zeros(frames, np.int64)) for name in methods}
    for _ in range(rounds):
        followers = {name: Follower(name, recording) for name in methods}
        for frame in recording:
            for name, follower in followers.items():
                run, (seconds, tests) = follower.run(frame), found[name]
                seconds[frame.number] = min(seconds[frame.number], run.seconds)
                tests[frame.number] = run.stats.tests
    return found


def _with_space(column: npt.NDArray[np.int32], rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    end = int(rows.max(initial=-1)) + 1
    return column if end <= len(column) else np.resize(column, 2 * end)

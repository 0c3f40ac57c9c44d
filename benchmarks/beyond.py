"""Out of core: from Parquet to Parquet, compared with `pairs` in memory and with SQL engines.

    python benchmarks/beyond.py [--sizes 1e6 1e7] [--scene uniform] [--memory "2 GB"] [--folder DIR]
                                [--peers 1e6] [--kills 10] [--executor threads]

Every measurement runs in a process of its own, whose memory is measured from outside, including that of its
children.  Every number of pairs is checked against `count_pairs` in memory.  Compare only the ratios of one
run.  Needs the extra `dask` (psutil comes with it); `--peers` also needs duckdb with its spatial extension,
and sedonadb.
"""

import argparse
import json
import math
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
from pyarrow import parquet

import broadphase as bp
from broadphase import files, outofcore
from broadphase.outofcore.tiles import GROUP, open_part

CHUNK = 1 << 20
IN_MEMORY = 10_000_000  # boxes of the comparison with `pairs`
NAMES = ["min_x", "min_y", "max_x", "max_y"]


def uniform(rng: np.random.Generator, m: int, n: int) -> Any:
    """Equal boxes anywhere in the unit square, about two pairs a box."""
    low = rng.random((2, m), np.float32)
    side = np.float32(1 / math.sqrt(n))
    return [*low, *(low + side)]


def clusters(rng: np.random.Generator, m: int, n: int) -> Any:
    """A thousand crowds of all sizes, boxes small enough for about two pairs a box."""
    where = np.random.default_rng(7)
    centre, reach = where.random((2, 1000), np.float32), 10 ** where.uniform(-3, -1.5, 1000)
    own = (rng.random(m) ** 2 * 1000).astype(int)
    low = (centre[:, own] + rng.normal(size=(2, m)) * reach[own]).astype(np.float32)
    side = np.float32(0.22 / math.sqrt(n))
    return [*low, *(low + side)]


SCENES: dict[str, Callable[..., Any]] = {"uniform": uniform, "clusters": clusters}


def make(scene: str, n: int, path: Path) -> None:
    """Write ``n`` boxes of a scene; the same ones each time."""
    rng = np.random.default_rng([n, *scene.encode()])
    schema = pa.schema([(name, pa.float32()) for name in NAMES])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for begin in range(0, n, CHUNK):
            columns = SCENES[scene](rng, min(CHUNK, n - begin), n)
            writer.write_table(pa.table(columns, schema=schema))


# --- the measured processes: each prints one line of JSON ------------------------------------------------


def child_outofcore(path: str, out: str, memory: str, executor: str) -> dict[str, Any]:
    plans: list[Any] = []
    begun, used = time.perf_counter(), time.process_time()
    if executor == "processes":
        with ProcessPoolExecutor(2) as pool:
            done = outofcore.pairs(path, out, memory=memory, executor=pool, progress=plans.append)
    elif executor == "dask":
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            begun = time.perf_counter()
            pool = client.get_executor()
            done = outofcore.pairs(path, out, memory=memory, executor=pool, progress=plans.append)
    else:
        done = outofcore.pairs(path, out, memory=memory, progress=plans.append)
    took = time.perf_counter() - begun
    plan = plans[-1].plan
    return {
        "seconds": took,
        "used": time.process_time() - used,
        "pairs": done.pairs,
        "tiles": done.tiles,
        "temporary": plan.temporary_bytes,
    }


def child_alone(path: str, out: str) -> dict[str, Any]:
    """Processor time of what no way out of core can leave out: read the boxes, search, write the pairs."""
    boxes = files.read_boxes(path).boxes
    parts = [parquet.read_table(part) for part in sorted(Path(out).glob("*.parquet"))]
    steps: dict[str, Callable[[], Any]] = {
        "read": lambda: parquet.read_table(path),
        "search": lambda: bp.pairs(boxes, threads=1),
        "write": lambda: [rewrite(part, f"{out}.again") for part in parts],
    }
    took = dict.fromkeys(steps, math.inf)
    for name in [*steps] * 3:
        begun = time.process_time()
        steps[name]()
        took[name] = min(took[name], time.process_time() - begun)
    return took


def rewrite(part: Any, path: str) -> None:
    """Write one part of the output once more."""
    with closing(open_part(path, part.schema)) as writer:
        writer.write_table(part, GROUP)


def child_in_memory(path: str) -> dict[str, Any]:
    boxes = files.read_boxes(path).boxes
    took = []
    for _ in range(3):
        begun = time.perf_counter()
        found = len(bp.pairs(boxes))
        took.append(time.perf_counter() - begun)
    return {"seconds": min(took), "pairs": found}


def child_count(path: str) -> dict[str, Any]:
    return {"pairs": bp.count_pairs(files.read_boxes(path).boxes)}


def child_duckdb(path: str) -> dict[str, Any]:
    import duckdb
    from duckdb_extensions import import_extension

    import_extension("spatial")
    connection = duckdb.connect()
    connection.execute("LOAD spatial")
    begun = time.perf_counter()
    # A self-join gives both orders of each pair, and each box with itself.
    (count,) = connection.sql(
        f"WITH t AS (SELECT ST_MakeEnvelope(min_x, min_y, max_x, max_y) AS g FROM '{path}') "
        "SELECT count(*) FROM t a JOIN t b ON ST_Intersects(a.g, b.g)"
    ).fetchone()
    return {"seconds": time.perf_counter() - begun, "hits": count}


def child_sedonadb(path: str) -> dict[str, Any]:
    import sedonadb

    connection = sedonadb.connect()
    connection.read_parquet(path).to_view("raw")
    begun = time.perf_counter()
    result = pa.table(
        connection.sql(
            "WITH t AS (SELECT ST_MakeEnvelope(min_x, min_y, max_x, max_y) AS g FROM raw) "
            "SELECT count(*) AS n FROM t a JOIN t b ON ST_Intersects(a.g, b.g)"
        )
    ).to_pylist()
    return {"seconds": time.perf_counter() - begun, "hits": result[0]["n"]}


def measured(what: str, *arguments: str, limit: float = 3600) -> dict[str, Any]:
    """Run one of the above in a process of its own; adds its peak memory in bytes."""
    command = [sys.executable, __file__, "--child", what, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak, end = 0, time.monotonic() + limit
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        if time.monotonic() > end:
            process.kill()
            return {"seconds": math.inf, "peak": peak}
        time.sleep(0.05)
    assert process.stdout is not None
    if process.returncode:
        return {"seconds": math.nan, "peak": peak}
    return {**json.loads(process.stdout.read().splitlines()[-1]), "peak": peak}


def memory_of(pid: int) -> int:
    """Bytes that a process and its children hold; shared memory is counted once."""
    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                total += one.memory_full_info().pss
    return total


# --- the reports ------------------------------------------------------------------------------------------


def growth(options: argparse.Namespace, folder: Path) -> None:
    """Time and memory at each size, compared with `pairs` in memory."""
    print(f"{options.scene}, memory={options.memory!r}, {options.executor}")
    print(
        f"{'boxes':>13} {'pairs':>13} {'tiles':>6} {'seconds':>8} {'ns a box':>9} {'peak GB':>8}"
        f"{'temporary GB':>14}"
    )
    seen: dict[int, float] = {}
    for n in options.sizes:
        path, out = folder / "boxes.parquet", folder / "pairs"
        make(options.scene, n, path)
        result = measured("outofcore", str(path), str(out), options.memory, options.executor)
        rows = sum(parquet.read_metadata(part).num_rows for part in out.glob("*.parquet"))
        counted = measured("count", str(path))["pairs"]
        if not result["pairs"] == rows == counted:
            raise SystemExit(f"{n} boxes: {result['pairs']} pairs, {rows} rows, {counted} in memory")
        seen[n] = result["seconds"]
        print(
            f"{n:>13,} {result['pairs']:>13,} {result['tiles']:>6} {result['seconds']:>8.1f} "
            f"{1e9 * result['seconds'] / n:>9.0f} {result['peak'] / 1e9:>8.2f} "
            f"{result['temporary'] / 1e9:>13.2f}",
            flush=True,
        )
        alone = measured("alone", str(path), str(out))
        parts = ", ".join(f"{name} {1e9 * alone[name] / n:.0f}" for name in ("read", "search", "write"))
        print(f"  processor time: {1e9 * result['used'] / n:.0f} ns a box; alone: {parts}", flush=True)
        shutil.rmtree(out)
        if n == IN_MEMORY:
            within = measured("in_memory", str(path))
            seen[-1] = within["seconds"]
            print(
                f"  pairs() in memory: {1e9 * within['seconds'] / n:.0f} ns a box, "
                f"{within['peak'] / 1e9:.2f} GB"
            )
    if -1 in seen:
        base = seen.pop(-1) / IN_MEMORY
        for n, took in seen.items():
            print(f"  {n:,}: {took / n / base:.2f} times as long a box as pairs() in memory at {IN_MEMORY:,}")
    for small, large in pairwise(sorted(seen)):
        power = math.log(seen[large] / seen[small]) / math.log(large / small)
        print(f"  from {small:,} to {large:,}: growth to the power {power:.2f}")


def peers(options: argparse.Namespace, folder: Path) -> None:
    """Compared with SQL engines, which only count."""
    for n in options.peers:
        path, out = folder / "boxes.parquet", folder / "pairs"
        make(options.scene, n, path)
        ours = measured("outofcore", str(path), str(out), options.memory, "threads")
        shutil.rmtree(out)
        print(
            f"{n:,} boxes, ours from Parquet to Parquet: {ours['seconds']:.2f} s, {ours['peak'] / 1e9:.2f} GB"
        )
        for name in ("duckdb", "sedonadb"):
            result = measured(name, str(path), limit=options.limit)
            if "hits" in result and (result["hits"] - n) // 2 != ours["pairs"]:
                raise SystemExit(f"{name} finds {result['hits']} hits, not {2 * ours['pairs'] + n}")
            print(
                f"  {name}, counting: {result['seconds'] / ours['seconds']:.1f} times as long, "
                f"{result['peak'] / 1e9:.2f} GB",
                flush=True,
            )


def kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill a run at random moments, again and again, let it finish, and compare the output."""
    path, whole, out = folder / "boxes.parquet", folder / "whole", folder / "pairs"
    make(options.scene, 3_000_000, path)
    took = measured("outofcore", str(path), str(whole), "50 MB", "threads")["seconds"]
    chance = random.Random(16)
    command = [sys.executable, __file__, "--child", "outofcore", str(path), str(out), "50 MB", "threads"]
    begun = 0
    for _ in range(options.kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.2, 1.0) * took)
        process.send_signal(signal.SIGKILL)
        process.wait()
        begun += 1
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    names = sorted(file.name for file in whole.iterdir())
    same = all(
        (whole / name).read_bytes() == (out / name).read_bytes() for name in names if name.startswith("part")
    )
    left = sorted(file.name for file in folder.iterdir())
    print(
        f"killed {begun} times and resumed: {len(names) - 1} parts, all the same: {same}; "
        f"the folder holds {left}"
    )
    if not same or names != sorted(file.name for file in out.iterdir()):
        raise SystemExit("the output differs")


def main() -> None:
    """Make the scenes, measure, and print."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(globals()[f"child_{sys.argv[2]}"](*sys.argv[3:])))
        return
    number = lambda text: int(float(text))  # noqa: E731 - 1e7 is no int to argparse
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", type=number, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--scene", choices=SCENES, default="uniform")
    parser.add_argument("--memory", default="2 GB")
    parser.add_argument("--executor", choices=("threads", "processes", "dask"), default="threads")
    parser.add_argument("--peers", type=number, nargs="*", default=[])
    parser.add_argument("--limit", type=float, default=600, help="seconds that a peer may take")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where the boxes and pairs are written")
    options = parser.parse_args()
    for part, wanted in ((growth, options.sizes), (peers, options.peers), (kills, options.kills)):
        if wanted:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                part(options, Path(folder))


if __name__ == "__main__":
    main()

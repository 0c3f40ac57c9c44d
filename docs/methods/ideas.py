"""Each method as the twenty lines that are its idea, for the pages in this folder.

Boxes are four numbers: left, top, right, bottom.  Each function returns the pairs that overlap.  The engine
does the same with compiled code, and ``broadphase.methods`` says what it does better.
"""

from collections import defaultdict
from itertools import combinations


def overlap(a, b):
    in_x = a[0] <= b[2] and b[0] <= a[2]
    in_y = a[1] <= b[3] and b[1] <= a[3]
    return in_x and in_y


def brute_force(boxes):
    pairs = set()
    for i in range(len(boxes)):
        for j in range(i + 1, len(boxes)):
            if overlap(boxes[i], boxes[j]):
                pairs.add((i, j))
    return pairs


def sort_and_sweep(boxes):
    pairs = set()
    order = sorted(range(len(boxes)), key=lambda i: boxes[i][0])
    for at, i in enumerate(order):
        for j in order[at + 1 :]:
            if boxes[j][0] > boxes[i][2]:
                break  # all later boxes begin further right still
            if overlap(boxes[i], boxes[j]):
                pairs.add((min(i, j), max(i, j)))
    return pairs


def sweep_and_prune(boxes, pairs, edges):
    # Both are those of the last frame; an edge is (box, 0 or 1).
    for axis, row in enumerate(edges):
        place = [(boxes[i][axis + 2 * far], far) for i, far in row]
        for start in range(1, len(row)):
            at = start
            while at > 0 and place[at] < place[at - 1]:
                for order in (row, place):
                    order[at - 1], order[at] = order[at], order[at - 1]
                at -= 1
                (i, far), (j, other) = sorted(row[at : at + 2])
                if far == other:
                    continue  # two near or two far edges: no pair begins or ends
                if overlap(boxes[i], boxes[j]):
                    pairs.add((i, j))
                else:
                    pairs.discard((i, j))
    return pairs


def clamped(number, count):
    return min(max(int(number), 0), count - 1)  # what lies outside is in the cells at the edge


def uniform_grid(boxes, cell, columns, rows):
    pairs = set()
    cells = [[] for _ in range(columns * rows)]
    for i, (left, top, right, bottom) in enumerate(boxes):
        for y in range(clamped(top // cell, rows), clamped(bottom // cell, rows) + 1):
            for x in range(clamped(left // cell, columns), clamped(right // cell, columns) + 1):
                cells[y * columns + x].append(i)
    for number, members in enumerate(cells):
        for i, j in combinations(members, 2):
            if overlap(boxes[i], boxes[j]):
                # Of the cells that they share the first reports them.
                x = clamped(max(boxes[i][0], boxes[j][0]) // cell, columns)
                y = clamped(max(boxes[i][1], boxes[j][1]) // cell, rows)
                if number == y * columns + x:
                    pairs.add((i, j))
    return pairs


def spatial_hash(boxes, cell, slots):
    pairs = set()
    table = defaultdict(list)
    for i, (left, top, right, bottom) in enumerate(boxes):
        for y in range(int(top // cell), int(bottom // cell) + 1):
            for x in range(int(left // cell), int(right // cell) + 1):
                slot = (x * 1640531513 ^ y * 2654435789) % slots
                if i not in table[slot]:
                    table[slot].append(i)
    for members in table.values():
        for i, j in combinations(members, 2):
            if overlap(boxes[i], boxes[j]):
                pairs.add((i, j))  # a set: some are found twice
    return pairs


def node_around(boxes, members):
    low = [min(boxes[i][axis] for i in members) for axis in (0, 1)]
    high = [max(boxes[i][axis + 2] for i in members) for axis in (0, 1)]
    if len(members) <= 4:
        return low + high, members, []
    axis = 0 if high[0] - low[0] > high[1] - low[1] else 1
    members = sorted(members, key=lambda i: boxes[i][axis] + boxes[i][axis + 2])
    half = len(members) // 2
    halves = [node_around(boxes, part) for part in (members[:half], members[half:])]
    return low + high, [], halves


def box_tree(boxes):
    pairs = set()
    root = node_around(boxes, range(len(boxes)))
    for i, box in enumerate(boxes):
        waiting = [root]
        while waiting:
            bounds, members, halves = waiting.pop()
            if not overlap(bounds, box):
                continue  # then nothing inside it does
            waiting += halves
            for j in members:
                if i < j and overlap(box, boxes[j]):
                    pairs.add((i, j))
    return pairs


def strips(boxes, height):
    pairs = set()
    rows = defaultdict(list)
    for i, box in enumerate(boxes):
        for row in range(int(box[1] // height), int(box[3] // height) + 1):
            rows[row].append(i)
    for row, members in rows.items():
        members.sort(key=lambda i: boxes[i][0])
        for at, i in enumerate(members):
            for j in members[at + 1 :]:
                if boxes[j][0] > boxes[i][2]:
                    break
                # The first strip that they share reports them.
                is_first = row == max(boxes[i][1], boxes[j][1]) // height
                if overlap(boxes[i], boxes[j]) and is_first:
                    pairs.add((min(i, j), max(i, j)))
    return pairs


def inside(boxes, root, box):
    waiting = [root]
    while waiting:
        bounds, members, halves = waiting.pop()
        if overlap(bounds, box):
            waiting += halves
            yield from (j for j in members if overlap(box, boxes[j]))


def auto(boxes, pairs, moved):
    # The pairs are those of the last frame; since then these boxes have moved.
    if not moved:
        return pairs
    if len(boxes) < 250:
        return brute_force(boxes)
    if len(moved) > len(boxes) // 10:
        return strips(boxes, height=50)
    root = node_around(boxes, range(len(boxes)))  # the library keeps it, too
    pairs = {(i, j) for i, j in pairs if i not in moved and j not in moved}
    for i in moved:
        for j in inside(boxes, root, boxes[i]):
            if i != j:
                pairs.add((min(i, j), max(i, j)))
    return pairs

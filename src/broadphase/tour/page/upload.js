// Boxes from a file: CSV with or without names of columns, or an array of NumPy.

const MOST = 20_000; // boxes that the page searches in a moment
const EDGES = { 4: [0, 1, 2, 3], 6: [0, 1, 3, 4] }; // of a row: left, top, right, bottom, seen from above

/** The boxes of a file, four numbers each, and what is to be said of them.
 *
 * Throws an error with words for the reader. */
export function readBoxes(name, buffer) {
  const { rows, columns, values } = /\.npy$/i.test(name) ? readArray(buffer) : readText(new TextDecoder().decode(buffer));
  if (!rows) throw new Error("holds no boxes");
  if (rows > MOST) throw new Error(`holds ${rows.toLocaleString("en")} boxes; this page takes ${MOST.toLocaleString("en")}, Python takes all of them`);
  const edges = EDGES[columns];
  if (!edges) throw new Error(`a box has 4 numbers, min_x, min_y, max_x, max_y, or 6 in 3-D; these rows have ${columns}`);
  const boxes = new Float64Array(4 * rows);
  for (let row = 0; row < rows; row++) {
    for (let edge = 0; edge < 4; edge++) {
      const value = values(row, edges[edge]);
      if (!Number.isFinite(value)) throw new Error(`row ${row + 1} has no number in column ${edges[edge] + 1}`);
      boxes[4 * row + edge] = value;
    }
    for (const axis of [0, 1]) {
      if (boxes[4 * row + axis] > boxes[4 * row + 2 + axis]) throw new Error(`row ${row + 1} ends before it begins: its ${axis ? "max_y is less than its min_y" : "max_x is less than its min_x"}`);
    }
  }
  return { boxes, note: columns === 6 ? "seen from above" : "" };
}

// ---- text

function readText(text) {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim() && !line.startsWith("#"));
  if (!lines.length) return { rows: 0 };
  const separator = ["\t", ";", ","].find((one) => lines[0].includes(one)) ?? " ";
  const cells = (line) => (separator === " " ? line.trim().split(/\s+/) : line.split(separator)).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  const names = cells(lines[0]).map((cell) => cell.toLowerCase());
  const isNamed = names.some((cell) => !Number.isFinite(Number(cell)) || cell === "");
  const numbers = (isNamed ? lines.slice(1) : lines).map((line) => cells(line).map((cell) => (cell === "" ? NaN : Number(cell))));
  if (!isNamed) return { rows: numbers.length, columns: numbers[0].length, values: (row, column) => numbers[row][column] };
  const at = (...wanted) => wanted.map((name) => names.indexOf(name));
  const corners = at("min_x", "min_y", "max_x", "max_y");
  if (!corners.includes(-1)) return { rows: numbers.length, columns: 4, values: (row, column) => numbers[row][corners[column]] };
  const [x, y, width, height] = at("x", "y", "width", "height");
  if ([x, y, width, height].includes(-1)) throw new Error(`has no columns min_x, min_y, max_x, max_y, nor x, y, width, height; they are ${names.join(", ")}`);
  const values = (row, column) => numbers[row][column % 2 ? y : x] + (column < 2 ? 0 : numbers[row][column % 2 ? height : width]);
  return { rows: numbers.length, columns: 4, values };
}

// ---- arrays of NumPy

const TYPES = {
  f4: ["getFloat32", 4], f8: ["getFloat64", 8], i1: ["getInt8", 1], u1: ["getUint8", 1], i2: ["getInt16", 2], u2: ["getUint16", 2],
  i4: ["getInt32", 4], u4: ["getUint32", 4], i8: ["getBigInt64", 8], u8: ["getBigUint64", 8],
};

function readArray(buffer) {
  const view = new DataView(buffer);
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
  if (buffer.byteLength < 12 || magic.some((byte, at) => view.getUint8(at) !== byte)) throw new Error("is no array of NumPy");
  const isLong = view.getUint8(6) > 1;
  const begin = isLong ? 12 : 10;
  const length = isLong ? view.getUint32(8, true) : view.getUint16(8, true);
  const head = new TextDecoder().decode(buffer.slice(begin, begin + length));
  const [, order, type] = head.match(/'descr':\s*'([<>|=])(\w\d+)'/) ?? [];
  const shape = (head.match(/'shape':\s*\(([^)]*)\)/)?.[1] ?? "").split(",").filter((side) => side.trim()).map(Number);
  if (!(type in TYPES) || shape.length !== 2) throw new Error(`is no table of numbers: ${head.trim().slice(0, 80)}`);
  const [read, bytes] = TYPES[type];
  const [rows, columns] = shape;
  if (buffer.byteLength < begin + length + rows * columns * bytes) throw new Error("is cut off");
  const isByColumn = /'fortran_order':\s*True/.test(head);
  const values = (row, column) => Number(view[read](begin + length + bytes * (isByColumn ? column * rows + row : row * columns + column), order !== ">"));
  return { rows, columns, values };
}

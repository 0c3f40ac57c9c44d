// The socket: words come as JSON, frames as bytes (broadphase/lab/frames.py says how they are laid out).

const MAGIC = 0x314c5042; // "BPL1", little-endian
const HEADER = 32;
const KINDS = {
  1: ["centers", Float32Array], 2: ["halves", Float32Array], 3: ["still", Uint8Array],
  4: ["tiles", Float32Array], 5: ["hits", Uint32Array], 6: ["hitBodies", Uint8Array],
  7: ["numbers", Float64Array], 8: ["tests", Uint32Array], 9: ["cells", Float32Array],
  10: ["nodes", Float32Array], 11: ["strips", Float32Array], 12: ["order", Uint32Array],
  13: ["ends", Uint32Array], 14: ["held", Int32Array], 15: ["classBits", Uint32Array],
  16: ["swaps", Uint32Array], 17: ["before", Uint32Array], 18: ["ofFrame", Uint32Array],
};
const OF_A_LANE = new Set([7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18]);
const LONGEST_WAIT = 4000;

export function decode(buffer) {
  const view = new DataView(buffer);
  if (view.byteLength < HEADER || view.getUint32(0, true) !== MAGIC) throw new Error("this is not a frame");
  const frame = {
    epoch: view.getUint32(4, true),
    made: view.getFloat64(8, true),
    frame: view.getUint32(16, true),
    serial: view.getUint32(24, true),
    lanes: [],
  };
  let at = HEADER;
  for (let left = view.getUint32(20, true); left > 0; left--) {
    const kind = view.getUint16(at, true);
    const lane = view.getUint16(at + 2, true);
    const bytes = view.getUint32(at + 4, true);
    at += 8;
    const Numbers = KINDS[kind][1];
    place(frame, kind, lane, new Numbers(buffer, at, bytes / Numbers.BYTES_PER_ELEMENT));
    at += bytes + ((8 - (bytes % 8)) % 8);
  }
  return frame;
}

/** Puts a section where the page looks for it. */
function place(frame, kind, lane, content) {
  const name = KINDS[kind][0];
  if (OF_A_LANE.has(kind)) (frame.lanes[lane] ??= {})[name] = content;
  else frame[name] = content;
}

/** A connection that comes back by itself. `on` has open(), lost(), words(object) and frame(frame). */
export class Wire {
  #socket = null;
  #wait = 250;
  #on;

  constructor(on) {
    this.#on = on;
    this.#connect();
  }

  #connect() {
    const socket = new WebSocket(`ws://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.onopen = () => {
      this.#wait = 250;
      this.#on.open();
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") this.#on.words(JSON.parse(event.data));
      else this.#on.frame(decode(event.data));
    };
    socket.onclose = (event) => {
      this.#on.lost(event.reason);
      setTimeout(() => this.#connect(), this.#wait);
      this.#wait = Math.min(this.#wait * 1.6, LONGEST_WAIT);
    };
  }

  send(type, fields = {}) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type, ...fields }));
  }
}

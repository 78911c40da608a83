import { randomBytes } from 'node:crypto';

export type TemplateMarks = {
  readonly traceIdMark: string;
  readonly spanIdMark: string;
  readonly instants: readonly { readonly mark: Buffer; readonly ageMs: number }[];
  /** Must return as many bytes as a mark has. */
  readonly encodeInstant: (instantMs: number) => Buffer;
};

export type Template = {
  /** The size of every trace in bytes. */
  readonly bytes: number;
  /**
   * A source of traces with new random ids and current instants, patched into one private buffer: each result is valid
   * until the next call. `head` precedes every trace.
   */
  createSource(head: Uint8Array): () => Uint8Array;
};

type InstantPlace = { readonly ageMs: number; readonly offsets: readonly number[] };

const hexDigits = Buffer.from('0123456789abcdef', 'latin1');

/** Encoding a trace per request would make the generator the bottleneck; patching takes a microsecond. */
export function createTemplate(trace: Buffer, marks: TemplateMarks): Template {
  // All trace ids are the same.
  const [firstTraceId = 0, ...otherTraceIds] = offsetsOf(trace, Buffer.from(marks.traceIdMark, 'latin1'));
  const spanIds = offsetsOf(trace, Buffer.from(marks.spanIdMark, 'latin1'));
  const instants: InstantPlace[] = marks.instants.map(({ mark, ageMs }) => ({
    ageMs,
    offsets: offsetsOf(trace, mark),
  }));
  const instantBytes = marks.instants[0]?.mark.length ?? 0;

  return {
    bytes: trace.length,
    createSource(head) {
      const buffer = Buffer.concat([head, trace]);
      const traceIdAt = head.length + firstTraceId;
      const nextWord = createRandomWords();
      let renderedMs = 0;

      function writeHex(offset: number, length: number): void {
        for (let at = offset; at < offset + length; at += 8) {
          const word = nextWord();
          for (let digit = 0; digit < 8; digit += 1) buffer[at + digit] = hexDigits[(word >>> (digit * 4)) & 15] ?? 0;
        }
      }

      function writeInstants(nowMs: number): void {
        for (const { ageMs, offsets } of instants) {
          const encoded = marks.encodeInstant(nowMs - ageMs);
          if (encoded.length !== instantBytes) throw new Error('The instant does not fit the template.');
          for (const offset of offsets) encoded.copy(buffer, head.length + offset);
        }
        renderedMs = nowMs;
      }

      return () => {
        writeHex(traceIdAt, marks.traceIdMark.length);
        for (const offset of otherTraceIds) {
          buffer.copyWithin(head.length + offset, traceIdAt, traceIdAt + marks.traceIdMark.length);
        }
        for (const offset of spanIds) writeHex(head.length + offset, marks.spanIdMark.length);
        const nowMs = Date.now();
        if (nowMs !== renderedMs) writeInstants(nowMs);
        return buffer;
      };
    },
  };
}

/** Encodes a protobuf varint, also above 32 bits. */
export function varintBytes(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function offsetsOf(trace: Buffer, mark: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = trace.indexOf(mark); at >= 0; at = trace.indexOf(mark, at + mark.length)) offsets.push(at);
  if (offsets.length === 0) throw new Error('The trace lacks a mark of its template.');
  return offsets;
}

/** xoshiro128** with a random seed: ids spread like real ones, at a hundredth of the cost of a CSPRNG. */
function createRandomWords(): () => number {
  const seed = randomBytes(16);
  let a = seed.readInt32LE(0);
  let b = seed.readInt32LE(4);
  let c = seed.readInt32LE(8);
  let d = seed.readInt32LE(12) | 1;
  return () => {
    const mixed = Math.imul(b, 5);
    const word = Math.imul((mixed << 7) | (mixed >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return word;
  };
}

/**
 * Counts the messages and list items in an encoded message before it is decoded: two bytes of a body can become a whole
 * message in memory, so that 10 MiB could become gigabytes.
 */

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Fault } from '../domain/fault.ts';
import { PARTS_MAX, tooManyParts } from '../domain/message-parts.ts';
import { cached } from '../rpc/rest-shape.ts';

/** A smaller body cannot exceed the limit: each part takes two bytes. */
const UNSCANNED_BYTES_MAX = 65_536;
/** The decoder refuses deeper messages. */
const DEPTH_MAX = 100;

/** The message of a field, `list` for other lists, null for values that need no more memory than their bytes. */
type Part = DescMessage | 'list' | null;

/** By field number. */
type Shape = ReadonlyMap<number, Part>;

export type PartCount = {
  /** Counts the parts of some encoded fields of a message. Throws payload_too_large beyond the limit. */
  add(desc: DescMessage, bytes: Uint8Array): void;
};

/** The count of one request, over all its chunks. Malformed bytes are ignored: the decoder refuses them. */
export function createPartCount(): PartCount {
  let parts = 0;
  return {
    add(desc, bytes) {
      const reader = new BinaryReader(bytes);
      const scan = (message: DescMessage, end: number, depth: number): void => {
        const shape = shapeOf(message);
        while (reader.pos < end) {
          const [number, wireType] = reader.tag();
          const kind = shape.get(number);
          if (kind !== null) parts += 1;
          if (parts > PARTS_MAX) throw tooManyParts();
          if (typeof kind === 'object' && kind !== null && wireType === WireType.LengthDelimited && depth < DEPTH_MAX) {
            const length = reader.uint32();
            scan(kind, reader.pos + length, depth + 1);
          } else reader.skip(wireType, number);
        }
      };
      try {
        scan(desc, bytes.length, 1);
      } catch (error) {
        if (error instanceof Fault) throw error;
      }
    },
  };
}

const [QUOTE, BACKSLASH, OPEN_OBJECT] = Buffer.from('"\\{');

/** The same for a message in JSON, whose objects become messages. */
export function checkObjects(bytes: Uint8Array): void {
  if (bytes.length <= UNSCANNED_BYTES_MAX) return;
  let objects = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === OPEN_OBJECT) {
      objects += 1;
      if (objects > PARTS_MAX) throw tooManyParts();
    }
  }
}

const shapeOf = cached(({ fields }: DescMessage): Shape => {
  const partOf = (field: DescField): Part => {
    if (field.fieldKind === 'map') return 'list';
    return field.message ?? (field.fieldKind === 'list' ? 'list' : null);
  };
  return new Map(fields.map((field) => [field.number, partOf(field)]));
});

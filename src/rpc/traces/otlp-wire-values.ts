/** Attributes and their values in the protobuf encoding. The field numbers are OpenTelemetry's. */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { tooManyParts } from '../../domain/message-parts.ts';
import {
  checkWidth,
  doubleOf,
  type Entry,
  integerOf,
  objectOf,
  setAttribute,
} from '../../domain/traces/otlp/attributes.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';

/** The state of reading a request: the position, and counts with their limits. */
export type Wire = {
  readonly reader: BinaryReader;
  parts: number;
  fields: number;
  /** The longest text allowed. */
  bytes: number;
  /** How deep values nest. */
  depth: number;
};

/** The tag of a field: its number and wire type in one integer. */
type Tag = number;

/**
 * Parts and fields in one request. An attribute has two parts and four fields, and takes 40 bytes or more in real exports.
 * Only attributes of less than 28 bytes reach these limits within 10,000 spans and 10 MiB.
 */
const PARTS_MAX = 800_000;
const FIELDS_MAX = 2_000_000;
/** Fields that are read per step: a single item may have all fields of a request. */
export const FIELDS_PER_STEP = 256;
/** Far above the nesting limit of values, and low enough for the stack. */
const LEVELS_MAX = 200;

export function openWire(bytes: Uint8Array): Wire {
  return { reader: new BinaryReader(bytes), parts: 0, fields: 0, bytes: 0, depth: 0 };
}

/** The wire type of texts, bytes and messages. */
export function delimited(number: number): Tag {
  return (number << 3) | WireType.LengthDelimited;
}

/** Counts a field. Throws payload_too_large: each field takes time, however few bytes it has. */
export function nextTag(wire: Wire): Tag {
  wire.fields += 1;
  if (wire.fields > FIELDS_MAX) throw tooManyParts(PARTS_MAX);
  const [number, wireType] = wire.reader.tag();
  return (number << 3) | wireType;
}

/** Skips a field that is unknown, or of the wrong type. */
export function skip(wire: Wire, tag: Tag): void {
  countPart(wire);
  wire.reader.skip(tag & 7, tag >>> 3);
}

/** Counts a part. Throws payload_too_large: each part takes memory, however few bytes it has. */
function countPart(wire: Wire): void {
  wire.parts += 1;
  if (wire.parts > PARTS_MAX) throw tooManyParts(PARTS_MAX);
}

/** Reads the length of a message and returns the position of its end. */
export function enter(wire: Wire): number {
  countPart(wire);
  const { reader } = wire;
  const bytes = reader.uint32();
  const end = reader.pos + bytes;
  if (end > reader.len) throw new RangeError('a message ends behind the request');
  return end;
}

/** Checks that a message was read exactly to its end: bytes beyond it would be read again as part of the next field. */
export function leave({ reader }: Wire, end: number): void {
  if (reader.pos > end) throw new RangeError('a field ends behind its message');
}

export function readText(wire: Wire): string {
  const text = wire.reader.string(true);
  return measured(text, wire);
}

export function readHex({ reader }: Wire): string {
  const bytes = reader.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

const [KEY, VALUE] = [delimited(1), delimited(2)];

/** Reads the next attribute. Of equal keys the last wins. `count` is the number of attributes, this one included. */
export function readAttributeInto(attributes: Map<string, LosslessJson>, wire: Wire, count: number): void {
  checkWidth(count);
  const [key, value] = readEntry(wire, 1);
  setAttribute(attributes, key, value);
}

function readEntry(wire: Wire, level: number): Entry {
  const end = enter(wire);
  let key = '';
  let value: LosslessJson = null;
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === KEY) key = readText(wire);
    else if (tag === VALUE) value = readValue(wire, level);
    else skip(wire, tag);
  }
  leave(wire, end);
  return [key, value];
}

const STRING = delimited(1);
const BOOL = (2 << 3) | WireType.Varint;
const INT = (3 << 3) | WireType.Varint;
const DOUBLE = (4 << 3) | WireType.Bit64;
const ARRAY = delimited(5);
const KEY_VALUES = delimited(6);
const BYTES = delimited(7);
const ITEM = delimited(1);

/** Reads an AnyValue: one of its fields is set; of several the last wins. The values of attributes are on level 1. */
export function readValue(wire: Wire, level: number): LosslessJson {
  if (level > LEVELS_MAX) throw new RangeError('values nest too deep');
  const { reader } = wire;
  const end = enter(wire);
  let value: LosslessJson = null;
  while (reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === STRING) value = readText(wire);
    else if (tag === INT) value = integerOf(BigInt(reader.int64()));
    else if (tag === BOOL) value = reader.bool();
    else if (tag === DOUBLE) value = doubleOf(reader.double());
    else if (tag === ARRAY) value = readItems(wire, level);
    else if (tag === KEY_VALUES) value = readEntries(wire, level);
    else if (tag === BYTES) value = measured(Buffer.from(reader.bytes()).toString('base64'), wire);
    else skip(wire, tag);
  }
  leave(wire, end);
  return value;
}

function readItems(wire: Wire, level: number): LosslessJson {
  wire.depth = Math.max(wire.depth, level);
  const end = enter(wire);
  const items: LosslessJson[] = [];
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === ITEM) items.push(readValue(wire, level + 1));
    else skip(wire, tag);
  }
  leave(wire, end);
  return items;
}

function readEntries(wire: Wire, level: number): LosslessJson {
  wire.depth = Math.max(wire.depth, level);
  const end = enter(wire);
  const entries: Entry[] = [];
  while (wire.reader.pos < end) {
    const tag = nextTag(wire);
    if (tag === ITEM) entries.push(readEntry(wire, level + 1));
    else skip(wire, tag);
  }
  leave(wire, end);
  return objectOf(entries);
}

/** The most UTF-8 bytes per UTF-16 unit. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

function measured(text: string, wire: Wire): string {
  const bytes = text.length * UTF8_BYTES_PER_UNIT_MAX;
  if (bytes > wire.bytes) wire.bytes = bytes;
  return text;
}

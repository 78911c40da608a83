/** Attributes and their values in the protobuf encoding. The field numbers are OpenTelemetry's. */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { LosslessJson } from '../domain/lossless-json.ts';
import { PARTS_MAX, tooManyParts } from '../domain/message-parts.ts';
import { checkWidth, doubleOf, type Entry, integerOf, objectOf, setAttribute } from '../domain/otlp/attributes.ts';

/** Where the reading of a request is, and bounds on what was read so far. */
export type Wire = {
  readonly reader: BinaryReader;
  parts: number;
  fields: number;
  /** No text is longer. */
  bytes: number;
  /** How deep values nest. */
  depth: number;
};

/** Wire type and number of a field in one number, as they stand before it. */
export type Tag = number;

/** Of one request: an export of 8,000 spans of 20 attributes has 740,000. */
const FIELDS_MAX = 1_000_000;
/** Far more than values may nest, and few enough for the stack. */
const LEVELS_MAX = 200;

export function openWire(bytes: Uint8Array): Wire {
  return { reader: new BinaryReader(bytes), parts: 0, fields: 0, bytes: 0, depth: 0 };
}

/** Of texts, bytes and messages. */
export function delimited(number: number): Tag {
  return (number << 3) | WireType.LengthDelimited;
}

/** Throws payload_too_large: to read a field takes time, however few bytes it had. */
export function nextTag(wire: Wire): Tag {
  wire.fields += 1;
  if (wire.fields > FIELDS_MAX) throw tooManyParts();
  const [number, wireType] = wire.reader.tag();
  return (number << 3) | wireType;
}

/** A field that nobody asked for, or that is not of its type. */
export function skip(wire: Wire, tag: Tag): void {
  countPart(wire);
  wire.reader.skip(tag & 7, tag >>> 3);
}

/** Throws payload_too_large: each part takes memory, however few bytes it had. */
export function countPart(wire: Wire): void {
  wire.parts += 1;
  if (wire.parts > PARTS_MAX) throw tooManyParts();
}

/** Where the message ends that begins here. Its content is next. */
export function enter(wire: Wire): number {
  countPart(wire);
  const { reader } = wire;
  const bytes = reader.uint32();
  const end = reader.pos + bytes;
  if (end > reader.len) throw new RangeError('a message ends behind the request');
  return end;
}

/** Where a message was read to. What reaches beyond its end would be read again with what follows it. */
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

/** Reads the attribute that begins here. Of equal keys the last wins. `count`: how many there are with it. */
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

/** An AnyValue: one of its fields is set; where several are, the last. */
function readValue(wire: Wire, level: number): LosslessJson {
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

/** No character takes more bytes in UTF-8 for each unit that JavaScript counts. */
const UTF8_BYTES_PER_UNIT_MAX = 3;

function measured(text: string, wire: Wire): string {
  const bytes = text.length * UTF8_BYTES_PER_UNIT_MAX;
  if (bytes > wire.bytes) wire.bytes = bytes;
  return text;
}

/**
 * Walks an encoded export request of any signal: its items stand in groups of a scope, and those in groups of a resource. The
 * items are read directly, without decoding the request to generated messages, which would be most of the work. The
 * field numbers are OpenTelemetry's.
 */

import { Fault } from '../../domain/fault.ts';
import { undecodable } from '../../domain/message-parts.ts';
import type { Steps } from '../../domain/steps.ts';
import { checkCount } from '../../domain/traces/collector/collector.ts';
import { isUnreadable, type Sent } from '../../domain/traces/collector/collector-draft.ts';
import { stepsUnlessTooWide, unlessTooWide } from '../../domain/traces/otlp/attributes.ts';
import type { Attributes, OtlpScope } from '../../domain/traces/otlp/span.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import {
  delimited,
  enter,
  leave,
  nextTag,
  openWire,
  readAttributeInto,
  readText,
  skip,
  type Wire,
} from './otlp-wire-values.ts';

/** The positions of the first and behind the last byte of a message. */
export type Range = { readonly start: number; readonly end: number };

/** What an item shares with the others of its groups. */
export type Around = { readonly scope: OtlpScope; readonly resource: Attributes };

type Reading<Item> = {
  /** What refusals call the items. */
  readonly name: string;
  readonly itemsMax: number;
  readonly read: (wire: Wire, range: Range, around: Around) => Steps<Item>;
};

type WireItems<Item> = {
  readonly items: readonly Sent<Item>[];
  /** No text of the request is longer. */
  readonly bytes: number;
  /** How deep the values of attributes nest. */
  readonly depth: number;
};

/** Throws malformed_request, and payload_too_large for too many items or parts. */
export function* readWireItems<Item>(
  bytes: Uint8Array,
  { name, itemsMax, read }: Reading<Item>,
): Steps<WireItems<Item>> {
  const wire = openWire(bytes);
  const items: Sent<Item>[] = [];
  try {
    for (const part of findMessages(wire, { start: 0, end: bytes.length }, RESOURCE_ITEMS)) {
      const resource = unlessTooWide(() => readResource(wire, part));
      yield;
      for (const group of findMessages(wire, part, SCOPE_ITEMS)) {
        const scope = readScope(wire, group);
        yield;
        for (const range of findMessages(wire, group, ITEM)) {
          checkCount(items.length + 1, name, itemsMax);
          items.push(
            isUnreadable(resource) ? resource : yield* stepsUnlessTooWide(read(wire, range, { scope, resource })),
          );
          yield;
        }
      }
    }
  } catch (error) {
    throw error instanceof Fault ? error : undecodable(error);
  }
  return { items, bytes: wire.bytes, depth: wire.depth };
}

const RESOURCE_ITEMS = delimited(1);
const RESOURCE = delimited(1);
const RESOURCE_ATTRIBUTE = delimited(1);
const SCOPE_ITEMS = delimited(2);
const SCOPE = delimited(1);
const [SCOPE_NAME, SCOPE_VERSION] = [delimited(1), delimited(2)];
const ITEM = delimited(2);

/**
 * Yields the positions of the messages in a repeated field, in any order of fields. The consumer may move the reader
 * between them.
 */
function* findMessages(wire: Wire, { start, end }: Range, wanted: number): Generator<Range> {
  const { reader } = wire;
  for (let at = start; at < end; ) {
    reader.pos = at;
    const tag = nextTag(wire);
    if (tag === wanted) {
      at = enter(wire);
      if (at <= end) yield { start: reader.pos, end: at };
    } else {
      skip(wire, tag);
      at = reader.pos;
    }
    if (at > end) throw new RangeError('a field ends behind its message');
  }
}

/** A singular message field that occurs twice is merged. */
function readResource(wire: Wire, part: Range): Attributes {
  const attributes = new Map<string, LosslessJson>();
  let count = 0;
  for (const { start, end } of findMessages(wire, part, RESOURCE)) {
    wire.reader.pos = start;
    while (wire.reader.pos < end) {
      const tag = nextTag(wire);
      if (tag === RESOURCE_ATTRIBUTE) readAttributeInto(attributes, wire, ++count);
      else skip(wire, tag);
    }
    leave(wire, end);
  }
  return attributes;
}

function readScope(wire: Wire, group: Range): OtlpScope {
  let [name, version] = ['', ''];
  for (const { start, end } of findMessages(wire, group, SCOPE)) {
    wire.reader.pos = start;
    while (wire.reader.pos < end) {
      const tag = nextTag(wire);
      if (tag === SCOPE_NAME) name = readText(wire);
      else if (tag === SCOPE_VERSION) version = readText(wire);
      else skip(wire, tag);
    }
    leave(wire, end);
  }
  return { name, version };
}

/** Reads attributes of both encodings, within the limits of free JSON objects. */

import { MEMBERS_MAX } from '../../../json/json-scan.ts';
import type { LosslessJson, LosslessObject } from '../../../json/lossless-json.ts';
import { TOO_WIDE_REASON } from '../../../json/wide-json.ts';
import type { Steps } from '../../steps.ts';
import { type Unreadable, unreadable } from '../collector/collector-draft.ts';
import type { Attributes } from './span.ts';

export type Entry = readonly [key: string, value: LosslessJson];

/** An object has more members than allowed. */
class TooWide extends Error {}

const NONE: Attributes = new Map();
/** Attributes of the langwatch package for its own server. */
const DROPPED_PREFIX = 'langwatch.reserved.';

/** The value read; Unreadable when an object is too wide. */
export function unlessTooWide<T>(read: () => T): T | Unreadable {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooWide) return unreadable('', TOO_WIDE_REASON);
    throw error;
  }
}

/** The same for a read in steps. */
export function* stepsUnlessTooWide<T>(read: Steps<T>): Steps<T | Unreadable> {
  try {
    return yield* read;
  } catch (error) {
    if (error instanceof TooWide) return unreadable('', TOO_WIDE_REASON);
    throw error;
  }
}

/** The last of equal keys wins; items without an entry are skipped. Call inside unlessTooWide. */
export function attributesOf<T>(items: readonly T[], read: (item: T) => Entry | undefined): Attributes {
  if (items.length === 0) return NONE;
  checkWidth(items.length);
  const attributes = new Map<string, LosslessJson>();
  for (const item of items) {
    const entry = read(item);
    if (entry !== undefined) setAttribute(attributes, ...entry);
  }
  return attributes;
}

export function setAttribute(attributes: Map<string, LosslessJson>, key: string, value: LosslessJson): void {
  if (!key.startsWith(DROPPED_PREFIX)) attributes.set(key, value);
}

/** Call inside unlessTooWide. */
export function checkWidth(members: number): void {
  if (members > MEMBERS_MAX) throw new TooWide();
}

/** A list of keys and values as an object. Call inside unlessTooWide. */
export function objectOf(entries: readonly Entry[]): LosslessObject {
  checkWidth(entries.length);
  return Object.fromEntries(entries);
}

/** A 64-bit integer: as text beyond the safe integers. */
export function integerOf(value: bigint): LosslessJson {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** JSON cannot hold NaN and infinities. */
export function doubleOf(value: number): LosslessJson {
  return Number.isFinite(value) ? value : String(value);
}

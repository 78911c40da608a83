/** Attributes as both encodings read them, within the limits that objects of free JSON have. */

import { type Unreadable, unreadable } from '../collector-draft.ts';
import { MEMBERS_MAX } from '../json-scan.ts';
import type { LosslessJson, LosslessObject } from '../lossless-json.ts';
import type { Steps } from '../steps.ts';
import { TOO_WIDE_REASON } from '../wide-json.ts';
import type { Attributes } from './span.ts';

export type Entry = readonly [key: string, value: LosslessJson];

/** Something has more members than an object may have. */
class TooWide extends Error {}

const NONE: Attributes = new Map();
/** Attributes of the langwatch package for its own server. */
const DROPPED_PREFIX = 'langwatch.reserved.';

/** What is read, or that it holds an object of too many members. */
export function unlessTooWide<T>(read: () => T): T | Unreadable {
  try {
    return read();
  } catch (error) {
    if (error instanceof TooWide) return unreadable('', TOO_WIDE_REASON);
    throw error;
  }
}

/** The same of what is read in steps. */
export function* stepsUnlessTooWide<T>(read: Steps<T>): Steps<T | Unreadable> {
  try {
    return yield* read;
  } catch (error) {
    if (error instanceof TooWide) return unreadable('', TOO_WIDE_REASON);
    throw error;
  }
}

/** Of equal keys the last wins. Only inside of unlessTooWide. */
export function attributesOf<T>(items: readonly T[], read: (item: T) => Entry): Attributes {
  if (items.length === 0) return NONE;
  checkWidth(items.length);
  const attributes = new Map<string, LosslessJson>();
  for (const item of items) setAttribute(attributes, ...read(item));
  return attributes;
}

export function setAttribute(attributes: Map<string, LosslessJson>, key: string, value: LosslessJson): void {
  if (!key.startsWith(DROPPED_PREFIX)) attributes.set(key, value);
}

/** Only inside of unlessTooWide. */
export function checkWidth(members: number): void {
  if (members > MEMBERS_MAX) throw new TooWide();
}

/** A list of keys and values as an object. Only inside of unlessTooWide. */
export function objectOf(entries: readonly Entry[]): LosslessObject {
  checkWidth(entries.length);
  return Object.fromEntries(entries);
}

/** An integer of 64 bits: as text beyond what a double can hold. */
export function integerOf(value: bigint): LosslessJson {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** JSON has no word for what is no number. */
export function doubleOf(value: number): LosslessJson {
  return Number.isFinite(value) ? value : String(value);
}

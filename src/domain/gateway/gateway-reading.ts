/**
 * Reads the fields of one item that a gateway reports. Numbers keep the text they were sent as. Each reader records
 * the first problem of the item; its result is then ignored, because the item is refused.
 */

import { isObject } from '../../json/free-json.ts';
import type { LosslessJson, LosslessObject } from '../../json/lossless-json.ts';
import { wholeNumberOf } from '../../json/whole-number.ts';
import { TOO_WIDE, TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';

export type ItemReading = {
  readonly item: LosslessObject;
  /** Path and reason; null while none. */
  problem: string | null;
};

type TextBounds = { readonly min: 0 | 1; readonly max: number };
export type IntegerBounds = { readonly min: number; readonly max: number };

const EARLIEST_MS = 1_577_836_800_000;
const LATEST_MS = 4_102_444_799_999;
const MS_PER_SECOND = 1000;

/** 2020 to 2100. */
const INSTANTS: IntegerBounds = { min: EARLIEST_MS, max: LATEST_MS };
/** Until 2100. */
export const PAST_INSTANTS: IntegerBounds = { min: 0, max: LATEST_MS };

export function refuse(reading: ItemReading, path: string, reason: string): null {
  reading.problem ??= `${path}: ${reason}`;
  return null;
}

/** Reads a part of an item; its problems are the item's. */
export function within(reading: ItemReading, part: LosslessObject): ItemReading {
  return {
    item: part,
    get problem() {
      return reading.problem;
    },
    set problem(problem) {
      reading.problem = problem;
    },
  };
}

export function readText(reading: ItemReading, path: string, bounds: TextBounds): string {
  const value = fieldOf(reading, path);
  return value === undefined ? (refuse(reading, path, 'is required') ?? '') : toText(value, { reading, path, bounds });
}

/** Empty when missing. */
export function readOptionalText(reading: ItemReading, path: string, max: number): string {
  const value = fieldOf(reading, path);
  return value === undefined ? '' : toText(value, { reading, path, bounds: { min: 0, max } });
}

/** Null when missing. */
export function readNullableText(reading: ItemReading, path: string, bounds: TextBounds): string | null {
  const value = fieldOf(reading, path) ?? null;
  return value === null ? null : toText(value, { reading, path, bounds });
}

export function readChoice<W extends string>(reading: ItemReading, path: string, words: readonly W[]): W | null {
  const value = fieldOf(reading, path);
  if (value === undefined) return refuse(reading, path, 'is required');
  return words.find((word) => word === value) ?? refuse(reading, path, `must be one of: ${words.join(', ')}`);
}

export function readInteger(reading: ItemReading, path: string, bounds: IntegerBounds): number {
  const value = fieldOf(reading, path);
  return value === undefined
    ? (refuse(reading, path, 'is required') ?? 0)
    : toInteger(value, { reading, path, bounds });
}

/** An instant in epoch milliseconds. Seconds, a frequent mistake, get their own reason. */
export function readInstant(reading: ItemReading, path: string): number {
  const number = wholeNumberOf(fieldOf(reading, path) ?? null) ?? Number.NaN;
  const instantMs = number * MS_PER_SECOND;
  if (instantMs >= EARLIEST_MS && instantMs <= LATEST_MS) {
    refuse(reading, path, `must be milliseconds since the epoch; ${number} looks like seconds, multiply by 1000`);
    return 0;
  }
  return readInteger(reading, path, INSTANTS);
}

/** 0 when missing. */
export function readCount(reading: ItemReading, path: string, bounds: IntegerBounds): number {
  const value = fieldOf(reading, path);
  return value === undefined ? 0 : toInteger(value, { reading, path, bounds });
}

/** Null when missing. */
export function readNullableInteger(reading: ItemReading, path: string, bounds: IntegerBounds): number | null {
  const value = fieldOf(reading, path) ?? null;
  return value === null ? null : toInteger(value, { reading, path, bounds });
}

export function readObject(reading: ItemReading, path: string): LosslessObject | undefined {
  const value = fieldOf(reading, path);
  if (value === undefined || isObject(value)) return value;
  refuse(reading, path, 'must be an object');
  return undefined;
}

/** The member at the end of a path; undefined when missing. */
export function fieldOf(reading: ItemReading, path: string): LosslessJson | undefined {
  const value = reading.item[path.slice(path.lastIndexOf('.') + 1)];
  if (value === TOO_WIDE) refuse(reading, path, TOO_WIDE_REASON);
  return value;
}

type FieldContext<B> = { readonly reading: ItemReading; readonly path: string; readonly bounds: B };

function toText(value: LosslessJson, { reading, path, bounds: { min, max } }: FieldContext<TextBounds>): string {
  if (typeof value !== 'string' || value.length < min || hasMoreCharactersThan(value, max)) {
    refuse(reading, path, `must be a string of ${min} to ${max} characters`);
    return '';
  }
  // PostgreSQL cannot store it.
  if (value.includes('\0')) refuse(reading, path, 'must not hold U+0000');
  return value;
}

function toInteger(value: LosslessJson, { reading, path, bounds: { min, max } }: FieldContext<IntegerBounds>): number {
  const number = wholeNumberOf(value);
  if (number !== null && number >= min && number <= max) return number;
  refuse(reading, path, `must be a whole number from ${min} to ${max}`);
  return 0;
}

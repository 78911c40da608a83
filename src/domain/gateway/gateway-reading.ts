/** Validates the fields of one draft that a gateway reports. */

import { TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { secondsReason } from '../reasons.ts';
import { hasMoreCharactersThan } from '../text-limits.ts';
import { INVALID, type Sent, WIDE } from './gateway-draft.ts';

export type Bounds = { readonly min: number; readonly max: number };

/**
 * The readers of one item. Each returns the value of a field and notes the first problem of the item; its result is
 * then ignored, because the item is refused.
 */
export type ItemReading = ReturnType<typeof createItemReading>;

const EARLIEST_MS = 1_577_836_800_000;
const LATEST_MS = 4_102_444_799_999;
const MS_PER_SECOND = 1000;

/** 2020 to 2100. */
const INSTANTS: Bounds = { min: EARLIEST_MS, max: LATEST_MS };
/** The same in seconds. */
const SECONDS: Bounds = { min: EARLIEST_MS / MS_PER_SECOND, max: LATEST_MS / MS_PER_SECOND };
/** Until 2100. */
export const PAST_INSTANTS: Bounds = { min: 0, max: LATEST_MS };

export function createItemReading() {
  let problem: string | null = null;

  function refuse(path: string, reason: string): null {
    problem ??= `${path}: ${reason}`;
    return null;
  }

  /** A value of the right type; null where the field has none. */
  function required<T>(sent: Sent<T>, path: string, reason: string): T | null {
    if (sent === undefined) return refuse(path, 'is required');
    if (sent === WIDE) return refuse(path, TOO_WIDE_REASON);
    return sent === null || sent === INVALID ? refuse(path, reason) : sent;
  }

  function text(sent: Sent<string>, path: string, { min, max }: Bounds): string {
    const reason = `must be a string of ${min} to ${max} characters`;
    const value = required(sent, path, reason) ?? '';
    if (value.length < min || hasMoreCharactersThan(value, max)) return refuse(path, reason) ?? '';
    // PostgreSQL cannot store it.
    if (value.includes('\0')) refuse(path, 'must not hold U+0000');
    return value;
  }

  function integer(sent: Sent<number>, path: string, bounds: Bounds): number {
    const reason = `must be a whole number from ${bounds.min} to ${bounds.max}`;
    const value = required(sent, path, reason) ?? Number.NaN;
    return isWholeWithin(value, bounds) ? value : (refuse(path, reason) ?? 0);
  }

  return {
    /** Path and reason; null while none. */
    problem: () => problem,
    refuse,
    required,
    text,
    integer,

    /** Null when missing. */
    nullableText: (sent: Sent<string>, path: string, bounds: Bounds): string | null =>
      (sent ?? null) === null ? null : text(sent, path, bounds),

    /** Null when missing. */
    nullableInteger: (sent: Sent<number>, path: string, bounds: Bounds): number | null =>
      (sent ?? null) === null ? null : integer(sent, path, bounds),

    choice<W extends string>(sent: Sent<string>, path: string, words: readonly W[]): W | null {
      const reason = `must be one of: ${words.join(', ')}`;
      const value = required(sent, path, reason);
      return words.find((word) => word === value) ?? refuse(path, reason);
    },

    /** An instant in epoch milliseconds. Seconds, a frequent mistake, get their own reason. */
    instant(sent: Sent<number>, path: string): number {
      if (isWholeWithin(sent, SECONDS)) {
        refuse(path, secondsReason(sent));
      }
      return integer(sent, path, INSTANTS);
    },
  };
}

function isWholeWithin(value: unknown, { min, max }: Bounds): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

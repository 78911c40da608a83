/** Instants in requests: RFC 3339, with optional time and offset. */

import { INSTANT_MAX_MS, INSTANT_MIN_MS } from '../../rpc/epoch-ms.ts';

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))?)?$/;

/**
 * Epoch milliseconds of an ISO 8601 text; null when it is none, or names no instant of the calendar. Without an
 * offset UTC is meant, and a bare date is its midnight.
 */
export function parseInstant(text: string): number | null {
  const match = FORM.exec(text);
  if (!match) return null;
  const number = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [offsetHour, offsetMinute] = [number(10), number(11)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const date = new Date(0);
  // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000;
  const instantMs = date.getTime() - (match[9] === '-' ? -offsetMs : offsetMs);
  return instantMs >= INSTANT_MIN_MS && instantMs <= INSTANT_MAX_MS ? instantMs : null;
}

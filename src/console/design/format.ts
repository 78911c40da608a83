/** Formats numbers, amounts and instants. */

import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** The console is in English; dates and time zone are the browser's. */
const LOCALE = 'en';
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const dollars = (digits: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD', ...digits });
const cents = dollars({});
const hundredthsOfCents = dollars({ minimumFractionDigits: 4 });
const twoDigits = dollars({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 });
const instant = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const month = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric' });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'always', style: 'narrow' });

export const NONE = '–';

export function formatCount(count: bigint | number | null | undefined): string {
  return count == null ? NONE : whole.format(count);
}

/** US dollars; small amounts keep more digits. */
export function formatCost(usd: number | null | undefined): string {
  if (usd == null) return NONE;
  if (usd === 0) return '$0';
  if (usd > 0 && usd < 0.000_001) return '<$0.000001';
  const format = Math.abs(usd) >= 1 ? cents : Math.abs(usd) >= 0.000_1 ? hundredthsOfCents : twoDigits;
  // A string is rounded by its decimal digits; the binary number may be slightly less than what it stands for.
  return format.format(`${usd}`);
}

export function formatDuration(ms: bigint | number | null | undefined): string {
  if (ms == null) return NONE;
  const value = Number(ms);
  if (value < 1_000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${(value / 1_000).toFixed(2)} s`;
  if (value < 3_600_000) return `${Math.floor(value / 60_000)} m ${Math.round((value % 60_000) / 1_000)} s`;
  return `${Math.floor(value / 3_600_000)} h ${Math.round((value % 3_600_000) / 60_000)} m`;
}

export function formatShare(share: number | null | undefined): string {
  return share == null ? NONE : `${(100 * share).toFixed(1)} %`;
}

export function formatScore(score: number | null | undefined): string {
  return score == null ? NONE : String(Number(score.toPrecision(4)));
}

export function formatInstant(at: Timestamp | null | undefined): string {
  return at ? instant.format(timestampMs(at)) : NONE;
}

/** Omits the day if it is today. */
export function formatShort(at: Timestamp | null | undefined): string {
  if (!at) return NONE;
  const date = new Date(timestampMs(at));
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** A label below a chart, as exact as the distance to the next one. */
export function formatTick(second: number, stepSeconds: number): string {
  const date = new Date(1_000 * second);
  if (stepSeconds > 15 * 86_400) return month.format(date);
  return (stepSeconds < 86_400 && date.getHours() + date.getMinutes() > 0 ? minute : day).format(date);
}

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

export function formatAge(at: Timestamp | null | undefined, nowMs = Date.now()): string {
  if (!at) return NONE;
  const passedMs = timestampMs(at) - nowMs;
  const [unit, ms] = STEPS.find(([, each]) => Math.abs(passedMs) >= each) ?? ['second', 1_000];
  return relative.format(Math.trunc(passedMs / ms), unit);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_048_576) return `${(bytes / 1_024).toFixed(1)} KB`;
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** The lines of a text that are not blank. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What a field for a local date and time holds of an instant. */
export function toLocalInput(instant: string | number): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Invisible characters, which can reorder or hide visible text or carry a hidden message. */
const HIDDEN = /[[\p{Cc}--[\t\n\r]]\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/v;
/** Matches whole emoji first, because some contain such characters. */
const EMOJI_OR_HIDDEN = new RegExp(`(\\p{RGI_Emoji})|${HIDDEN.source}`, 'gv');

/** Replaces invisible characters by their code points, such as `[U+202E]`. */
export function nameControls(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(EMOJI_OR_HIDDEN, (found, emoji: string | undefined) => {
    return emoji ?? `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

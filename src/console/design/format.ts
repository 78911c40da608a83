/** Formats numbers, amounts and instants. */

import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** Words are English; numbers, dates and the time zone are those of the browser. */
const LOCALE = undefined;
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const dollars = (digits: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...digits });
const noCents = dollars({ minimumFractionDigits: 0, maximumFractionDigits: 0 });
const cents = dollars({});
const hundredthsOfCents = dollars({ minimumFractionDigits: 4 });
const twoDigits = dollars({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 });
const oneDecimal = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const twoDecimals = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const fourDigits = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 4 });
const percent = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const upToPercent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 4 });
const signs = { signDisplay: 'exceptZero' } as const;
const points = new Intl.NumberFormat(LOCALE, { ...signs, minimumFractionDigits: 1, maximumFractionDigits: 1 });
const instant = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });
const milliseconds = new Intl.DateTimeFormat(LOCALE, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const minute = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' });
const day = new Intl.DateTimeFormat(LOCALE, { month: 'short', day: 'numeric' });
const month = new Intl.DateTimeFormat(LOCALE, { month: 'short', year: 'numeric' });
const utcMonth = new Intl.DateTimeFormat(LOCALE, { month: 'short', year: 'numeric', timeZone: 'UTC' });
const utcShortDay = new Intl.DateTimeFormat(LOCALE, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const wholeDay = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const utcDay = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

export const NONE = '–';

export function formatCount(count: bigint | number | null | undefined): string {
  return count == null ? NONE : whole.format(count);
}

/** US dollars; small amounts keep more digits. */
export function formatCost(usd: number | null | undefined): string {
  if (usd == null) return NONE;
  if (usd === 0) return noCents.format(0);
  if (usd > 0 && usd < 0.000_001) return `<${dollars({ minimumFractionDigits: 6 }).format(0.000_001)}`;
  const format = Math.abs(usd) >= 1 ? cents : Math.abs(usd) >= 0.000_1 ? hundredthsOfCents : twoDigits;
  // A string is rounded by its decimal digits; the binary number may be slightly less than what it stands for.
  return format.format(`${usd}`);
}

/** Rounds before it splits, so that no part is as long as the next unit. */
export function formatDuration(ms: bigint | number | null | undefined): string {
  if (ms == null) return NONE;
  const value = Number(ms);
  if (Math.round(value) < 1_000) return `${whole.format(value)} ms`;
  if (Math.round(value / 10) < 6_000) return `${twoDecimals.format(value / 1_000)} s`;
  const seconds = Math.round(value / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.round(value / 60_000);
  return `${whole.format(Math.floor(minutes / 60))} h ${minutes % 60} m`;
}

export function formatShare(share: number | null | undefined): string {
  return share == null ? NONE : percent.format(share);
}

/** A share that somebody set, without digits that nobody typed. */
export function formatSetShare(share: number): string {
  return upToPercent.format(share);
}

/** The distance of two shares, with its sign. */
export function formatPoints(difference: number): string {
  // The same minus as that of other differences.
  return `${points.format(100 * difference).replace('-', '−')} pp`;
}

export function formatScore(score: number | null | undefined): string {
  return score == null ? NONE : fourDigits.format(score);
}

export function formatInstant(at: Timestamp | null | undefined): string {
  return at ? instant.format(timestampMs(at)) : NONE;
}

/** With milliseconds, for records that follow each other fast. */
export function formatExactInstant(written: string): string {
  return milliseconds.format(new Date(written));
}

/** A whole day, in UTC where it was cut there. */
export function formatDay(second: number, isUtc: boolean): string {
  return isUtc ? `${utcDay.format(1_000 * second)}, UTC` : wholeDay.format(1_000 * second);
}

/** Omits the day if it is today. */
export function formatShort(at: Timestamp | null | undefined): string {
  if (!at) return NONE;
  const date = new Date(timestampMs(at));
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** A label below a chart, as exact as the distance to the next one. */
export function formatTick(second: number, stepSeconds: number, isUtc = false): string {
  const date = new Date(1_000 * second);
  if (stepSeconds > 15 * 86_400) return (isUtc ? utcMonth : month).format(date);
  if (isUtc) return utcShortDay.format(date);
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
  const kilobytes = bytes / 1_024;
  return Math.round(10 * kilobytes) < 10_240
    ? `${oneDecimal.format(kilobytes)} KB`
    : `${oneDecimal.format(kilobytes / 1_024)} MB`;
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

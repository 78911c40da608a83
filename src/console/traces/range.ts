/** The range of a list, as the address holds it and as instants. */

import { type ChangeOf, type RawSearch, type Readers, readerOf, type SearchOf, text } from '../layout/search.ts';

export type RangeSearch = {
  readonly range?: string;
  /** RFC 3339, for the range `custom`. */
  readonly from?: string;
  readonly to?: string;
};

export type Range = ChangeOf<RangeSearch>;

/** Milliseconds since the epoch. An open range ends when it is read. */
export type Bounds = { readonly fromMs: number; readonly toMs: number; readonly isOpen: boolean };

const DAY_MS = 86_400_000;

/** The preset ranges. */
export const RANGES: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'Last hour', ms: DAY_MS / 24 },
  '24h': { label: 'Last 24 hours', ms: DAY_MS },
  '7d': { label: 'Last 7 days', ms: 7 * DAY_MS },
  '30d': { label: 'Last 30 days', ms: 30 * DAY_MS },
  '90d': { label: 'Last 90 days', ms: 90 * DAY_MS },
  '1y': { label: 'Last year', ms: 365 * DAY_MS },
};
export const RANGE_DEFAULT = '30d';
export const RANGE_CUSTOM = 'custom';

/** Plausible years; a half-typed year gives others. */
const FIRST = Date.UTC(2000, 0);
const LAST = Date.UTC(2100, 0);

export function isInstant(written: string): boolean {
  const ms = Date.parse(written);
  return ms >= FIRST && ms < LAST;
}

const instant = (value: unknown) => (isInstant(text(value) ?? '') ? text(value) : undefined);
const readCustom = readerOf({ range: text, from: instant, to: instant });

export function readRange(raw: RawSearch): RangeSearch {
  const { range } = raw;
  if (range === RANGE_CUSTOM) {
    const custom = readCustom(raw);
    // Without a start nobody could tell what the numbers are about.
    return custom.from === undefined ? {} : custom;
  }
  return typeof range === 'string' && Object.hasOwn(RANGES, range) ? { range } : {};
}

/** Reads a range, and the other parameters of a page. */
export function rangeReaderOf<R extends Readers>(readers: R) {
  const read = readerOf(readers);
  return (raw: RawSearch): RangeSearch & SearchOf<R> => ({ ...readRange(raw), ...read(raw) });
}

/** Leaves out undefined members. */
export function writeRange({ range, from, to }: Range): RangeSearch {
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
}

/** The same with a range where it has none: the page that it leads to could begin with the one that the tab keeps. */
export function withNamedRange<Search extends Range>(search: Search): Search & { readonly range: string } {
  return { ...search, range: search.range ?? RANGE_DEFAULT };
}

export function readBounds({ range = RANGE_DEFAULT, from, to }: Range): Bounds {
  const nowMs = Date.now();
  const preset = RANGES[range];
  if (preset) return { fromMs: nowMs - preset.ms, toMs: nowMs, isOpen: true };
  const fromMs = from ? Date.parse(from) : nowMs - (RANGES[RANGE_DEFAULT]?.ms ?? DAY_MS);
  return { fromMs, toMs: Math.max(fromMs, to ? Date.parse(to) : nowMs), isOpen: !to };
}

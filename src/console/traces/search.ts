/** The search parameters of the trace list. */

export type TraceListSearch = {
  /** The query line. */
  readonly q?: string;
  readonly range?: string;
  /** RFC 3339, for the range `custom`. */
  readonly from?: string;
  readonly to?: string;
  readonly sort?: SortName;
  readonly dir?: 'asc';
  /** Inverts the filters. */
  readonly not?: true;
  readonly live?: true;
  /** Columns, separated by commas. */
  readonly columns?: string;
};

export type SortName = 'cost' | 'duration' | 'first-token';

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

const SORTS: ReadonlySet<unknown> = new Set<SortName>(['cost', 'duration', 'first-token']);

/** Plausible years; a half-typed year gives others. */
const FIRST = Date.UTC(2000, 0);
const LAST = Date.UTC(2100, 0);

export function isInstant(written: string): boolean {
  const ms = Date.parse(written);
  return ms >= FIRST && ms < LAST;
}

/** Drops invalid parameters, because the address may contain anything. */
export function readTraceListSearch(raw: Record<string, unknown>): TraceListSearch {
  const text = (name: string) =>
    typeof raw[name] === 'string' || typeof raw[name] === 'number' ? String(raw[name]) : '';
  const instant = (name: string) => (isInstant(text(name)) ? text(name) : '');
  const isCustom = raw.range === RANGE_CUSTOM;
  const known = isCustom || Object.hasOwn(RANGES, text('range'));
  return {
    ...(text('q') && { q: text('q') }),
    ...(known && raw.range !== RANGE_DEFAULT && { range: text('range') }),
    ...(isCustom && instant('from') && { from: instant('from') }),
    ...(isCustom && instant('to') && { to: instant('to') }),
    ...(SORTS.has(raw.sort) && { sort: raw.sort as SortName }),
    ...(raw.dir === 'asc' && { dir: 'asc' as const }),
    ...(raw.not === true && { not: true as const }),
    ...(raw.live === true && { live: true as const }),
    ...(text('columns') && { columns: text('columns') }),
  };
}

/** The instants of a range; `toMs` is null if it ends now. */
export function boundsOf(
  search: TraceListSearch,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number | null } {
  const preset = RANGES[search.range ?? RANGE_DEFAULT];
  if (preset) return { fromMs: nowMs - preset.ms, toMs: null };
  const fromMs = search.from ? Date.parse(search.from) : nowMs - DAY_MS;
  return { fromMs, toMs: search.to ? Date.parse(search.to) : null };
}

/** The parameters that select traces. */
export type FinderSearch = Pick<TraceListSearch, 'q' | 'range' | 'from' | 'to' | 'not'>;

export function readFinderSearch(raw: Record<string, unknown>): FinderSearch {
  const { q, range, from, to, not } = readTraceListSearch(raw);
  return { ...(q && { q }), ...(range && { range }), ...(from && { from }), ...(to && { to }), ...(not && { not }) };
}

/** Ranges of numbers as the query line has them: `>10s`, `2s..10s`, `<=$0.05`, `5k`. */

export type Measure = 'duration' | 'cost' | 'count' | 'score';
/** Both bounds are included; an infinite one excludes nothing. */
export type NumberRange = { readonly least: number; readonly greatest: number };

type Unit = { readonly factor: number; readonly shown: string };
type MeasureRules = {
  readonly units: Readonly<Record<string, Unit>>;
  readonly sign?: string;
  /** Whether values are whole numbers of the smallest unit. */
  readonly isWhole: boolean;
  readonly example: string;
};

const NO_UNIT: Unit = { factor: 1, shown: '' };

const MEASURES: Readonly<Record<Measure, MeasureRules>> = {
  duration: {
    units: {
      '': { factor: 1, shown: ' ms' },
      ms: { factor: 1, shown: ' ms' },
      s: { factor: 1_000, shown: ' s' },
      m: { factor: 60_000, shown: ' m' },
    },
    isWhole: true,
    example: '>10s, <=500ms or 2s..1m',
  },
  cost: { units: { '': NO_UNIT }, sign: '$', isWhole: false, example: '>0.05, <=$1 or 0.01..0.1' },
  count: { units: { '': NO_UNIT, k: { factor: 1_000, shown: 'k' } }, isWhole: true, example: '>500, <=5k or 1k..2k' },
  score: { units: { '': NO_UNIT }, isWhole: false, example: '>0.5, <=1 or 0.2..0.8' },
};

type Amount = { readonly digits: string; readonly unit: string };
type Operator = '>' | '>=' | '<' | '<=' | '=';
type Written =
  | { readonly operator: Operator; readonly amount: Amount }
  | { readonly from: Amount | null; readonly to: Amount | null };

/** Null where it is not a range, or one that no number is in. */
export function readNumberRange(written: string, measure: Measure): NumberRange | null {
  const read = readWritten(written, measure);
  if (read === null) return null;
  const range = 'operator' in read ? compared(read, measure) : between(read, measure);
  return range.least <= range.greatest ? range : null;
}

/** How a chip shows it: `> 10 s`. What is not a range stays as it was typed. */
export function showNumberRange(written: string, measure: Measure): string {
  const read = readWritten(written, measure);
  if (read === null) return written;
  if ('operator' in read) return `${SHOWN[read.operator]}${showAmount(read.amount, measure)}`;
  const { from, to } = read;
  if (from && to) return `${showAmount(from, measure)} – ${showAmount(to, measure)}`;
  return from ? `≥ ${showAmount(from, measure)}` : to ? `≤ ${showAmount(to, measure)}` : written;
}

export function exampleOf(measure: Measure): string {
  return MEASURES[measure].example;
}

/** The numbers that are in all of the ranges. */
export function intersected(ranges: readonly NumberRange[]): NumberRange {
  return {
    least: Math.max(...ranges.map(({ least }) => least)),
    greatest: Math.min(...ranges.map(({ greatest }) => greatest)),
  };
}

const SHOWN: Readonly<Record<Operator, string>> = { '>': '> ', '>=': '≥ ', '<': '< ', '<=': '≤ ', '=': '= ' };

function readWritten(written: string, measure: Measure): Written | null {
  const text = written.replace(/\s/g, '');
  const [before, after, ...more] = text.split('..');
  if (before === undefined || more.length > 0) return null;
  if (after === undefined) {
    const [, operator = '=', rest = ''] = /^(>=|<=|>|<|=)?(.*)$/.exec(before) ?? [];
    const amount = readAmount(rest, measure);
    return amount && { operator: operator as Operator, amount };
  }
  const to = readAmount(after, measure);
  const from = readAmount(before, measure);
  if ((from === null && before !== '') || (to === null && after !== '') || (from ?? to) === null) return null;
  // In `2..10s` both are seconds.
  return { from: from && to && from.unit === '' ? { ...from, unit: to.unit } : from, to };
}

function readAmount(text: string, measure: Measure): Amount | null {
  const { units, sign } = MEASURES[measure];
  const bare = sign !== undefined && text.startsWith(sign) ? text.slice(sign.length) : text;
  const [, digits, unit = ''] = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*)$/i.exec(bare) ?? [];
  if (digits === undefined || !Number.isFinite(Number(digits)) || !Object.hasOwn(units, unit.toLowerCase()))
    return null;
  return { digits, unit: unit.toLowerCase() };
}

function showAmount({ digits, unit }: Amount, measure: Measure): string {
  const { units, sign = '' } = MEASURES[measure];
  return `${sign}${digits}${units[unit]?.shown ?? ''}`;
}

function numberOf({ digits, unit }: Amount, measure: Measure): number {
  const value = Number(digits) * (MEASURES[measure].units[unit]?.factor ?? 1);
  // The product of decimals may be off by one bit: 1.001 s are 1,001 ms.
  return Number(value.toPrecision(15));
}

function between({ from, to }: Extract<Written, { from: unknown }>, measure: Measure): NumberRange {
  return {
    least: from ? numberOf(from, measure) : Number.NEGATIVE_INFINITY,
    greatest: to ? numberOf(to, measure) : Number.POSITIVE_INFINITY,
  };
}

function compared({ operator, amount }: Extract<Written, { operator: unknown }>, measure: Measure): NumberRange {
  const value = numberOf(amount, measure);
  const { isWhole } = MEASURES[measure];
  return {
    least: operator.startsWith('<')
      ? Number.NEGATIVE_INFINITY
      : operator === '>'
        ? isWhole
          ? Math.floor(value) + 1
          : nextAbove(value)
        : value,
    greatest: operator.startsWith('>')
      ? Number.POSITIVE_INFINITY
      : operator === '<'
        ? isWhole
          ? Math.ceil(value) - 1
          : -nextAbove(-value)
        : value,
  };
}

/** The api includes both bounds, so one that is excluded becomes the next number. */
function nextAbove(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  if (value === 0) return Number.MIN_VALUE;
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

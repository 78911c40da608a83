/** A measured number and its limit. */
export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The reference program's number of the same run; null without one. */
  readonly reference: number | null;
  /** value / reference. */
  readonly ratio: number | null;
  readonly bar: string;
  readonly pass: boolean;
};

export type Measured = { name: string; value: number; unit: string; reference: number | null };
export type Bar = { readonly of: 'value' | 'ratio'; readonly atLeast?: number; readonly atMost?: number };

/** Compares before rounding, so that 0.4996 does not pass as 0.5. */
export function judge(measured: Measured, bar: Bar): Figure {
  const ratio = measured.reference === null ? null : measured.value / measured.reference;
  const judged = bar.of === 'value' ? measured.value : (ratio ?? Number.NaN);
  const { atLeast, atMost } = bar;
  return {
    name: measured.name,
    value: round(measured.value),
    unit: measured.unit,
    reference: measured.reference === null ? null : round(measured.reference),
    ratio: ratio === null ? null : round(ratio),
    bar: `${bar.of} ${atLeast === undefined ? `<= ${atMost}` : `>= ${atLeast}`}`,
    pass: atLeast === undefined ? judged <= (atMost ?? Number.NaN) : judged >= atLeast,
  };
}

/** Keeps three decimals below 100, none above. */
export function round(value: number): number {
  return Number(value.toFixed(Math.abs(value) < 100 ? 3 : 0));
}

/** The figures as an aligned table. */
export function formatTable(figures: readonly Figure[]): string {
  const head = ['name', 'value', 'unit', 'reference', 'ratio', 'bar', 'pass'];
  const rows = figures.map((figure) => [
    figure.name,
    String(figure.value),
    figure.unit,
    String(figure.reference ?? '-'),
    String(figure.ratio ?? '-'),
    figure.bar,
    figure.pass ? 'yes' : 'NO',
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The table that `npm run clients` prints: what is read of each client, and where it differs from what is expected. */

import type { Row } from './row.ts';

export type Result = {
  readonly name: string;
  readonly version: string;
  readonly row: Row;
  readonly differences: readonly string[];
};

const FIELDS = [
  'vendor',
  'model',
  'input',
  'output',
  'toolCalls',
  'tokens',
  'cached',
  'reasoning',
  'cost',
  'firstTokens',
  'user',
  'thread',
  'metadata',
  'error',
  'types',
] as const satisfies readonly (keyof Row)[];

export function differencesOf(expected: Row, row: Row): readonly string[] {
  return FIELDS.filter((field) => row[field] !== expected[field]).map(
    (field) => `${field}: ${row[field]} instead of ${expected[field]}`,
  );
}

export function writeTable(results: readonly Result[]): string {
  const head = ['client', 'version', ...FIELDS];
  const rows = results.map(({ name, version, row, differences }) => {
    const cells = FIELDS.map((field) => {
      if (differences.some((difference) => difference.startsWith(`${field}: `))) return 'differs';
      return row[field] === null || row[field] === 0 ? '–' : 'ok';
    });
    return [name, version, ...cells];
  });
  const widths = head.map((title, index) =>
    Math.max(...[title, ...rows.map((row) => row[index] ?? '')].map((cell) => cell.length)),
  );
  const lines = [head, ...rows].map((cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const details = results.flatMap(({ name, differences }) => differences.map((difference) => `${name}: ${difference}`));
  return `${[...lines, '', ...details].join('\n').trimEnd()}\n`;
}

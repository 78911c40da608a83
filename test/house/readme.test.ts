import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../src/config.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the README lists every setting with its default', () => {
  const rows = SETTINGS.map(({ name, fallback, about }) => `| \`${name}\` | ${fallback} | ${about} |`);
  expect(rows.filter((row) => !README.includes(row))).toEqual([]);
});

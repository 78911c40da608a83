import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SETTINGS } from '../../src/config/config.ts';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('the README explains the warning of npm about an engine', () => {
  expect(README).toMatch(/`EBADENGINE` warnings are\nharmless: npm compares .* the Node that runs npm itself/);
});

it('the README lists every setting with its default', () => {
  const rows = SETTINGS.map(({ name, fallback, about }) => `| \`${name}\` | ${fallback} | ${about} |`);
  expect(rows.filter((row) => !README.includes(row))).toEqual([]);
});

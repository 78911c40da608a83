/** Entries of datasets that cost the server far more than their size, several at once. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';
import { callRest } from '../../support/surfaces.ts';

const TIMES = 20;
const AT_ONCE = 4;
const SERVED_MEANWHILE = 60;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

/** Each row is 201 bytes of the request, and would be an entry of half a megabyte. */
const NAMES = Array.from({ length: 200 }, (_, index) => `${'c'.repeat(2_480)}${index}`).join(',');
const WIDE_CSV = `${NAMES}\n${`${','.repeat(199)}\n`.repeat(2_600)}`;

it.each<readonly [id: string, what: string, body: object, status: number]>([
  ['J1', 'rows of commas below long names', { csv: WIDE_CSV }, 422],
  ['J2', 'half a million line breaks', { jsonl: '\n'.repeat(500_000) }, 201],
  ['J3', 'a quarter of a million empty lines of JSON', { jsonl: '{}\n'.repeat(250_000) }, 422],
  ['J4', 'half a million numbers', { entries: [{ a: new Array(500_000).fill(1) }] }, 201],
  ['J5', 'numbers that keep their spelling', { jsonl: `{"a":[${'1.0,'.repeat(250_000)}1]}` }, 201],
])('%s: %s', (id, _, entries, status) =>
  target.attack({ id, n: TIMES * AT_ONCE }, async ({ serves }) => {
    const post = async () => {
      const headers = { 'x-auth-token': target.key };
      const body = { name: id, ...entries };
      const answer = await callRest(target.address, { verb: 'POST', path: '/api/dataset', body, headers });
      expect(answer.status, answer.text.slice(0, 300)).toBe(status);
      if (status === 422) expect(answer.body.code).toBe('dataset_too_large');
    };
    const posts = Array.from({ length: TIMES * AT_ONCE }, () => post);
    await Promise.all([inParallel(posts, AT_ONCE, (each) => each()), serves(SERVED_MEANWHILE)]);
  }),
);

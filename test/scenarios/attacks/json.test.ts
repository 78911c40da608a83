/** Bodies of JSON that cost the server far more than their size, several at once. */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';

const TIMES = 20;
const AT_ONCE = 4;
const BOMBS = 200;
const BOMBS_AT_ONCE = 50;
const SERVED_MEANWHILE = 60;
const KEYS = 1_000_000;

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
beforeEach(() => target.revive());
afterAll(() => target.close());

type Body = { readonly bytes: Buffer; readonly headers?: { readonly [name: string]: string } };

/** Expects refusals as client errors or as overload, never as bugs. */
async function expectNoBug({ bytes, headers = {} }: Body): Promise<void> {
  const typed = { 'x-auth-token': target.key, 'content-type': 'application/json', ...headers };
  const answer = await fetch(`${target.address}/api/collector`, {
    method: 'POST',
    headers: typed,
    body: new Uint8Array(bytes),
  });
  const text = await answer.text();
  if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1');
  else expect(answer.status === 200 || (answer.status >= 400 && answer.status < 500), text.slice(0, 300)).toBe(true);
}

function span(members: string): Buffer {
  const startedAtMs = Date.now();
  const timestamps = `"timestamps":{"started_at":${startedAtMs},"finished_at":${startedAtMs}}`;
  return Buffer.from(`{"trace_id":"hostile","spans":[{"span_id":"s","type":"span",${timestamps},${members}}]}`);
}

/** Uses nine bytes per key, so that a million keys are below the limit. */
function wideObject(): string {
  const names = Array.from({ length: KEYS }, (_, index) => (index + 36 ** 3).toString(36));
  return `{${names.map((name) => `"${name}":0`).join(',')}}`;
}

const WIDE = wideObject();
const DIGITS = `[${Array.from({ length: 400_000 }, (_, index) => 10n ** 19n + BigInt(index)).join(',')}]`;

it.each<readonly [id: string, what: string, bytes: Buffer]>([
  ['H3', 'a million keys at the top', Buffer.from(WIDE)],
  ['H4', 'a million keys of metadata', Buffer.from(`{"trace_id":"hostile","metadata":${WIDE}}`)],
  ['H5', 'a million keys of the parameters of a span', span(`"params":${WIDE}`)],
  ['H6', 'four hundred thousand numbers of twenty digits', span(`"input":{"type":"json","value":${DIGITS}}`)],
  ['H7', 'five million open brackets', Buffer.alloc(5_000_000, '[')],
  ['H8', 'a million nested objects', Buffer.from('{"a":'.repeat(1_000_000))],
])('%s: %s', (id, _, bytes) =>
  target.attack({ id, n: TIMES * AT_ONCE }, async ({ serves }) => {
    const posts = Array.from({ length: TIMES * AT_ONCE }, () => ({ bytes }));
    await Promise.all([inParallel(posts, AT_ONCE, expectNoBug), serves(SERVED_MEANWHILE)]);
  }),
);

it(`H9: compression bombs, ${BOMBS_AT_ONCE} at once`, () =>
  target.attack({ id: 'H9', n: BOMBS }, async ({ serves }) => {
    const zeros = Buffer.alloc(64 * 1024 * 1024);
    const kinds: readonly Body[] = [
      { bytes: gzipSync(zeros), headers: { 'content-encoding': 'gzip' } },
      {
        bytes: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
        headers: { 'content-encoding': 'br' },
      },
    ];
    const bombs = Array.from({ length: BOMBS }, (_, index) => kinds[index % kinds.length] as Body);
    await Promise.all([inParallel(bombs, BOMBS_AT_ONCE, expectNoBug), serves(SERVED_MEANWHILE)]);
  }));

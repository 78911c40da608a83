import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GatewayFixture, startGateway } from '../gateway/gateway-fixture.ts';

const PAGE = readFileSync(new URL('../../docs/gateway.md', import.meta.url), 'utf8');
const PROGRAMS = [...PAGE.matchAll(/^```js\n(.*?)^```/gms)].map(([, program = '']) => program);
const HELLO = 'Grüße aus 京都\n';

let gateway: GatewayFixture;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

it.each([
  [0, "OpenAI's SDK", HELLO],
  [1, "Anthropic's SDK", HELLO],
  [2, "Vercel's SDK", HELLO.repeat(2)],
  [3, 'a client that propagates its trace context', HELLO],
])('program %i on docs/gateway.md, of %s, prints the answer of the model', async (index, _, printed) => {
  expect(PROGRAMS).toHaveLength(4);
  const args = ['--input-type=module', '--eval', PROGRAMS[index] ?? ''];
  const env = { PATH: process.env.PATH, SPANDREL_URL: gateway.app.address, SPANDREL_VIRTUAL_KEY: gateway.secret };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
  expect(stdout.replace(/^AI SDK Warning.*\n/gm, '')).toBe(printed);
});

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { mintApiKey } from '../../src/domain/secrets.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { report } from '../support/scenario.ts';
import { callRest } from '../support/surfaces.ts';

const SAMPLES = 20_000;
const WARM_UP = 2_000;
// Few samples beside other tests show only gross differences.
const RATIO_MAX = 1.05;

/** Sends one request after another on one connection, so that only the server takes time. */
function openStopwatch(address: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    /** Microseconds until the refusal is read. */
    time: (token: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` };
        const startedNs = process.hrtime.bigint();
        const sent = request(`${address}/api/organization`, { agent, headers }, (response) => {
          response.resume();
          response.on('end', () => {
            if (response.statusCode === 401) resolve(Number(process.hrtime.bigint() - startedNs) / 1000);
            else reject(new Error(`answered ${response.statusCode}`));
          });
        });
        sent.on('error', reject);
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

async function makeTokens(app: TestApp): Promise<{ readonly [what: string]: () => string }> {
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const mint = async () => {
    const body = { name: 'key', keyType: 'service' };
    return (await callRest(app.address, { verb: 'POST', path: '/api/api-keys', body, headers })).body;
  };
  const live = await mint();
  const revoked = await mint();
  await callRest(app.address, { verb: 'DELETE', path: `/api/api-keys/${revoked.id}`, headers });
  // Each makes a new token, and a text that is stored alike, or the client itself would need less time for one of them.
  const after = (make: (minted: ReturnType<typeof mintApiKey>) => string) => () =>
    Buffer.from(make(mintApiKey('sk-lw-', randomBytes)), 'latin1').toString('latin1');
  return {
    'unknown id': after(({ token }) => token),
    'wrong secret': after(({ secret }) => `sk-lw-${live.id}_${secret}`),
    revoked: after(() => revoked.token),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

it('K4: the time of a refusal does not reveal its reason', async () => {
  const app = await startApp({ writer: 'in its thread' });
  const stopwatch = openStopwatch(app.address);
  try {
    const kinds = Object.entries(await makeTokens(app)).map(([what, next]) => ({
      what,
      next,
      times: [] as number[],
    }));
    for (let sample = -WARM_UP; sample < SAMPLES; sample++) {
      // Each kind follows every other kind equally often.
      const kind = kinds[(sample + Math.floor(sample / kinds.length) + WARM_UP * 2) % kinds.length];
      const token = kind?.next() ?? '';
      const took = await stopwatch.time(token);
      if (sample >= 0) kind?.times.push(took);
    }
    const medians = kinds.map(({ what, times }) => ({ what, median: median(times), n: times.length }));
    const all = medians.map((each) => each.median);
    const ratio = Math.max(...all) / Math.min(...all);
    report({ id: 'K4', seed: 0, n: SAMPLES, p99: ratio, pass: ratio <= RATIO_MAX });
    expect(ratio, JSON.stringify(medians)).toBeLessThanOrEqual(RATIO_MAX);
  } finally {
    stopwatch.close();
    await app.close();
  }
});

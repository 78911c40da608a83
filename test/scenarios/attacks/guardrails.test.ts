/** Evaluations that never end, from many projects of one organization, beside the guardrail of another organization. */

import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, it } from 'vitest';
import { readBootstrap } from '../../../src/config/bootstrap.ts';
import { addOrganization, bootstrap } from '../../../src/domain/organization/bootstrap.ts';
import { deriveRootKeys } from '../../../src/domain/secrets.ts';
import { openStore } from '../../../src/storage/open.ts';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { ADMIN_KEY, PROJECT_KEY } from '../../support/server.ts';
import { TEST_SECRET } from '../../support/test-database.ts';

const KEYS = 64;
/** Together as many as one organization may have waiting. */
const RUNS_OF_KEY = 2;
const SERVED_MEANWHILE = 800;
const SIDE = 20_000;
const ENDLESS = JSON.stringify({
  data: { contexts: ['a'.repeat(SIDE)], expected_contexts: ['b'.repeat(SIDE)] },
  as_guardrail: true,
  on_error: 'pass',
});

let target: Target;
let keys: readonly string[] = [];
beforeAll(async () => {
  target = await startTarget({ SPANDREL_SECRET: TEST_SECRET }, { prepare: createOrganizations });
  const made = [target.key];
  while (made.length < KEYS) made.push(await target.addKey());
  keys = made;
});
afterAll(() => target.close());

/** Returns the key of the second organization; the attackers belong to the first. */
async function createOrganizations(url: string): Promise<string> {
  const quiet = { warn() {}, error() {} };
  const store = await openStore({ url, queueMaxBytes: 1_000_000, log: quiet });
  try {
    const rootKeys = deriveRootKeys(TEST_SECRET);
    const deps = { store: store.installation, rootKeys, keyPrefixes: ['sk-lw-'], random: randomBytes };
    const imposed: { readonly [name: string]: string } = {
      SPANDREL_BOOTSTRAP_PROJECT_KEY: PROJECT_KEY,
      SPANDREL_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    };
    const reader = { text: (name: string) => imposed[name] ?? null, refuse() {} };
    await bootstrap(deps, readBootstrap(reader, deps.keyPrefixes), Date.now());
    const second = { organizationName: 'Second', teamName: 'T', projectName: 'P', adminEmail: 'ann@example.com' };
    const printed = new Map(await addOrganization(deps, second, Date.now()));
    return printed.get('SPANDREL_PROJECT_KEY') ?? '';
  } finally {
    await store.close();
  }
}

it('M1: endless guardrails of 64 keys beside the guardrail of another organization', async () => {
  await target.attack({ id: 'M1', n: KEYS * RUNS_OF_KEY }, async ({ serves, closeLater }) => {
    const agent = new Agent({ keepAlive: true });
    let isOver = false;
    closeLater(() => agent.destroy());
    const runForEver = async (key: string) => {
      while (!isOver) await post(agent, key);
    };
    const attackers = keys.flatMap((key) => Array.from({ length: RUNS_OF_KEY }, () => runForEver(key)));
    await serves(SERVED_MEANWHILE);
    isOver = true;
    agent.destroy();
    await Promise.all(attackers);
  });
});

/** Resolves when it is answered or the connection has ended. */
function post(agent: Agent, key: string): Promise<void> {
  return new Promise((resolve) => {
    const { port } = target;
    const path = '/api/evaluations/ragas/context_f1/evaluate';
    const headers = { 'x-auth-token': key, 'content-type': 'application/json' };
    const sent = request({ agent, port, path, headers, method: 'POST', host: '127.0.0.1', localAddress: '127.0.0.2' });
    sent.on('response', (response) => {
      response.resume();
      response.on('close', resolve);
    });
    sent.on('error', () => resolve());
    sent.end(ENDLESS);
  });
}

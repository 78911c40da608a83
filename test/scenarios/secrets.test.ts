import { expect, it } from 'vitest';
import { startApp } from '../support/app.ts';
import { addKey, llmTrace } from '../support/fixtures.ts';
import { TEST_SECRET } from '../support/place.ts';
import { report } from '../support/scenario.ts';
import { callRest } from '../support/surfaces.ts';

it('G1: no secret stands in the data folder, the log or an error', async () => {
  const app = await startApp();
  const seen: string[] = [];
  const call = async (path: string, headers: { [name: string]: string }, body?: object) => {
    const answer = await callRest(app.address, {
      verb: body ? 'POST' : 'GET',
      path,
      headers,
      ...(body ? { body } : {}),
    });
    seen.push(answer.text, JSON.stringify([...answer.headers]));
  };
  const service = await addKey(app, {
    bindings: [{ role: 'ADMIN', scopeType: 'ORGANIZATION', scopeId: app.organizationId, permissions: [] }],
  });
  const unknown = `sk-lw-${'0'.repeat(16)}_${'A'.repeat(42)}2fwxgK`;
  const secrets = [app.projectKey, app.adminKey, service, unknown, TEST_SECRET];
  for (const token of secrets) {
    await call('/api/collector', { 'x-auth-token': token }, llmTrace(Date.now()));
    await call('/api/webhooks/v1/events?from=2&to=1', { authorization: `Bearer ${token}` });
    await call('/api/collector', { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }, {});
    await call(`/api/traces/t?format=${token.slice(0, 3)}`, { 'x-auth-token': token });
  }
  await app.stop();
  await app.store.close();
  const stored = await app.place.contents();
  await app.place.remove();
  // The part after the last underscore or prefix is what would let somebody in.
  const needles = secrets.map((secret) => secret.replace(/^sk-lw-/, '').replace(/^[^_]*_/, ''));
  const places = [...stored, ...app.logged, ...seen];
  const hits = needles.filter((needle) => places.some((place) => place.includes(needle)));
  report({ id: 'G1', seed: 0, n: places.length, pass: hits.length === 0 });
  expect(stored.length).toBeGreaterThan(0);
  expect(app.logged.length).toBeGreaterThan(0);
  expect(hits).toEqual([]);
});

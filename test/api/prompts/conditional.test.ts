import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { act, createPrompt, inPath } from './prompts-client.ts';

let app: TestApp;
/** Reads of prompts, and of anything else that a request could read. */
let reads: string[] = [];
beforeAll(async () => {
  app = await startApp({ wrapStore: (store) => ({ ...store, ...countReads(store) }) });
});
afterAll(async () => {
  await app.close();
});

/** Notes each call of the parts of the store that hold what an organization manages. */
function countReads(store: Store) {
  const note = <Part extends object>(name: string, part: Part): Part =>
    Object.fromEntries(
      Object.entries(part).map(([verb, run]) => [
        verb,
        (...args: unknown[]) => {
          reads.push(`${name}.${verb}`);
          return run(...args);
        },
      ]),
    ) as Part;
  return { prompts: note('prompts', store.prompts), management: note('management', store.management) };
}

/** Uses of keys are written once a minute, behind the answers. */
const withoutUses = () => reads.filter((read) => read !== 'management.recordUse');

const get = (path: string, etag?: string) =>
  fetch(`${app.address}/api/prompts${path}`, {
    headers: { 'x-auth-token': app.projectKey, ...(etag !== undefined && { 'if-none-match': etag }) },
  });

async function etagOf(path: string): Promise<string> {
  const answer = await get(path);
  expect(answer.status).toBe(200);
  await answer.text();
  return answer.headers.get('etag') ?? '';
}

describe('a prompt that the client has', () => {
  it('is not sent again: 304, without a body, with the same ETag', async () => {
    const { handle } = await createPrompt(app);
    const etag = await etagOf(inPath(handle));
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get(inPath(handle), known);
      expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    for (const known of ['"other"', etag.slice(1, -1), '']) expect((await get(inPath(handle), known)).status).toBe(200);
  });

  it('is sent again after every change that it shows, at once', async () => {
    const { id, handle, versionId } = await createPrompt(app);
    const path = inPath(handle);
    let etag = await etagOf(path);
    const changes = [
      () => act(app, 'PUT', path, { body: { prompt: 'Other', commitMessage: 'Other' } }),
      () => act(app, 'POST', `${path}/versions/${versionId}/restore`),
      async () => {
        const newest = await act(app, 'GET', inPath(id));
        await act(app, 'PUT', `${path}/tags/staging`, { body: { versionId: newest.versionId } });
      },
      () => act(app, 'PUT', '/tags/staging', { body: { name: 'stage' } }),
      () => act(app, 'PUT', '/tags/stage', { body: { name: 'staging' } }),
      () => act(app, 'PUT', path, { body: { scope: 'ORGANIZATION', commitMessage: 'Share' } }),
    ];
    for (const change of changes) {
      await change();
      const answer = await get(path, etag);
      expect(answer.status).toBe(200);
      await answer.text();
      etag = answer.headers.get('etag') ?? '';
    }
    await act(app, 'DELETE', path);
    expect((await get(path, etag)).status).toBe(404);
  });

  it('costs no read of the database, however many clients ask', async () => {
    const { handle, versionId } = await createPrompt(app);
    await act(app, 'PUT', `${inPath(handle)}/tags/production`, { body: { versionId } });
    const paths = [handle, `${handle}:1`, `${handle}:production`].map(inPath);
    const known = await Promise.all(paths.map(async (path) => [path, await etagOf(path)] as const));
    reads = [];
    const asked = Array.from({ length: 300 }, (_, index) => known[index % known.length] ?? ['', '']);
    const statuses = await Promise.all(asked.map(async ([path, etag]) => (await get(path, etag)).status));
    expect(new Set(statuses)).toEqual(new Set([304]));
    for (const path of paths) expect((await get(path)).status).toBe(200);
    expect(withoutUses()).toEqual([]);
    await createPrompt(app);
    reads = [];
    expect((await get(...(known[0] ?? ['', '']))).status).toBe(304);
    expect(withoutUses()).toEqual(['prompts.find']);
  });

  it('is read once for all who ask at the same time', async () => {
    const { handle } = await createPrompt(app);
    reads = [];
    await Promise.all(Array.from({ length: 50 }, async () => (await get(inPath(handle))).text()));
    expect(withoutUses()).toEqual(['prompts.find']);
  });
});

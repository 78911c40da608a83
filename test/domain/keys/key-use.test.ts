import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { createKeyUse } from '../../../src/domain/keys/key-use.ts';
import type { CredentialUse } from '../../../src/domain/management/management.ts';
import { createManualPause } from '../../support/manual-pause.ts';

const apiKey = (id: string) => ({ kind: 'api_key', key: { id } }) as unknown as Caller;
const projectKey = (id: string) => ({ kind: 'project_key', project: { id } }) as unknown as Caller;

function setup() {
  const timer = createManualPause();
  const batches: (readonly CredentialUse[])[] = [];
  const errors: unknown[] = [];
  const broken = { is: false };
  const keyUse = createKeyUse({
    store: {
      recordUse: async (uses) => {
        if (broken.is) throw new Error('the store is away');
        batches.push(uses);
      },
    },
    pause: timer.pause,
    onError: (error) => errors.push(error),
  });
  return { keyUse, timer, batches, errors, broken };
}

describe('the last use of a credential', () => {
  it('is stored at most once a minute, and not while the request runs', async () => {
    const { keyUse, timer, batches } = setup();
    for (const atMs of [1_000, 2_000, 60_999]) keyUse.record(apiKey('a'), atMs);
    expect(batches).toEqual([]);
    await timer.pass();
    expect(batches).toEqual([[{ kind: 'api_key', id: 'a', atMs: 1_000 }]]);
    keyUse.record(apiKey('a'), 61_000);
    await timer.pass();
    expect(batches[1]).toEqual([{ kind: 'api_key', id: 'a', atMs: 61_000 }]);
  });

  it('is stored together with that of others', async () => {
    const { keyUse, timer, batches } = setup();
    keyUse.record(apiKey('a'), 1_000);
    keyUse.record(projectKey('a'), 1_001);
    keyUse.record({ kind: 'open' }, 1_002);
    await timer.pass();
    expect(batches).toEqual([
      [
        { kind: 'api_key', id: 'a', atMs: 1_000 },
        { kind: 'project_key', id: 'a', atMs: 1_001 },
      ],
    ]);
    expect(timer.waiting()).toEqual([]);
  });

  it('goes into batches of a bounded size', async () => {
    const { keyUse, timer, batches } = setup();
    for (let index = 0; index < 1_200; index += 1) keyUse.record(projectKey(`p${index}`), 1_000);
    await timer.pass();
    expect(batches.map((batch) => batch.length)).toEqual([500, 500, 200]);
  });

  it('is tried again later when the store is unavailable, and fails no request', async () => {
    const { keyUse, timer, batches, errors, broken } = setup();
    broken.is = true;
    keyUse.record(apiKey('a'), 1_000);
    await timer.pass();
    expect(errors).toHaveLength(1);
    broken.is = false;
    keyUse.record(apiKey('b'), 1_500);
    await timer.pass();
    expect(batches.flat().map((use) => use.id)).toEqual(['a', 'b']);
  });

  it('is noted again after the clock was set back', async () => {
    const { keyUse, timer, batches } = setup();
    keyUse.record(apiKey('a'), 10_000_000);
    keyUse.record(apiKey('a'), 1_000);
    await timer.pass();
    expect(batches.flat()).toEqual([{ kind: 'api_key', id: 'a', atMs: 1_000 }]);
  });

  it('is stored before the stop, which an unavailable store does not delay', async () => {
    const good = setup();
    good.keyUse.record(apiKey('a'), 1_000);
    await good.keyUse.stop();
    expect(good.batches.flat()).toHaveLength(1);
    const bad = setup();
    bad.broken.is = true;
    bad.keyUse.record(apiKey('a'), 1_000);
    await bad.keyUse.stop();
    expect(bad.errors).toHaveLength(1);
  });
});

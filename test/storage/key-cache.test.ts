import { describe, expect, it } from 'vitest';
import type { ApiKey, Project } from '../../src/domain/caller.ts';
import { setUpGateway } from '../../src/domain/gateway/gateway-setup.ts';
import { cacheKeyReads, type KeyCacheDeps, type KeyReader } from '../../src/storage/keys/key-cache.ts';

const PROJECT = { id: 'project_1' } as Project;
const KEY = { id: 'known' } as ApiKey;
const HASH = Buffer.from('hash');

type Options = { readonly lists?: boolean; readonly generation?: KeyCacheDeps['generation'] };

function createSubject({ lists = true, generation }: Options = {}) {
  const reads: string[] = [];
  const note = <T>(name: string, value: T): Promise<T> => {
    reads.push(name);
    return Promise.resolve(value);
  };
  const state = { generation: 0, nowMs: 0, archived: false, untilMs: null as number | null };
  const reader: KeyReader = {
    findApiKey: (id) => note('key', id === 'known' ? KEY : null),
    findProject: () => note('project', state.archived ? null : PROJECT),
    hasImportedCredentials: () => note('imported', false),
    listKeyIds: lists ? () => note('ids', ['known']) : null,
    findVirtualKey: async () => null,
    findSession: async () => null,
    findGatewaySetup: async () => setUpGateway([], { version: 0, budgets: [] }),
    findProjectByKey: () => note('by key', state.archived ? null : { project: PROJECT, untilMs: state.untilMs }),
  };
  const keys = cacheKeyReads({
    reader,
    generation: generation ?? (() => state.generation),
    age: { maxMs: 1000, nowMs: () => state.nowMs },
  });
  return { keys, reads, state };
}

describe('what authentication keeps of its reads', () => {
  it('a flood of unknown ids costs one read where ids can be listed', async () => {
    const { keys, reads } = createSubject();
    for (let index = 0; index < 100; index++) expect(await keys.findApiKey(`unknown-${index}`)).toBeNull();
    expect(reads).toEqual(['ids']);
  });

  it('an unknown id costs one read', async () => {
    const listing = createSubject();
    await listing.keys.readDecoy();
    expect(listing.reads).toEqual([]);
    const { keys, reads } = createSubject({ lists: false });
    for (let index = 0; index < 2; index++) await keys.readDecoy();
    expect(reads).toEqual(['key', 'key']);
  });

  it('an unknown id costs one read where ids cannot be listed, until the next acknowledged write', async () => {
    const { keys, reads, state } = createSubject({ lists: false });
    for (let index = 0; index < 3; index++) {
      expect(await keys.findApiKey('unknown')).toBeNull();
      expect(await keys.findApiKey('known')).toBe(KEY);
    }
    expect(reads).toEqual(['key', 'key']);
    state.generation += 1;
    expect(await keys.findApiKey('unknown')).toBeNull();
    expect(reads).toHaveLength(3);
  });

  it('a flood of unknown ids does not fill the memory', async () => {
    const { keys, reads } = createSubject({ lists: false });
    for (let index = 0; index < 25_000; index++) await keys.findApiKey(`unknown-${index}`);
    await keys.findApiKey('unknown-24999');
    expect(reads).toHaveLength(25_000);
    // The cache reads evicted keys again.
    await keys.findApiKey('unknown-0');
    expect(reads).toHaveLength(25_001);
  });

  it('an answer is read once, until the next acknowledged write', async () => {
    const { keys, reads, state } = createSubject();
    for (let index = 0; index < 3; index++) expect(await keys.findProjectByKeyHash(HASH, 0)).toBe(PROJECT);
    expect(reads).toEqual(['by key']);
    state.archived = true;
    state.generation += 1;
    expect(await keys.findProjectByKeyHash(HASH, 0)).toBeNull();
    expect(await keys.findProject('project_1')).toBeNull();
  });

  it('a database that was set back is read again', async () => {
    const { keys, state } = createSubject();
    state.generation = 7;
    expect(await keys.findProject('project_1')).toBe(PROJECT);
    state.archived = true;
    state.generation = 3;
    expect(await keys.findProject('project_1')).toBeNull();
  });

  it('a change made behind the store is seen within seconds', async () => {
    const { keys, state } = createSubject();
    expect(await keys.findProject('project_1')).toBe(PROJECT);
    state.archived = true;
    state.nowMs += 5_000;
    expect(await keys.findProject('project_1')).toBeNull();
  });

  it('an answer overtaken by a write is not kept', async () => {
    const { keys, reads, state } = createSubject();
    const underway = keys.findProject('project_1');
    state.generation += 1;
    expect(await underway).toBe(PROJECT);
    await keys.findProject('project_1');
    expect(reads).toEqual(['project', 'project']);
  });

  it('a key within its overlap ends by the clock alone', async () => {
    const { keys, reads, state } = createSubject();
    state.untilMs = 1_000;
    expect(await keys.findProjectByKeyHash(HASH, 999)).toBe(PROJECT);
    expect(await keys.findProjectByKeyHash(HASH, 1_000)).toBeNull();
    expect(await keys.findProjectByKeyHash(HASH, 999)).toBe(PROJECT);
    expect(reads).toEqual(['by key']);
  });

  it('a failed read is not kept, and neither is a generation that could not be read', async () => {
    let failures = 1;
    const { keys, reads } = createSubject({
      generation: async () => {
        if (failures > 0) {
          failures -= 1;
          throw new Error('away');
        }
        return 1;
      },
    });
    await expect(keys.findProject('project_1')).rejects.toThrow('away');
    expect(reads).toEqual([]);
    expect(await keys.findProject('project_1')).toBe(PROJECT);
  });
});

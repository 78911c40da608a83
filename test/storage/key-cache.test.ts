import { describe, expect, it } from 'vitest';
import type { Project } from '../../src/domain/caller.ts';
import { cacheKeyReads } from '../../src/storage/key-cache.ts';
import type { KeyReader } from '../../src/storage/sqlite/key-reader.ts';

const PROJECT = { id: 'project_1' } as Project;

function createSubject() {
  const reads: string[] = [];
  const note = <T>(name: string, value: T): Promise<T> => {
    reads.push(name);
    return Promise.resolve(value);
  };
  const state = { generation: 0, nowMs: 0, archived: false };
  const reader: KeyReader = {
    findApiKey: () => note('key', null),
    findProject: () => note('project', state.archived ? null : PROJECT),
    hasImportedCredentials: () => note('imported', false),
    listKeyIds: () => note('ids', ['known']),
    findProjectByKey: () => note('by key', state.archived ? null : PROJECT),
    findProjectByPreviousKey: () => note('by previous', null),
  };
  const keys = cacheKeyReads({ reader, generation: () => state.generation, nowMs: () => state.nowMs });
  return { keys, reads, state };
}

describe('what authentication keeps of its reads', () => {
  it('a flood of unknown ids costs one read', async () => {
    const { keys, reads } = createSubject();
    for (let index = 0; index < 100; index++) expect(await keys.findApiKey(`unknown-${index}`)).toBeNull();
    expect(reads).toEqual(['ids']);
  });

  it('an answer is read once, until the next acknowledged write', async () => {
    const { keys, reads, state } = createSubject();
    const hash = Buffer.from('hash');
    for (let index = 0; index < 3; index++) expect(await keys.findProjectByKeyHash(hash, 0)).toBe(PROJECT);
    expect(reads).toEqual(['by key']);
    state.archived = true;
    state.generation += 1;
    expect(await keys.findProjectByKeyHash(hash, 0)).toBeNull();
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

  it('a key within its overlap is read every time, for it ends by the clock alone', async () => {
    const { keys, reads, state } = createSubject();
    state.archived = true;
    await keys.findProjectByKeyHash(Buffer.from('old'), 0);
    await keys.findProjectByKeyHash(Buffer.from('old'), 1);
    expect(reads).toEqual(['by key', 'by previous', 'by key', 'by previous']);
  });
});

import { describe, expect, it } from 'vitest';
import { createTenantSemaphore, type PermitRequest } from '../../src/scheduling/tenant-semaphore.ts';

/** `a1` is the project 1 of the organization a; `a1!` is urgent. */
function requestOf(name: string): PermitRequest {
  const [organizationId = '', project = ''] = name;
  return { tenant: { organizationId, projectId: organizationId + project }, isUrgent: name.endsWith('!') };
}

function start(permitsMax: number, waitingMax = 100) {
  const semaphore = createTenantSemaphore({ permitsMax, waitingMax });
  const acquired: string[] = [];
  const refused: string[] = [];
  const settle = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return {
    acquired,
    refused,
    async acquire(...names: readonly string[]) {
      for (const name of names) {
        void semaphore
          .acquire(requestOf(name))
          .then((outcome) => (outcome === 'acquired' ? acquired : refused).push(name));
      }
      await settle();
    },
    async release(name: string) {
      semaphore.release(requestOf(name));
      await settle();
    },
  };
}

describe('permits of tenants', () => {
  it('leave one to other organizations, and of those of an organization one to its other projects', async () => {
    const { acquire, acquired } = start(4);
    await acquire('a1!', 'a1!', 'a1!', 'a1!');
    expect(acquired).toEqual(['a1!', 'a1!']);
    await acquire('a2', 'a3', 'a4');
    expect(acquired.slice(2)).toEqual(['a2']);
    await acquire('b1', 'b1');
    expect(acquired.slice(3)).toEqual(['b1']);
  });

  it('go to urgent requests first, then by turns of organizations, then by turns of their projects', async () => {
    const { acquire, acquired, release } = start(1);
    await acquire('a1', 'a1', 'a1', 'a2', 'a2', 'b1', 'a1!', 'b1!', 'a2!');
    const order = ['a1', 'a1!', 'b1!', 'a2!', 'a1', 'b1', 'a2', 'a1', 'a2'];
    for (const name of order) await release(acquired.at(-1) ?? name);
    expect(acquired).toEqual(order);
  });

  it('are not waited for by more than a half from one organization, and a quarter from one project', async () => {
    const { acquire, refused } = start(1, 8);
    await acquire('z1', 'a1', 'a1', 'a1', 'a2', 'a2', 'a2', 'b1', 'b2', 'c1', 'd1', 'e1');
    expect(refused).toEqual(['a1', 'a2', 'e1']);
    await acquire('e1!', 'a1!');
    expect(refused).toEqual(['a1', 'a2', 'e1']);
  });

  it('pass to whoever may have one, not to the one who has waited longest', async () => {
    const { acquire, acquired, release } = start(2);
    await acquire('a1', 'b1', 'a2!', 'a1!', 'c1');
    await release('b1');
    expect(acquired).toEqual(['a1', 'b1', 'c1']);
    await release('a1');
    expect(acquired.at(-1)).toBe('a2!');
  });

  it('that are given up while they are waited for are passed on', async () => {
    const semaphore = createTenantSemaphore({ permitsMax: 1, waitingMax: 2 });
    const stop = new AbortController();
    await semaphore.acquire(requestOf('a1'));
    const stopped = semaphore.acquire(requestOf('b1'), stop.signal);
    stop.abort();
    expect(await stopped).toBe('stopped');
    const next = semaphore.acquire(requestOf('b1'));
    semaphore.release(requestOf('a1'));
    expect(await next).toBe('acquired');
  });
});

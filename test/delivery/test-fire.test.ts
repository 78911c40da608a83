import { expect, it } from 'vitest';
import { createTestFire } from '../../src/delivery/test-fire.ts';
import type { Endpoint } from '../../src/domain/endpoint.ts';

const ENDPOINT = {} as Endpoint;
const { signal } = new AbortController();

it('a test that cannot be made blames nobody, and tells why', async () => {
  const told: unknown[] = [];
  const error = new Error('the secret does not open');
  const fire = createTestFire({
    attempt: () => Promise.reject(error),
    signal,
    onFault: (...fault) => told.push(fault),
  });
  const result = await fire(ENDPOINT, { dispatchId: 'test:1', envelope: '{}', nowMs: 0 });
  expect(result).toMatchObject({ kind: 'refused', isOurs: true, responseStatus: null });
  expect(told).toEqual([[error, 'test:1']]);
});

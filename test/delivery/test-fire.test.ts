import { expect, it } from 'vitest';
import { createTestSender } from '../../src/delivery/attempt.ts';
import type { Endpoint } from '../../src/domain/endpoints/endpoint.ts';

const ENDPOINT = {} as Endpoint;
const { signal } = new AbortController();

it('a test that cannot be sent is a sender fault, and is logged with its cause', async () => {
  const faults: unknown[] = [];
  const error = new Error('the secret does not open');
  const fire = createTestSender({
    attempt: () => Promise.reject(error),
    signal,
    onFault: (...fault) => faults.push(fault),
  });
  const result = await fire(ENDPOINT, { dispatchId: 'test:1', envelope: '{}', nowMs: 0 });
  expect(result).toMatchObject({ kind: 'refused', isSenderFault: true, responseStatus: null });
  expect(faults).toEqual([[error, 'test:1']]);
});

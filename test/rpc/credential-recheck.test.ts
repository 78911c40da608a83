import { expect, it } from 'vitest';
import { createRecheckSharing } from '../../src/rpc/streams/credential-recheck.ts';

it('streams with the same credentials share one recheck for a while, and never with other credentials', async () => {
  let nowMs = 0;
  let proofs = 0;
  const share = createRecheckSharing(() => nowMs);
  const prove = async () => {
    proofs += 1;
  };
  for (let stream = 0; stream < 100; stream += 1) await share('a', prove);
  expect(proofs).toBe(1);
  await share('b', prove);
  expect(proofs).toBe(2);
  nowMs += 500;
  await expect(share('a', () => Promise.reject(new Error('revoked')))).rejects.toThrow('revoked');
  await expect(share('a', prove)).rejects.toThrow('revoked');
  nowMs += 500;
  await share('a', prove);
  expect(proofs).toBe(3);
});

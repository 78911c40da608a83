import { expect, it } from 'vitest';
import { dispatchIdOf } from '../../src/delivery/claims.ts';

const ENDPOINT = 'webhookendpoint_X';

// The digests are those of sha256sum over the names, joined with commas.
it.each<[string, readonly string[], string | null, string]>([
  ['one event', ['req_1:completed'], null, '23135b55785c0090'],
  ['two events', ['req_1:completed', 'req_2:completed'], null, '5d93b2cd595b04c9'],
  ['two events of a replay', ['req_1:completed', 'req_2:completed'], 'replay_1', '65c21e3d24d883ae'],
])('the id of a delivery of %s is the endpoint and a digest of its events', (_, eventIds, replayId, digest) => {
  expect(dispatchIdOf(ENDPOINT, eventIds, replayId)).toBe(`${ENDPOINT}:${digest}`);
});

import { expect, it } from 'vitest';
import { type Failure, SENDER_LOST, TIMEOUT, toFailed } from '../../../src/delivery/failure.ts';
import { verdictOf } from '../../../src/domain/delivery/delivery.ts';

const TOO_LARGE: Failure = { ...SENDER_LOST, error: 'message too large', isSenderFault: false, isTooLarge: true };

it.each<[string, Failure, number | null]>([
  ['of the receiver', TIMEOUT, 12],
  ['of our own', SENDER_LOST, null],
  ['of a message too large to send', TOO_LARGE, null],
])('only a failure of the receiver has a latency: one %s', (_, failure, latencyMs) => {
  expect(verdictOf(toFailed(failure, 12.3))).toMatchObject({ error: failure.error, latencyMs });
});

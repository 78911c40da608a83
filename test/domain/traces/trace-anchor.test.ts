import { expect, it } from 'vitest';
import { ANCHOR_DISTANCE_MAX_MS, anchorOf } from '../../../src/domain/traces/trace-anchor.ts';

const RECEIVED_AT_MS = 1_790_000_000_000;

it.each([
  ['the start', RECEIVED_AT_MS - 5, RECEIVED_AT_MS - 5],
  ['at most 31 days before the receipt', 0, RECEIVED_AT_MS - ANCHOR_DISTANCE_MAX_MS],
  ['at most 31 days after it', Number.MAX_SAFE_INTEGER, RECEIVED_AT_MS + ANCHOR_DISTANCE_MAX_MS],
])('an anchor is %s', (_, startedAtMs, anchorAtMs) => {
  expect(anchorOf(startedAtMs, RECEIVED_AT_MS)).toBe(anchorAtMs);
});

it('a trace without spans has no anchor', () => {
  expect(anchorOf(null, RECEIVED_AT_MS)).toBeNull();
});

import { expect, it } from 'vitest';
import type { Spending } from '../../src/domain/spend/event-spending.ts';
import { BLOCK_EVENTS, createBlockBuilder, unpackValues, VALUE_PARTS } from '../../src/storage/spend/block-format.ts';

const NUMBERS = {
  createdAtMs: 1,
  occurredAtMs: 1,
  error: 0,
  costNanoUsd: 1,
  inputTokens: 1,
  outputTokens: 1,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  reasoningTokens: 0,
};

function spendingOf(label: readonly string[]): Spending {
  const values = { project: ['p'], model: [], virtual_key: [], principal: [], end_user: [], label };
  const prompts = { prompt_id: [], prompt_version: [], prompt_name: [] };
  return { id: 'id', numbers: NUMBERS, values: { ...values, ...prompts } };
}

/** Fills the block; returns the count. */
function fill(builder: ReturnType<typeof createBlockBuilder>, labelsOf: (event: number) => readonly string[]): number {
  let count = 0;
  while (!builder.isFull()) {
    count += 1;
    builder.add(count, spendingOf(labelsOf(count)));
  }
  return count;
}

function labelsIn(builder: ReturnType<typeof createBlockBuilder>) {
  const { parts } = builder.end(1);
  return unpackValues(parts.find(({ part }) => part === VALUE_PARTS.label)?.content ?? new Uint8Array());
}

it('holds a limited number of events, and each word once however many lists have it', () => {
  const builder = createBlockBuilder(1);
  // Every event has 64 of 70 long labels, in varying order.
  const labels = Array.from({ length: 70 }, (_, index) => `${index} `.padEnd(256, 'x'));
  const labelsOf = (event: number) =>
    Array.from({ length: 64 }, (_, index) => labels[(event * 3 + index * 11) % 70] ?? '');
  expect(fill(builder, labelsOf)).toBe(BLOCK_EVENTS);
  const { distinct, lists, listIndexes } = labelsIn(builder);
  expect(distinct).toHaveLength(70);
  for (const event of [1, 2, BLOCK_EVENTS]) {
    expect(lists[listIndexes[event - 1] ?? 0]?.map((at) => distinct[at])).toEqual(labelsOf(event));
  }
});

it('is full before that of four mebibytes of values', () => {
  const builder = createBlockBuilder(1);
  const labelsOf = (event: number) => Array.from({ length: 64 }, (_, index) => `${event} ${index} `.padEnd(256, 'x'));
  expect(fill(builder, labelsOf)).toBe((4 * 1024 * 1024) / (64 * 256));
});

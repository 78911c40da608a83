import { expect, it } from 'vitest';
import { sizeProblem } from '../../../src/domain/evaluations/evaluation-data.ts';
import { findCatalogueEntry } from '../../../src/domain/evaluators/evaluator-catalogue.ts';

it('lists of too many items, and texts of too many parts, are refused before they are converted', () => {
  const entry = findCatalogueEntry('langevals/llm_boolean');
  if (entry === undefined) throw new Error('there is no such type');
  const ones = (count: number) => Array(count).fill(1);
  expect(sizeProblem(entry, { contexts: ones(10_000), output: ones(100_000), unread: ones(1_000_000) })).toBeNull();
  expect(sizeProblem(entry, { contexts: ones(10_001) })).toBe('contexts has more than 10000 items');
  expect(sizeProblem(entry, { output: ones(100_001) })).toBe('output has more than 100000 items and members');
  expect(sizeProblem(entry, { contexts: [ones(100_001)] })).toBe('contexts has more than 100000 items and members');
});

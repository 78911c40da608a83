import { describe, expect, it } from 'vitest';
import { createReadBudget, type ReadBudget } from '../../src/transport/read-budget.ts';

const KIB = 1024;

/** A read budget whose turns the test starts. */
function createTurned(bytesPerTurn: number) {
  const awaited: (() => void)[] = [];
  const budget = createReadBudget({ bytesPerTurn, awaitTurn: (begin) => void awaited.push(begin) });
  return {
    budget,
    awaited,
    beginTurn() {
      for (const begin of awaited.splice(0)) begin();
    },
  };
}

/** An endless sender: reads 64 KiB at a time while the budget allows it. */
function startReader(budget: ReadBudget) {
  const reader = { size: 0, read };
  function read(): void {
    do reader.size += 64 * KIB;
    while (budget.spend(64 * KIB, reader.size, read));
  }
  return reader;
}

describe('what is read of bodies in one turn', () => {
  it('is bounded over all of them, and each has its turn', () => {
    const { budget, beginTurn } = createTurned(256 * KIB);
    const readers = Array.from({ length: 40 }, () => startReader(budget));
    const total = () => readers.reduce((sum, { size }) => sum + size, 0);
    for (const { read } of readers) read();
    const sizes = readers.map(({ size }) => size);
    let before = total();
    for (let turn = 1; turn <= 20; turn += 1) {
      beginTurn();
      // Four readers continue, and each may exceed the budget by its last read.
      expect(total() - before).toBeGreaterThanOrEqual(256 * KIB);
      expect(total() - before).toBeLessThanOrEqual(512 * KIB);
      before = total();
    }
    // Ten turns serve all readers.
    for (const [index, { size }] of readers.entries())
      expect(size - (sizes[index] ?? 0)).toBeGreaterThanOrEqual(128 * KIB);
  });

  it('does not delay a small body', () => {
    const { budget } = createTurned(64 * KIB);
    const large = startReader(budget);
    large.read();
    expect(budget.spend(64 * KIB, 64 * KIB, () => undefined)).toBe(true);
    expect(budget.spend(1, 64 * KIB + 1, () => undefined)).toBe(false);
  });

  it('costs no turn of the event loop while nothing is read', () => {
    const { budget, awaited, beginTurn } = createTurned(64 * KIB);
    expect(awaited).toHaveLength(0);
    budget.spend(KIB, 100 * KIB, () => undefined);
    budget.spend(KIB, 100 * KIB, () => undefined);
    expect(awaited).toHaveLength(1);
    beginTurn();
    expect(awaited).toHaveLength(0);
  });
});

/** Random traces for properties of shares: usage, costs and calls at random nodes of a random tree. */

import fc from 'fast-check';
import type { ModelSpan } from './shares.ts';

/** Models of the price list, with their prices in nano-USD per token. */
const ROWS = [
  { model: 'gpt-4o', rates: { input: 2_500, output: 10_000 } },
  { model: 'gpt-4o-mini', rates: { input: 150, output: 600 } },
] as const;
// Few values, so that equal calls and exact sums are frequent.
const TOKENS = fc.constantFrom(null, 0, 14, 28, 28, 50, 100, 100, 200, 300);

const NODE = fc.record({
  /** The parent: an index before the node, a later one (a cycle may follow), or one that is not stored. */
  parent: fc.oneof(
    { weight: 8, arbitrary: fc.nat(99).map((nat) => ({ kind: 'earlier' as const, nat })) },
    { weight: 1, arbitrary: fc.nat(99).map((nat) => ({ kind: 'any' as const, nat })) },
    { weight: 1, arbitrary: fc.constant({ kind: 'missing' as const, nat: 0 }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'none' as const, nat: 0 }) },
  ),
  type: fc.constantFrom('llm', 'llm', 'llm', 'span', 'chain', 'agent', 'tool'),
  row: fc.constantFrom(0, 0, 0, 1),
  start: fc.nat(5),
  input: TOKENS,
  output: TOKENS,
  cost: fc.constantFrom('list', 'list', 'list', 'explicit', 'result'),
  explicit: fc.constantFrom(0, 100, 500_000, 1_000_000),
});

export const TREE: fc.Arbitrary<readonly ModelSpan[]> = fc
  .array(NODE, { minLength: 2, maxLength: 14 })
  .map((nodes) => nodes.map((node, index): ModelSpan => toSpan(node, index, nodes.length)));

type Node = typeof NODE extends fc.Arbitrary<infer Value> ? Value : never;

function toSpan(node: Node, index: number, count: number): ModelSpan {
  const { type, start, input, output } = node;
  const isCall = type === 'llm';
  const hasTokens = input !== null || output !== null;
  return {
    id: idOf(index),
    parent: parentOf(node, index, count),
    type,
    row: isCall ? rowOf(node).model : null,
    start,
    input,
    output,
    cost: costOf(node, hasTokens),
    rates: hasTokens ? rowOf(node).rates : null,
  };
}

function rowOf({ type, row }: Node) {
  return type === 'llm' && row === 1 ? ROWS[1] : ROWS[0];
}

function costOf(node: Node, hasTokens: boolean): ModelSpan['cost'] {
  const { cost, explicit, input, output, type } = node;
  const { rates } = rowOf(node);
  if (cost === 'explicit') return { nano: explicit, source: 'explicit' };
  if (hasTokens) return { nano: (input ?? 0) * rates.input + (output ?? 0) * rates.output, source: 'registry' };
  return cost === 'result' && type !== 'llm' ? { nano: explicit, source: 'result' } : null;
}

function parentOf({ parent: { kind, nat } }: Node, index: number, count: number): string | null {
  if (kind === 'none' || (kind === 'earlier' && index === 0)) return null;
  if (kind === 'missing') return 'ffffffffffffffff';
  return idOf(kind === 'earlier' ? nat % index : nat % count);
}

export function idOf(index: number): string {
  return (0xa000 + index).toString(16).padStart(16, '0');
}

import { describe, expect, it } from 'vitest';
import { evaluate } from './running.ts';

type Case = readonly [rule: string, value: string, output: string, passes: boolean];

const CASES: readonly Case[] = [
  ['not_contains', 'AI', 'said AI', false],
  ['not_contains', 'AI', 'said ai', true],
  ['contains', 'AI', 'said AI', true],
  ['matches_regex', '^b$', 'a\nb\nc', true],
  ['matches_regex', '^b$', 'abc', false],
  ['not_matches_regex', '[0-9]{3}', 'call 555', false],
  ['not_matches_regex', '[0-9]{3}', 'call us', true],
];

const check = (rules: readonly { field: string; rule: string; value: string }[], data: Record<string, string>) =>
  evaluate('langevals/basic', { data, settings: { rules } });

describe('basic', () => {
  it.each(CASES)('%s %j on %j', async (rule, value, output, passed) => {
    const details = passed ? null : `Rule ${rule} "${value}" failed for output "${output}"`;
    const outcome = await check([{ field: 'output', rule, value }], { output });
    expect(outcome).toMatchObject({ status: 'processed', score: passed ? 1 : 0, passed, details });
  });

  it('takes a missing field for an empty text', async () => {
    expect(await check([{ field: 'input', rule: 'contains', value: 'x' }], {})).toMatchObject({ passed: false });
  });

  it('reports the first rule that fails', async () => {
    const rules = ['a', 'b', 'c'].map((value) => ({ field: 'output', rule: 'contains', value }));
    expect(await check(rules, { output: 'a' })).toMatchObject({ details: 'Rule contains "b" failed for output "a"' });
  });

  it('passes nothing without rules', async () => {
    expect(await check([], { output: 'a' })).toMatchObject({
      score: 0,
      passed: false,
      details: 'No rules were defined',
    });
  });

  it('takes a pattern that makes others backtrack for what it is', async () => {
    const rules = [{ field: 'output', rule: 'matches_regex', value: '(a+)+$' }];
    expect(await check(rules, { output: `${'a'.repeat(100_000)}!` })).toMatchObject({ passed: false });
  });
});

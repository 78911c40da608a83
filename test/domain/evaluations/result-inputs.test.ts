import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { shownInputs } from '../../../src/domain/evaluations/result-inputs.ts';

describe('the inputs that a result keeps', () => {
  it('are whole when they are short', () => {
    const data = { input: 'é'.repeat(2048), contexts: ['a', 'b'], conversation: [{ input: 'x', output: 'y' }] };
    expect(shownInputs(data)).toEqual(data);
  });

  it('are an excerpt with the hash of the whole when they are long', () => {
    const output = `${'é'.repeat(500_000)}!`;
    const contexts = ['c'.repeat(5000)];
    const shown = shownInputs({ input: 'q', output, contexts });
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(shown.input).toBe('q');
    expect(shown.output).toBe(`${'é'.repeat(1950)}…[truncated: 1000001 bytes] [sha256 ${digest(output)}]`);
    expect(shown.contexts).toMatch(/^\["cccc/);
    expect(shown.contexts).toContain(digest(JSON.stringify(contexts)));
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(2 * 4096 + 200);
  });
});

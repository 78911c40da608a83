import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  areInputsStored,
  excerptOf,
  inputsToStore,
  isWorthReferring,
  readReferences,
} from '../../../src/domain/evaluations/result-inputs.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const OF_SPAN = { spanId: 's1', name: 'output' };
const LONG = `${'é'.repeat(1500)}!`;

describe('the inputs that a result stores', () => {
  it('are whole when they are short, and then plain JSON, on the trace or not', () => {
    const data = { input: 'é'.repeat(256), contexts: ['a', 'b'], conversation: [{ input: 'x', output: 'y' }] };
    expect(inputsToStore(data, {})).toBe(JSON.stringify(data));
    expect(inputsToStore(data, { input: OF_SPAN, contexts: { spanId: null, name: 'contexts' } })).toBe(
      JSON.stringify(data),
    );
    expect(readReferences(JSON.stringify(data))).toBeNull();
  });

  it('are an excerpt with the hash of the whole when they are long and not on the trace', () => {
    const output = `${'é'.repeat(500_000)}!`;
    const contexts = ['c'.repeat(5000)];
    const stored = inputsToStore({ input: LONG, output, contexts }, {});
    const shown = JSON.parse(stored);
    expect(shown.input).toBe(LONG);
    expect(shown.output).toBe(`${'é'.repeat(1950)}…[truncated: 1000001 bytes] [sha256 ${digest(output)}]`);
    expect(shown.contexts).toMatch(/^\["cccc/);
    expect(shown.contexts).toContain(digest(JSON.stringify(contexts)));
    expect(Buffer.byteLength(stored)).toBeLessThan(LONG.length * 2 + 2 * 4096 + 200);
  });

  it('are a reference of some hundred bytes when they are on the trace, however large the text is', () => {
    const contexts = ['c'.repeat(5000)];
    const data = { output: LONG.repeat(300), contexts, input: 'q' };
    const stored = inputsToStore(data, { output: OF_SPAN, contexts: { spanId: null, name: 'contexts' } });
    expect(Buffer.byteLength(stored)).toBeLessThan(1100);
    const read = readReferences(stored);
    expect(read?.input).toEqual({ value: 'q' });
    const excerpt = `${'é'.repeat(100)}…[truncated: 900300 bytes]`;
    const sha256 = digest(data.output);
    expect(read?.output).toEqual({ reference: { origin: OF_SPAN, bytes: 900_300, sha256, excerpt } });
    expect(read?.contexts).toMatchObject({ reference: { bytes: 5004, sha256: digest(JSON.stringify(contexts)) } });
    expect(excerptOf({ excerpt, sha256 })).toBe(`${excerpt} [sha256 ${sha256}]`);
  });

  it('with a reference begin as no JSON text of a sender does, and are JSON for an older version', () => {
    const stored = inputsToStore({ output: LONG }, { output: OF_SPAN });
    const copied = JSON.stringify(JSON.parse(stored));
    expect(copied).not.toBe(stored);
    expect(readReferences(copied)).toBeNull();
    expect(readReferences(null)).toBeNull();
  });

  it('are referred to only where that takes less than the text', () => {
    expect([isWorthReferring('x'.repeat(512)), isWorthReferring('x'.repeat(513))]).toEqual([false, true]);
    expect(isWorthReferring(['é'.repeat(255)])).toBe(true);
  });
});

describe('whether inputs are stored already', () => {
  const data = { input: 'q', output: LONG };
  const origins = { output: OF_SPAN };

  it('follows from their texts, whichever span they came from', () => {
    expect(areInputsStored(inputsToStore(data, origins), data)).toBe(true);
    expect(areInputsStored(inputsToStore(data, { output: { spanId: 's2', name: 'input' } }), data)).toBe(true);
    expect(areInputsStored(inputsToStore(data, {}), data)).toBe(true);
    expect(areInputsStored(inputsToStore({}, {}), {})).toBe(true);
  });

  it.each([
    ['another text', { ...data, output: `${LONG}!` }],
    ['another short text', { ...data, input: 'r' }],
    ['a field less', { output: LONG }],
    ['a field more', { ...data, expected_output: 'q' }],
    ['another field', { expected_output: 'q', output: LONG }],
    ['nothing', {}],
  ])('and not with %s', (_, other) => {
    expect(areInputsStored(inputsToStore(data, origins), other)).toBe(false);
    expect(areInputsStored(inputsToStore(data, {}), other)).toBe(false);
    expect(areInputsStored(null, other)).toBe(false);
  });

  it('holds for those of an earlier version, which kept up to 4 KiB of each', () => {
    const whole = 'x'.repeat(4096);
    expect(areInputsStored(JSON.stringify({ output: whole }), { output: whole })).toBe(true);
    const long = 'x'.repeat(5000);
    const excerpt = `${'x'.repeat(3900)}…[truncated: 5000 bytes] [sha256 ${digest(long)}]`;
    expect(areInputsStored(JSON.stringify({ output: excerpt }), { output: long })).toBe(true);
  });
});

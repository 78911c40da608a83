/** The replay of a thread shows what each trace adds, however much an application repeats. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutHistory } from '../../src/console/threads/replay.ts';
import type { Turn } from '../../src/console/trace/conversation-turns.ts';

function turn(role: string, text: string): Turn {
  return { kind: 'message', key: text, origin: null, json: () => '', role, parts: [{ kind: 'text', text }] };
}

const textsOf = (turns: readonly Turn[]) => turns.map(({ key }) => key);
const said = (...turns: readonly Turn[]) =>
  turns.map((each) => (each.kind === 'message' ? `${each.role}\n${each.key}` : ''));

describe('the replay of a thread', () => {
  const system = turn('system', 'be kind');
  const [hello, hi] = [turn('user', 'hello'), turn('assistant', 'hi')];

  it('leaves out what was said before the last question', () => {
    const turns = [system, hello, hi, turn('user', 'and now?'), turn('assistant', 'done')];
    expect(textsOf(withoutHistory(turns, said(system, hello, hi)))).toEqual(['and now?', 'done']);
  });

  it('keeps a question that is asked again', () => {
    expect(textsOf(withoutHistory([hello, hi], said(system, hello, hi)))).toEqual(['hello', 'hi']);
    const turns = [system, hello, hi, hello, turn('assistant', 'again')];
    expect(textsOf(withoutHistory(turns, said(system, hello, hi)))).toEqual(['hello', 'again']);
  });

  it('knows a history of which the beginning is gone, and keeps one that nobody has seen', () => {
    const turns = [system, turn('user', 'b'), turn('assistant', 'B'), turn('user', 'c')];
    const before = said(system, turn('user', 'a'), turn('assistant', 'A'), turn('user', 'b'), turn('assistant', 'B'));
    expect(textsOf(withoutHistory(turns, before))).toEqual(['c']);
    expect(textsOf(withoutHistory(turns, []))).toEqual(['be kind', 'b', 'B', 'c']);
  });

  it('of any chat that repeats all of it shows each message once, in order', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, (questions) => {
        const history: Turn[] = [];
        const shown: string[] = [];
        const known: string[] = [];
        for (const question of questions) {
          const turns = [...history, turn('user', question), turn('assistant', question.toUpperCase())];
          const added = withoutHistory(turns, known);
          shown.push(...textsOf(added));
          known.push(...said(...added));
          history.splice(0, history.length, ...turns);
        }
        expect(shown).toEqual(questions.flatMap((each) => [each, each.toUpperCase()]));
      }),
    );
  });
});

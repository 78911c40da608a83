/** Compares answers with verdicts of the model. */

import type { Verdict } from '../access-model/verdict.ts';
import type { Answer } from './wires.ts';

/** Sentences; empty when the answer is right. */
export function differencesOf(verdict: Verdict, answer: Answer): readonly string[] {
  const code = verdict.kind === 'refused' ? verdict.code : null;
  const { status } = verdict;
  if (!answer.means(status, code) || answer.code !== code) {
    return [
      `wanted ${status} ${code ?? ''}, got ${answer.status} ${answer.code ?? ''}: ${JSON.stringify(answer.body)}`,
    ];
  }
  if (verdict.kind === 'refused') return misfits(verdict.members, answer.members, 'error');
  const { shows = {}, lists, holds, isReplay = false } = verdict;
  return [
    ...misfits(shows, answer.body, 'body'),
    ...(lists === undefined ? [] : misfits(lists, answer.body.data, 'data')),
    ...(holds === undefined ? [] : unmatched(holds, answer.body.data)),
    ...(isReplay === answer.isReplay ? [] : [`wanted ${isReplay ? 'a' : 'no'} replay`]),
  ];
}

/** Ignores members that `wanted` lacks, but not extra items of lists. */
function misfits(wanted: unknown, found: unknown, path: string): readonly string[] {
  if (Array.isArray(wanted)) {
    const isOfSize = Array.isArray(found) && found.length === wanted.length;
    if (!isOfSize) return [`${path}: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(found)}`];
    return wanted.flatMap((item, index) => misfits(item, found[index], `${path}.${index}`));
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof found !== 'object' || found === null) return [`${path}: wanted an object, got ${JSON.stringify(found)}`];
    const members = found as Readonly<Record<string, unknown>>;
    return Object.entries(wanted).flatMap(([name, value]) => misfits(value, members[name], `${path}.${name}`));
  }
  return wanted === found ? [] : [`${path}: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(found)}`];
}

/** Compares lists without regard to order. */
function unmatched(wanted: readonly unknown[], found: readonly unknown[]): readonly string[] {
  const rest = [...found];
  const missing = wanted.filter((item) => {
    const index = rest.findIndex((each) => misfits(item, each, '').length === 0);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
  return [
    ...missing.map((item) => `data: lacks ${JSON.stringify(item)}`),
    ...rest.map((item) => `data: should not hold ${JSON.stringify(item)}`),
  ];
}

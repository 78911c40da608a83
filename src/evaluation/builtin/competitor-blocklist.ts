/** Finds names of competitors that occur as whole words. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { normalizeText } from '../../domain/normalize-text.ts';
import { isArray, readMember } from '../../json/lossless-json.ts';
import { textOf } from './fields.ts';
import { processed } from './outcomes.ts';

export function findCompetitors(run: EvaluationRun): EvaluationOutcome {
  const texts = [fold(textOf(run, 'input')), fold(textOf(run, 'output'))];
  const namesByFolded = new Map<string, string>();
  for (const name of readNames(run)) if (!namesByFolded.has(fold(name))) namesByFolded.set(fold(name), name);
  const mentioned = [...namesByFolded].filter(([folded]) => texts.some((text) => names(text, folded)));
  const details = `Competitors mentioned: ${mentioned.map(([, name]) => name).join(', ')}`;
  return processed({
    score: mentioned.length,
    passed: mentioned.length === 0,
    ...(mentioned.length === 0 ? {} : { details }),
  });
}

function readNames(run: EvaluationRun): readonly string[] {
  const names = readMember(run.settings, 'competitors');
  if (!isArray(names)) return [];
  return names.filter((name) => typeof name === 'string').map((name) => name.trim());
}

function fold(text: string): string {
  return normalizeText(text, 'NFC').toLowerCase();
}

const ENDS_IN_WORD = /[\p{L}\p{Nd}]$/u;
const BEGINS_WORD = /^[\p{L}\p{Nd}]/u;

function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    // A code point has at most two code units.
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!ENDS_IN_WORD.test(before) && !BEGINS_WORD.test(after)) return true;
  }
  return false;
}

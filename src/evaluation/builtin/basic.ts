/** Checks rules about texts that input and output contain or match; all rules must hold. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { readTextRules, type TextRule } from '../../domain/evaluators/text-rules.ts';
import { includesText } from '../../domain/includes-text.ts';
import { textOf } from './fields.ts';
import type { Evaluate } from './outcomes.ts';
import { verdictOf } from './outcomes.ts';

type Search = (pattern: string, text: string) => boolean;

/** Loads the pattern package only for rules with patterns. */
export function loadRules({ settings }: EvaluationRun): Evaluate | Promise<Evaluate> {
  return readTextRules(settings).some(({ isPattern }) => isPattern) ? loadPatterns() : followPlainRules;
}

async function loadPatterns(): Promise<Evaluate> {
  const { compilePattern } = await import('./pattern.ts');
  return (run) => followRules(run, (pattern, text) => compilePattern(pattern).test(text));
}

function followPlainRules(run: EvaluationRun): EvaluationOutcome {
  return followRules(run, () => false);
}

function followRules(run: EvaluationRun, search: Search): EvaluationOutcome {
  const rules = readTextRules(run.settings);
  if (rules.length === 0) return verdictOf(false, 'No rules were defined');
  const broken = rules.find((rule) => !holds(rule, textOf(run, rule.field), search));
  if (broken === undefined) return verdictOf(true);
  const { rule, value, field } = broken;
  return verdictOf(false, `Rule ${rule} "${value}" failed for ${field} "${textOf(run, field)}"`);
}

function holds({ value, isPattern, isNegated }: TextRule, text: string, search: Search): boolean {
  const isThere = isPattern ? search(value, text) : includesText(text, value);
  return isThere !== isNegated;
}

/** Rules about what the input and the output contain or match; all of them must hold. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { isLosslessArray, isLosslessObject, readMember } from '../../domain/lossless-json.ts';
import { textOf } from './fields.ts';
import { verdictOf } from './outcomes.ts';
import { compilePattern } from './pattern.ts';

export function followRules(run: EvaluationRun): EvaluationOutcome {
  const rules = readRules(run);
  if (rules.length === 0) return verdictOf(false, 'No rules were defined');
  const broken = rules.find((rule) => !holds(rule, textOf(run, rule.field)));
  if (broken === undefined) return verdictOf(true);
  const { rule, value, field } = broken;
  return verdictOf(false, `Rule ${rule} "${value}" failed for ${field} "${textOf(run, field)}"`);
}

type Rule = { readonly field: string; readonly rule: string; readonly value: string };

function readRules(run: EvaluationRun): readonly Rule[] {
  const rules = readMember(run.settings, 'rules');
  if (!isLosslessArray(rules)) return [];
  return rules.filter(isLosslessObject).map((rule) => ({
    field: String(readMember(rule, 'field')),
    rule: String(readMember(rule, 'rule')),
    value: String(readMember(rule, 'value')),
  }));
}

function holds({ rule, value }: Rule, text: string): boolean {
  if (rule === 'contains') return text.includes(value);
  if (rule === 'not_contains') return !text.includes(value);
  return compilePattern(value).test(text) === (rule === 'matches_regex');
}

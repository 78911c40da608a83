/** The rules in the settings of langevals/basic, and the patterns among them. */

import { isArray, isObject, type LosslessObject, readMember } from '../../json/lossless-json.ts';
import type { PermitRequest } from '../../scheduling/tenant-semaphore.ts';
import type { Reason } from '../fault.ts';
import { maskedHead } from '../token-mask.ts';

export type TextRule = {
  readonly field: string;
  readonly rule: string;
  /** A text, or a pattern in RE2 syntax. */
  readonly value: string;
  readonly isPattern: boolean;
  /** Whether the rule holds when the value is not found. */
  readonly isNegated: boolean;
};

/** Only for validated settings. */
export function readTextRules(settings: LosslessObject): readonly TextRule[] {
  const rules = readMember(settings, 'rules');
  if (!isArray(rules)) return [];
  return rules.filter(isObject).map((rule) => {
    const kind = String(readMember(rule, 'rule'));
    return {
      field: String(readMember(rule, 'field')),
      rule: kind,
      value: String(readMember(rule, 'value')),
      isPattern: kind.endsWith('matches_regex'),
      isNegated: kind.startsWith('not_'),
    };
  });
}

/**
 * Returns for each pattern why RE2 refuses it, or null. Compiling needs a package and takes time, so it is a port.
 * Checks wait as runs of evaluators do. Rejects with unavailable when too many wait.
 */
export type CheckPatterns = (
  request: PermitRequest,
  patterns: readonly string[],
) => Promise<readonly (string | null)[]>;

type PatternSubject = PermitRequest & {
  readonly evaluatorType: string;
  /** ValidatedConfig already, as to their shape. */
  readonly settings: LosslessObject;
  /** The path of the settings, for example `config.settings`. */
  readonly path: string;
};

const EXPLANATION_CHARACTERS_MAX = 200;

/** A reason for every pattern that RE2 refuses. */
export async function patternProblems(
  checkPatterns: CheckPatterns,
  { tenant, isUrgent, evaluatorType, settings, path }: PatternSubject,
): Promise<readonly Reason[]> {
  if (evaluatorType !== 'langevals/basic') return [];
  const patterns = readTextRules(settings).flatMap(({ isPattern, value }, index) =>
    isPattern ? [{ value, index }] : [],
  );
  if (patterns.length === 0) return [];
  const problems = await checkPatterns(
    { tenant, isUrgent },
    patterns.map(({ value }) => value),
  );
  return patterns.flatMap(({ index }, position): Reason[] => {
    const problem = problems[position] ?? null;
    if (problem === null) return [];
    const field = `${path}.rules.${index}.value`;
    const message = `${field} must be a pattern of RE2: ${maskedHead(problem, EXPLANATION_CHARACTERS_MAX)}`;
    return [{ field, type: 'invalid_format', message }];
  });
}

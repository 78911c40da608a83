/** The rules of langevals/basic, as its settings hold them, and the patterns among them. */

import type { Reason } from '../fault.ts';
import { isLosslessArray, isLosslessObject, type LosslessObject, readMember } from '../lossless-json.ts';
import { maskedHead } from '../token-mask.ts';

export type TextRule = {
  readonly field: string;
  readonly rule: string;
  /** A text, or a pattern in the syntax of RE2. */
  readonly value: string;
  readonly isPattern: boolean;
  /** Whether it holds where the value is not found. */
  readonly isNegated: boolean;
};

/** Only for settings that were judged. */
export function readTextRules(settings: LosslessObject): readonly TextRule[] {
  const rules = readMember(settings, 'rules');
  if (!isLosslessArray(rules)) return [];
  return rules.filter(isLosslessObject).map((rule) => {
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
 * Tells for each pattern why it cannot be looked for, null when it can. What knows patterns is a package, and compiling
 * one takes time, so it stands behind a port. Projects take turns where checks have to wait. Rejects with unavailable
 * when too much is asked of it.
 */
export type CheckPatterns = (projectId: string, patterns: readonly string[]) => Promise<readonly (string | null)[]>;

export type PatternSubject = {
  readonly projectId: string;
  readonly evaluatorType: string;
  /** Judged already, as to their shape. */
  readonly settings: LosslessObject;
  /** Of the settings, for example `config.settings`. */
  readonly path: string;
};

const EXPLANATION_CHARACTERS_MAX = 200;

/** A reason for every pattern of the settings that RE2 does not know. */
export async function patternProblems(
  checkPatterns: CheckPatterns,
  { projectId, evaluatorType, settings, path }: PatternSubject,
): Promise<readonly Reason[]> {
  if (evaluatorType !== 'langevals/basic') return [];
  const patterns = readTextRules(settings).flatMap(({ isPattern, value }, index) =>
    isPattern ? [{ value, index }] : [],
  );
  if (patterns.length === 0) return [];
  const problems = await checkPatterns(
    projectId,
    patterns.map(({ value }) => value),
  );
  return patterns.flatMap(({ index }, place): Reason[] => {
    const problem = problems[place] ?? null;
    if (problem === null) return [];
    const field = `${path}.rules.${index}.value`;
    const message = `${field} must be a pattern of RE2: ${maskedHead(problem, EXPLANATION_CHARACTERS_MAX)}`;
    return [{ field, type: 'invalid_format', message }];
  });
}

/** Validates a request against the rules of its fields, and collects all problems in one refusal. */

import type { DescMethod, Message } from '@bufbuild/protobuf';
import { REASONS_MAX, type Reason, validationFault } from '../domain/fault.ts';
import { checksOf } from './field-rules.ts';
import { fieldValue } from './field-values.ts';
import { pathIn, requestTargets, type Target } from './rest-shape.ts';

/** A problem of a request, with the place of the field. */
export type Problem = Reason & { readonly target: Target | 'header' };

/** A decoded request, with the problems found while decoding. */
type Candidate = { readonly message: Message; readonly problems?: readonly Problem[] };

/** Throws one validation_error with every problem: unreadable fields, broken rules, and those found by the handler. */
export function validate(method: DescMethod, { message, problems = [] }: Candidate, checked: readonly Reason[]): void {
  const broken = findBrokenRules(method, message);
  if (problems.length + broken.length + checked.length === 0) return;
  // Only the first problem of a field is kept: later ones usually follow from it.
  const found = new Map<string, Problem>();
  const add = (problem: Problem) => {
    if (found.size < REASONS_MAX && !found.has(problem.field)) found.set(problem.field, problem);
  };
  problems.forEach(add);
  broken.forEach(add);
  // Problems that a handler finds are attributed to where most fields are sent.
  const usual = [...requestTargets(method).values()].at(-1) ?? 'json';
  for (const reason of checked) add({ ...reason, target: usual });
  const [first] = found.values();
  if (first)
    throw validationFault(
      first.target,
      [...found.values()].map(({ target: _, ...reason }) => reason),
    );
}

function findBrokenRules(method: DescMethod, message: Message): readonly Problem[] {
  const problems: Problem[] = [];
  const reasons: Reason[] = [];
  for (const { field, check } of checksOf(method.input)) {
    check(fieldValue(message, field), pathIn('', field), reasons);
    if (reasons.length === 0) continue;
    const target = requestTargets(method).get(field) ?? 'json';
    for (const reason of reasons.splice(0)) problems.push({ ...reason, target });
  }
  return problems;
}

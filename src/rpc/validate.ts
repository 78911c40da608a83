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
  const checks = checksOf(method.input);
  if (checks.length === 0 && problems.length === 0 && checked.length === 0) return;
  const targets = requestTargets(method);
  // Only the first problem of a field is kept: later ones usually follow from it.
  const found = new Map<string, Problem>();
  const add = (problem: Problem) => {
    if (found.size < REASONS_MAX && !found.has(problem.field)) found.set(problem.field, problem);
  };
  problems.forEach(add);
  for (const { field, check } of checks) {
    const reasons: Reason[] = [];
    check(fieldValue(message, field), pathIn('', field), reasons);
    for (const reason of reasons) add({ ...reason, target: targets.get(field) ?? 'json' });
  }
  // Problems that a handler finds are attributed to where most fields are sent.
  const usual = [...targets.values()].at(-1) ?? 'json';
  for (const reason of checked) add({ ...reason, target: usual });
  const [first] = found.values();
  if (first)
    throw validationFault(
      first.target,
      [...found.values()].map(({ target: _, ...reason }) => reason),
    );
}

/** Checks a request against the rules beside its fields, and gathers every problem of it in one refusal. */

import type { DescMethod, Message } from '@bufbuild/protobuf';
import { REASONS_MAX, type Reason, validationFault } from '../domain/fault.ts';
import { checksOf, fieldValue } from './field-rules.ts';
import { pathIn, requestTargets, type Target } from './rest-shape.ts';

/** A problem found while a request was read, before its rules were judged. */
export type Problem = Reason & { readonly target: Target | 'header' };

/** A decoded request, with what could not be read into it. */
type Candidate = { readonly message: Message; readonly problems?: readonly Problem[] };

/** Throws one validation_error with every problem: unreadable fields, broken rules, and those the rpc found itself. */
export function validate(method: DescMethod, { message, problems = [] }: Candidate, checked: readonly Reason[]): void {
  const checks = checksOf(method.input);
  if (checks.length === 0 && problems.length === 0 && checked.length === 0) return;
  const targets = requestTargets(method);
  // The first word about a field is the most basic one; what follows from it is noise.
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
  // What an rpc checks over several fields travels where most of its fields do.
  const usual = [...targets.values()].at(-1) ?? 'json';
  for (const reason of checked) add({ ...reason, target: usual });
  const [first] = found.values();
  if (first)
    throw validationFault(
      first.target,
      [...found.values()].map(({ target: _, ...reason }) => reason),
    );
}

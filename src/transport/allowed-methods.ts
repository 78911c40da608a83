/** Refuses a method that its path does not take. */

import { Fault } from '../domain/fault.ts';

/** `allow`: the methods that the path takes. */
export function methodFault(allow: readonly string[]): Fault {
  const methods = allow.join(', ');
  return new Fault('method_not_allowed', `This path takes only ${methods}.`, { headers: { allow: methods } });
}

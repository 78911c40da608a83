/** Refuses a method that its path does not take. */

import { Fault } from '../domain/fault.ts';

/** `allow`: the methods that the path takes. `hint`: a sentence on what was probably meant. */
export function methodFault(allow: readonly string[], hint = ''): Fault {
  const methods = allow.join(', ');
  return new Fault('method_not_allowed', `This path takes only ${methods}.${hint === '' ? '' : ` ${hint}`}`, {
    headers: { allow: methods },
  });
}

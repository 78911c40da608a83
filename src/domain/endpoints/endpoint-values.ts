/** Checks the values of an endpoint whose shape is right. */

import { maskOfSelector, SELECTOR_EXPECTED } from '../events/event-type.ts';
import type { EndpointDeps } from './endpoint-deps.ts';
import { CONTROLS, type ControlName, endpointInvalid } from './endpoint-draft.ts';
import { checkNewUrl } from './url-policy.ts';

/** Throws webhook_endpoint_invalid for a url that the policy refuses. */
export async function requireUrl(
  { urlPolicy, resolve }: Pick<EndpointDeps, 'urlPolicy' | 'resolve'>,
  url: string,
): Promise<void> {
  const refusal = await checkNewUrl(urlPolicy, resolve, url);
  if (refusal !== null) throw endpointInvalid(refusal.message);
}

type Values = Readonly<Record<ControlName, number>> & { readonly enabledEvents: readonly string[] };

/** Throws webhook_endpoint_invalid for the first number out of bounds or unknown selector. */
export function requireValues(values: Values): void {
  const index = values.enabledEvents.findIndex((selector) => maskOfSelector(selector) === null);
  if (index !== -1) {
    throw endpointInvalid(`enabled_events.${index} must be ${SELECTOR_EXPECTED}.`);
  }
  for (const { name, field, min, max } of CONTROLS) {
    if (values[name] < min || values[name] > max) throw endpointInvalid(`${field} must be between ${min} and ${max}.`);
  }
}

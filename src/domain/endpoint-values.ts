/** What the values of an endpoint must be once their shape is right. */

import type { EndpointDeps } from './endpoint-deps.ts';
import { CONTROLS, type ControlName, endpointInvalid } from './endpoint-draft.ts';
import { maskOfSelector } from './event-type.ts';
import { vetUrl } from './url-policy.ts';

/** Throws webhook_endpoint_invalid for a url that nothing may be sent to. */
export async function requireUrl(
  { urlPolicy, resolve }: Pick<EndpointDeps, 'urlPolicy' | 'resolve'>,
  url: string,
): Promise<void> {
  const refusal = await vetUrl(urlPolicy, resolve, url);
  if (refusal !== null) throw endpointInvalid(refusal.message);
}

type Values = Readonly<Record<ControlName, number>> & { readonly enabledEvents: readonly string[] };

/** Throws webhook_endpoint_invalid for the first one that is out of bounds or chooses nothing there is. */
export function requireValues(values: Values): void {
  const index = values.enabledEvents.findIndex((selector) => maskOfSelector(selector) === null);
  if (index !== -1) {
    throw endpointInvalid(
      `enabled_events.${index} is neither a type of event nor a selector such as gateway.request.*.`,
    );
  }
  for (const { name, field, min, max } of CONTROLS) {
    if (values[name] < min || values[name] > max) throw endpointInvalid(`${field} must be between ${min} and ${max}.`);
  }
}

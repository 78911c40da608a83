/** LiteLLM: OpenTelemetry GenAI, with names of its own for costs and guardrails. */

import { createSource } from '../span-view.ts';
import type { Dialect } from './dialect.ts';
import { attribute } from './sources.ts';

const COST = 'litellm.cost.total';
const GUARDRAIL = 'litellm.guardrail.name';

export const LITELLM_SPANS: Dialect = {
  name: 'LiteLLM',
  marks: [COST, GUARDRAIL],
  leads: false,
  type: createSource(`any \`${GUARDRAIL}\` → guardrail`, ({ span: { attributes } }) =>
    attributes.has(GUARDRAIL) ? 'guardrail' : undefined,
  ),
  cost: [attribute(COST)],
  output: [attribute('litellm.guardrail.response')],
};

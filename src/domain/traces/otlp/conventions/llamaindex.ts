/** LlamaIndex as OpenLLMetry instruments it: a retrieval is one of the tasks. */

import { createSource } from '../span-view.ts';
import type { Dialect } from './dialect.ts';

const KIND = 'traceloop.span.kind';
const SCOPE = /instrumentation[-.]llamaindex$/;
const RETRIEVAL = /retriev/i;

export const LLAMAINDEX_SPANS: Dialect = {
  name: 'LlamaIndex',
  marks: [KIND],
  leads: true,
  type: createSource(
    `\`${KIND}\`: \`task\` → rag, where the scope is an instrumentation of LlamaIndex and the name of the span tells of a retrieval`,
    ({ span: { attributes, name, scope } }) =>
      attributes.get(KIND) === 'task' && SCOPE.test(scope.name) && RETRIEVAL.test(name) ? 'rag' : undefined,
  ),
};

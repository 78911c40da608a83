/** LlamaIndex as OpenLLMetry instruments it: a retrieval is one of the tasks. */

import type { Dialect } from './dialect.ts';

const KIND = 'traceloop.span.kind';
const SCOPE = /instrumentation[-.]llamaindex$/;
const RETRIEVAL = /retriev/i;

export const LLAMAINDEX_SPANS: Dialect = {
  name: 'LlamaIndex',
  marks: [KIND],
  leads: true,
  type: ({ attributes, name, scope }) =>
    attributes.get(KIND) === 'task' && SCOPE.test(scope.name) && RETRIEVAL.test(name) ? 'rag' : undefined,
};

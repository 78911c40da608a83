/** Values of filters: message <-> domain values. */

import type {
  ListTraceFacetsRequest,
  SuggestTraceValuesRequest,
  TraceService,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type {
  CountedTraces,
  FacetsRequest,
  TraceFacets,
  ValuesRequest,
} from '../../domain/traces/search/trace-facets.ts';
import type { ValueCount } from '../../domain/traces/search/trace-search-store.ts';
import type { Implementation } from '../method.ts';
import { callOf, toConditions } from './trace-search.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'listTraceFacets' | 'suggestTraceValues'>;

export function createTraceFacetsRpc(facets: TraceFacets): Rpcs {
  return {
    listTraceFacets: {
      check: (request) => facets.listProblems(toFacetsRequest(request)),
      handle: async (request, context) => {
        const listed = await facets.list(toFacetsRequest(request), callOf(context));
        return {
          facets: listed.facets.map(({ name, values }) => ({ name, values: values.map(countMessage) })),
          partial: listed.isPartial ? true : undefined,
        };
      },
    },
    suggestTraceValues: {
      check: (request) => facets.suggestProblems(toValuesRequest(request)),
      handle: async (request, context) => {
        const { values, isPartial } = await facets.suggest(toValuesRequest(request), callOf(context));
        return { values: values.map(countMessage), partial: isPartial ? true : undefined };
      },
    },
  };
}

function countMessage({ value, count, isExact }: ValueCount) {
  return { value, count: BigInt(count), countRelation: isExact ? 'eq' : 'gte' };
}

function toFacetsRequest(request: ListTraceFacetsRequest): FacetsRequest {
  return { ...toCounted(request), names: request.names, limit: request.limit ?? null };
}

function toValuesRequest(request: SuggestTraceValuesRequest): ValuesRequest {
  const { name, key, prefix, limit = null } = request;
  return { ...toCounted(request), name, key, prefix, limit };
}

function toCounted(request: ListTraceFacetsRequest | SuggestTraceValuesRequest): CountedTraces {
  return toConditions({ ...request, traceIds: [] });
}

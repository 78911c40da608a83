/** The tools of the Model Context Protocol, each a curated form of one route of REST, which checks values and permissions. */

import { Fault } from '../../domain/fault.ts';
import type { Steps } from '../../domain/steps.ts';
import { writeJsonInSteps } from '../../json/free-json-steps.ts';
import type { JsonObject } from '../rest/json-object.ts';
import { sliceFrom } from './fitting.ts';
import { idOf, objectOf, offsetOf, rangeOf, segment, sent, type ToolRequest, traceRequest } from './tool-parts.ts';

export type Tool = {
  readonly name: string;
  readonly description: string;
  /** Whether it changes nothing. */
  readonly isRead: boolean;
  readonly properties: { readonly [name: string]: JsonObject };
  readonly required: readonly string[];
  /** The size of a page when the caller names none, and the largest; null: its answer has no pages. */
  readonly page: { readonly size: number; readonly max: number } | null;
  /** `limit` is the size of the page. */
  readonly request: (args: JsonObject, limit: number) => ToolRequest;
  /** The answer for the caller, with `next_cursor` where there is more; by default that of the route. */
  readonly shape?: (answer: JsonObject, args: JsonObject, limit: number) => JsonObject | Steps<JsonObject>;
};

const text = (description: string): JsonObject => ({ type: 'string', description });
const instant = (description: string): JsonObject => ({
  type: ['string', 'integer'],
  description: `${description}; RFC 3339, or milliseconds since the Unix epoch.`,
});
const oneOf = (values: readonly string[], description: string): JsonObject => ({
  type: 'string',
  enum: [...values],
  description,
});
const CURSOR = text('next_cursor of the answer before; leave it out for the first page.');
const limitOf = ({ size, max }: { size: number; max: number }, of: string): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum: max,
  description: `Number of ${of} in a page, 1 to ${max}, default ${size}; fewer come where they would be too long.`,
});

const TRACES = { size: 20, max: 100 };
const SPANS = { size: 50, max: 500 };
const THREADS = { size: 20, max: 100 };
const GROUPS = { size: 50, max: 500 };
const DATASETS = { size: 100, max: 1_000 };
const SPAN_FIELDS = ['input', 'output', 'error', 'contexts', 'params'];

const RANGE = {
  from: instant('Start of the range, included'),
  to: instant('End of the range, included'),
};

export const TOOLS: readonly Tool[] = [
  {
    name: 'search_traces',
    description:
      'Finds traces of the project by text, filters and time, newest first. The format digest is a short text of each trace; get_trace and get_span read more.',
    isRead: true,
    properties: {
      query: text('Text that the name, error, input or output of a span holds.'),
      filters: {
        type: 'object',
        description:
          'Filters that traces match, by name, such as {"traces.error": ["true"], "spans.model": ["gpt-5"], "metadata.user_id": ["ann"]}.',
      },
      start_date: instant('Earliest start of a trace'),
      end_date: instant('Latest start of a trace'),
      sort_by: oneOf(['started_at', 'total_cost', 'total_time_ms', 'first_token_ms'], 'Order; default started_at.'),
      sort_direction: oneOf(['desc', 'asc'], 'Direction of the order; default desc.'),
      format: oneOf(['digest', 'json'], 'Form of each trace; default digest.'),
      limit: limitOf(TRACES, 'traces'),
      cursor: CURSOR,
    },
    required: [],
    page: TRACES,
    request: (args, pageSize) => ({
      ...{ verb: 'POST', path: '/api/traces/search' },
      body: sent({
        query: args.query,
        filters: args.filters,
        startDate: args.start_date,
        endDate: args.end_date,
        sortBy: args.sort_by,
        sortDirection: args.sort_direction,
        format: args.format ?? 'digest',
        scrollId: args.cursor,
        pageSize,
      }),
    }),
    shape: ({ traces = [], pagination = null }) => {
      const { scrollId = null, ...others } = objectOf(pagination);
      return { traces, pagination: others, next_cursor: scrollId };
    },
  },
  {
    name: 'get_trace',
    description: 'Returns a trace with its spans, in pages. Long texts are cut; get_span reads them whole.',
    isRead: true,
    properties: {
      trace_id: text('ID of the trace, or a prefix of at least eight hex digits.'),
      limit: limitOf(SPANS, 'spans'),
      cursor: CURSOR,
    },
    required: ['trace_id'],
    page: SPANS,
    request: ({ trace_id, cursor }, spansLimit) => traceRequest(trace_id, { spansLimit, spansCursor: cursor }),
    shape: ({ spans_next_cursor = null, ascii_tree: _, ...trace }) => ({ ...trace, next_cursor: spans_next_cursor }),
  },
  {
    name: 'get_span',
    description: 'Returns a span of a trace. With a field, returns the whole text of that field in slices.',
    isRead: true,
    properties: {
      trace_id: text('ID of the trace.'),
      span_id: text('ID of the span.'),
      field: oneOf(SPAN_FIELDS, 'Field to read whole.'),
      cursor: CURSOR,
    },
    required: ['trace_id', 'span_id'],
    page: null,
    request: ({ trace_id, span_id }) => traceRequest(trace_id, { spanId: idOf(span_id) }),
    shape: shapeSpan,
  },
  {
    name: 'list_threads',
    description:
      'Lists the threads of a range, which are conversations of several traces, with their first and last turn, cost, errors and scores.',
    isRead: true,
    properties: {
      query: text('Words that a trace of the thread holds, or the beginning of its id.'),
      from: instant('Start of the range, included; default 30 days ago'),
      to: instant('End of the range, included; default now'),
      user_id: text('Only threads of this user.'),
      ...{ customer_id: text('Only threads of this customer.'), label: text('Only threads with this label.') },
      sort_by: oneOf(['last_activity', 'traces', 'total_cost', 'tokens', 'errors'], 'Order; default last_activity.'),
      sort_direction: oneOf(['desc', 'asc'], 'Direction of the order; default desc.'),
      limit: limitOf(THREADS, 'threads'),
      cursor: CURSOR,
    },
    required: [],
    page: THREADS,
    request: ({ from, to, ...args }, limit) => ({
      ...{ verb: 'GET', path: '/api/threads' },
      query: sent({ ...args, ...rangeOf(from, to), limit }),
    }),
  },
  {
    name: 'analytics',
    description:
      'Counts traces, errors, tokens, cost and latencies of a range by time, and by model, user, customer, label, thread or prompt.',
    isRead: true,
    properties: {
      ...RANGE,
      interval: oneOf(['minute', 'hour', 'day', 'week', 'month', 'total'], 'Length of the buckets; default total.'),
      group_by: oneOf(
        ['none', 'model', 'user_id', 'customer_id', 'label', 'thread_id', 'prompt.id', 'prompt.version'],
        'Grouping; default none.',
      ),
      metrics: text('Names of metrics, separated by commas; leave it out for all.'),
      ...{ user_id: text('Only this user.'), customer_id: text('Only this customer.') },
      ...{ thread_id: text('Only this thread.'), label: text('Only this label.'), model: text('Only this model.') },
      ...{ prompt_id: text('Only this prompt.'), prompt_version: text('Only this version, such as greeting:3.') },
      limit: limitOf(GROUPS, 'groups'),
    },
    required: ['from', 'to'],
    page: GROUPS,
    request: ({ from, to, interval, ...args }, limit) => ({
      ...{ verb: 'GET', path: '/api/analytics' },
      query: sent({ ...args, ...rangeOf(from, to), interval: interval ?? 'total', limit }),
    }),
  },
  {
    name: 'spend',
    description:
      'Sums up what requests to models cost in a range, for the whole organization, by project, model, virtual key, person, end user, label or prompt.',
    isRead: true,
    properties: {
      ...RANGE,
      group_by: oneOf(
        ['none', 'project', 'model', 'virtual_key', 'principal', 'end_user', 'label', 'prompt.id', 'prompt.version'],
        'Grouping; default none.',
      ),
      order_by: oneOf(['cost', 'requests'], 'Order of the groups; default cost.'),
      ...{ project_id: text('Only this project.'), model: text('Only this model.'), label: text('Only this label.') },
      limit: limitOf(GROUPS, 'groups'),
      cursor: CURSOR,
    },
    required: ['from', 'to'],
    page: GROUPS,
    request: ({ from, to, ...args }, limit) => ({
      ...{ verb: 'GET', path: '/api/gateway/v1/spend' },
      query: sent({ ...args, ...rangeOf(from, to), limit }),
    }),
  },
  {
    name: 'run_evaluator',
    description:
      'Runs an evaluator on data and returns its score or verdict. With a trace_id the result is stored on that trace. Evaluators with a judge cost money.',
    isRead: false,
    properties: {
      evaluator: text('Slug of a saved evaluator, or a type such as langevals/exact_match.'),
      data: {
        type: 'object',
        description: 'Data to evaluate, such as {"output": "Paris", "expected_output": "Paris"}.',
      },
      settings: { type: 'object', description: 'Settings laid over those of the evaluator.' },
      trace_id: text('ID of the trace to store the result on.'),
      span_id: text('ID of the evaluated span.'),
    },
    required: ['evaluator', 'data'],
    page: null,
    request: ({ evaluator, ...body }) => ({
      ...{ verb: 'POST', path: `/api/evaluations/${segment(evaluator)}/evaluate` },
      body: sent(body),
    }),
  },
  {
    name: 'list_datasets',
    description: 'Lists the datasets of the project, with their columns.',
    isRead: true,
    properties: { limit: limitOf(DATASETS, 'datasets'), cursor: CURSOR },
    required: [],
    page: DATASETS,
    request: () => ({ verb: 'GET', path: '/api/dataset' }),
    shape: ({ data = [] }, { cursor }, limit) => {
      const all = Array.isArray(data) ? data : [];
      const start = offsetOf(cursor);
      const end = start + limit;
      return { datasets: all.slice(start, end), next_cursor: end < all.length ? String(end) : null };
    },
  },
  {
    name: 'get_prompt',
    description: 'Returns a prompt: the newest version, or the one of a tag or number.',
    isRead: true,
    properties: {
      prompt: text(
        'Handle or ID, with a suffix such as :production or :2 where another version than the newest is meant.',
      ),
    },
    required: ['prompt'],
    page: null,
    request: ({ prompt }) => ({ verb: 'GET', path: `/api/prompts/${segment(prompt)}` }),
  },
];

function* shapeSpan({ spans = [] }: JsonObject, { field, cursor }: JsonObject): Steps<JsonObject> {
  const span = objectOf((Array.isArray(spans) ? spans[0] : null) ?? null);
  if (field === undefined) return span;
  if (!SPAN_FIELDS.includes(String(field))) {
    throw new Fault('validation_error', `The field must be one of ${SPAN_FIELDS.join(', ')}.`);
  }
  const value = span[String(field)] ?? null;
  const whole = typeof value === 'string' ? value : yield* writeJsonInSteps(value);
  const start = offsetOf(cursor);
  const slice = sliceFrom(whole, start);
  const end = start + slice.length;
  return { text: slice, next_cursor: end < whole.length ? String(end) : null };
}

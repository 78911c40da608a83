/** What large traces keep of their spans. The database looks at all spans itself, so that only the result comes over. */

import type pg from 'pg';
import type { StoredTrace } from '../../domain/store.ts';
import type { TraceTotals } from '../../domain/trace.ts';
import { MODELS_MAX, type SpanCounts, SUMMED, type TraceAggregates } from '../../domain/trace-aggregates.ts';
import type { TraceState } from '../../domain/trace-growth.ts';
import type { KeepSums } from '../reading/complete-sums.ts';
import { spanTypes } from '../rows/codes.ts';
import type { Lane, Statement } from './connection.ts';
import { SUMMARY_COLUMNS } from './trace-rows.ts';
import type { Written } from './working-set.ts';

/** Whether nothing is to follow what append_batch stores: of almost all batches. */
export function isOneStatement({ traces }: Written): boolean {
  for (const { record } of traces.values()) if (record.aggregatesJson !== null) return false;
  return true;
}

/** In the transaction of a batch, once it is written. */
export async function keepAggregates(client: pg.ClientBase, { traces }: Written): Promise<void> {
  const kept = [...traces.values()].filter(({ record }) => record.aggregatesJson !== null);
  if (kept.length === 0) return;
  const values = [
    kept.map(({ place }) => place.projectNumber),
    kept.map(({ place }) => place.traceId),
    kept.map(({ record }) => record.aggregatesJson),
  ];
  await client.query({ ...KEEP, values });
}

export async function readSums(lane: Lane, { projectNumber, sequence }: StoredTrace): Promise<TraceState> {
  return toState((await lane.ask<SumsRow>(SUMS, [projectNumber, sequence]))[0]);
}

export async function keepSums(lane: Lane, ...[trace, { totals, aggregatesJson }]: Parameters<KeepSums>) {
  const { startedAtMs, finishedAtMs } = totals;
  const durationMs = startedAtMs === null || finishedAtMs === null ? null : finishedAtMs - startedAtMs;
  await lane.ask(KEEP_SUMS, [
    trace.projectNumber,
    trace.traceId,
    trace.sequence,
    trace.aggregatesJson,
    aggregatesJson,
    totals.spanCount,
    startedAtMs,
    durationMs,
    totals.firstTokenMs,
    totals.promptTokens,
    totals.completionTokens,
    totals.reasoningTokens,
    totals.cacheReadInputTokens,
    totals.cacheCreationInputTokens,
    totals.totalCostNanoUsd,
    totals.unpricedSpans,
    totals.tokensEstimated,
    totals.hasError,
  ]);
}

const KEEP: Statement = {
  name: 'keep-aggregates',
  text: `UPDATE traces SET aggregates = given.aggregates
    FROM unnest($1::integer[], $2::text[], $3::text[]) AS given (project_number, trace_id, aggregates)
    WHERE traces.project_number = given.project_number AND traces.trace_id = given.trace_id`,
};

const KEEP_SUMS: Statement = {
  name: 'keep-sums',
  text: `UPDATE traces SET aggregates = $5, span_count = $6, started_at = $7, duration_ms = $8, first_token_ms = $9,
      prompt_tokens = $10, completion_tokens = $11, reasoning_tokens = $12, cache_read_input_tokens = $13,
      cache_creation_input_tokens = $14, total_cost_nano_usd = $15, unpriced_spans = $16, tokens_estimated = $17,
      has_error = $18
    WHERE project_number = $1 AND trace_id = $2 AND sequence = $3 AND aggregates IS NOT DISTINCT FROM $4`,
};

type SumsRow = Omit<TraceTotals, 'totalTimeMs' | 'tokensEstimated' | 'hasError'> & {
  readonly counts: SpanCounts;
  readonly root: (Omit<NonNullable<TraceAggregates['root']>, 'name'> & NameRow) | null;
  readonly models: TraceAggregates['models'] | null;
} & Pick<TraceAggregates, 'lastParentless' | 'firstInput' | 'lastOutput' | 'firstError'>;
type NameRow = { readonly name: string | null; readonly type: number };

function toState(row: SumsRow | undefined): TraceState {
  if (row === undefined) throw new Error('the database answers no row for an aggregate');
  const { counts, root, lastParentless, firstInput, lastOutput, firstError, models, ...sums } = row;
  const { startedAtMs, finishedAtMs } = sums;
  return {
    totals: {
      ...sums,
      totalTimeMs: startedAtMs === null || finishedAtMs === null ? null : Math.max(0, finishedAtMs - startedAtMs),
      tokensEstimated: counts.tokensEstimated > 0,
      hasError: counts.hasError > 0,
    },
    aggregates: {
      counts,
      root: root === null ? null : toRoot(root),
      lastParentless,
      firstInput,
      lastOutput,
      firstError,
      models: models ?? [],
    },
  };
}

function toRoot({ type, name, ...root }: NonNullable<SumsRow['root']>): TraceAggregates['root'] {
  return { ...root, name: name ?? spanTypes.word(type) };
}

const JUDGES = `${spanTypes.code('evaluation')}, ${spanTypes.code('guardrail')}`;
const TOOL = spanTypes.code('tool');
const PLACE = '"startedAtMs", "spanId"';
const FINISHED = '"finishedAtMs" DESC, "startedAtMs", "spanId"';

/** The first span in an order, as JSON of some columns. */
function firstOf(columns: string, rest: string): string {
  return `(SELECT row_to_json(span) FROM (SELECT ${columns} FROM own ${rest} LIMIT 1) AS span)`;
}

/** Of all spans of a trace: the project's number, the sequence. Sums are exact as long as JavaScript can count so far. */
const SUMS: Statement = {
  name: 'sum-up-trace',
  text: `WITH own AS MATERIALIZED (
      SELECT ${SUMMARY_COLUMNS}, parent_id IS NULL OR NOT EXISTS (
          SELECT FROM spans AS parents
          WHERE parents.project_number = $1 AND parents.trace_sequence = $2 AND parents.span_id = spans.parent_id
        ) AS "isParentless"
      FROM spans WHERE project_number = $1 AND trace_sequence = $2
    )
    SELECT count(*)::integer AS "spanCount", min("startedAtMs") AS "startedAtMs", max("finishedAtMs") AS "finishedAtMs",
      min(CASE WHEN "firstTokenAtMs" IS NOT NULL THEN greatest(0, "firstTokenAtMs" - "startedAtMs") END) AS "firstTokenMs",
      ${SUMMED.map((name) => `sum("${name}")::float8 AS "${name === 'costNanoUsd' ? 'totalCostNanoUsd' : name}"`).join(', ')},
      count(*) FILTER (WHERE "costNanoUsd" IS NULL AND greatest("promptTokens", "completionTokens", "reasoningTokens",
        "cacheReadInputTokens", "cacheCreationInputTokens") > 0)::integer AS "unpricedSpans",
      json_build_object(${SUMMED.map((name) => `'${name}', count("${name}")`).join(', ')},
        'tokensEstimated', count(*) FILTER (WHERE "tokensEstimated"),
        'hasError', count(*) FILTER (WHERE "hasError")) AS counts,
      ${firstOf(
        `${PLACE}, "parentId", "isParentless", name, type, "hasInput", "hasError"`,
        `ORDER BY "isParentless" DESC, ${PLACE}`,
      )} AS root,
      ${firstOf(
        `${PLACE}, "finishedAtMs", "parentId", "hasOutput"`,
        `WHERE "isParentless" ORDER BY ${FINISHED}`,
      )} AS "lastParentless",
      ${firstOf(PLACE, `WHERE "hasInput" AND type NOT IN (${JUDGES}) ORDER BY ${PLACE}`)} AS "firstInput",
      ${firstOf(
        `${PLACE}, "finishedAtMs"`,
        `WHERE "hasOutput" AND type NOT IN (${JUDGES}, ${TOOL}) ORDER BY ${FINISHED}`,
      )} AS "lastOutput",
      ${firstOf(PLACE, `WHERE "hasError" ORDER BY ${PLACE}`)} AS "firstError",
      (SELECT json_agg(used) FROM (
        SELECT * FROM (
          SELECT DISTINCT ON (model) model, ${PLACE} FROM own WHERE model IS NOT NULL
          ORDER BY model, "startedAtMs" DESC, "spanId" DESC
        ) AS latest ORDER BY "startedAtMs" DESC, "spanId" DESC LIMIT ${MODELS_MAX}
      ) AS used) AS models
    FROM own`,
};

/** Traces as comma-separated values, for spreadsheets. */

import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Trace } from '../../../../gen/spandrel/v1/traces_pb.js';
import { metadataOf } from '../trace-facts.ts';

type Value = string | number | bigint | undefined;

const COLUMNS: Readonly<Record<string, (trace: Trace) => Value>> = {
  trace_id: ({ traceId }) => traceId,
  started_at: ({ timestamps }) => timestamps?.startedAt && timestampDate(timestamps.startedAt).toISOString(),
  name: ({ name }) => name,
  error: ({ error }) => error?.message,
  input: ({ input }) => input?.value,
  output: ({ output }) => output?.value,
  expected_output: ({ expectedOutput }) => expectedOutput,
  user_id: (trace) => metadataOf(trace).user,
  thread_id: (trace) => metadataOf(trace).thread,
  labels: (trace) => metadataOf(trace).labels.join('; '),
  models: ({ models }) => models.join('; '),
  prompt_tokens: ({ metrics }) => metrics?.promptTokens,
  completion_tokens: ({ metrics }) => metrics?.completionTokens,
  total_cost: ({ metrics }) => metrics?.totalCost,
  first_token_ms: ({ metrics }) => metrics?.firstTokenMs,
  total_time_ms: ({ metrics }) => metrics?.totalTimeMs,
};

/** A spreadsheet would compute a text that begins so, also in full width, or behind white space. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/** RFC 4180, with a line of names. Texts are quoted, so that no other separator divides them. */
export function csvOf(traces: readonly Trace[]): string {
  const lines = traces.map((trace) => Object.values(COLUMNS).map((read) => fieldOf(read(trace))));
  return [Object.keys(COLUMNS), ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}

function fieldOf(value: Value): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

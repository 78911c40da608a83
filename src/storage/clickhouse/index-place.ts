/** The index of traces in ClickHouse (search/index-steps.ts). */

import { type Fault, unavailableFault } from '../../domain/fault.ts';
import { listDurations } from '../analytics/indexed-sums.ts';
import { StartError } from '../errors.ts';
import type { IndexPlace, IndexState } from '../search/index-steps.ts';
import type { IndexedTrace, TextCollector } from '../search/trace-index.ts';
import { type ClickHouse, isRefusal, listOf, toFault } from './client.ts';
import { createTables } from './schema.ts';

export type CollectedText = { readonly text: string; readonly hasAnyText: boolean };

/** A trace with more text is a candidate of every search for a text. */
const TEXT_MAX_LENGTH = 4_194_304;
const BETWEEN = '\n';
/** Of the traces of a step together, which are in memory several times while they are sent. */
const STEP_TEXT_MAX_LENGTH = 16_777_216;

export function collectText(): TextCollector<CollectedText> {
  let text = '';
  let isFull = false;
  return {
    add(each) {
      // Spans often repeat the texts of others.
      if (isFull || text.includes(each)) return;
      isFull = text.length + each.length > TEXT_MAX_LENGTH;
      text = isFull ? '' : text + each + BETWEEN;
    },
    end: () => ({ text, hasAnyText: isFull }),
  };
}

type StateRow = Omit<IndexState, 'sequences'> & { readonly sequences: string; readonly number: number };

export function createIndexPlace(clickHouse: ClickHouse): IndexPlace<CollectedText> {
  let areTablesThere = false;

  async function readRow(): Promise<StateRow | undefined> {
    try {
      if (!areTablesThere) await createTables(clickHouse);
      areTablesThere = true;
      // Fails without the table of traces, too.
      const [row] = await clickHouse.rows<StateRow>(
        `SELECT number, step, previous, sequences, walked_to AS walkedTo, walk_end AS walkEnd FROM state FINAL
         WHERE (SELECT count() FROM traces WHERE false) = 0`,
      );
      return row;
    } catch (error) {
      // Another database, or one that lost its tables.
      areTablesThere = false;
      throw error instanceof StartError ? toFault(error) : error;
    }
  }

  async function storeState({ sequences, ...state }: IndexState, number: number): Promise<void> {
    const { step, previous, walkedTo, walkEnd } = state;
    await clickHouse.insert('state', [
      { id: 1, number, step, previous, sequences: JSON.stringify(sequences), walked_to: walkedTo, walk_end: walkEnd },
    ]);
  }

  return {
    async readState() {
      const row = await readRow();
      if (row === undefined) return null;
      const { step, previous, walkedTo, walkEnd, sequences } = row;
      return { step, previous, walkedTo, walkEnd, sequences: JSON.parse(sequences) };
    },

    async renew(state) {
      const row = await readRow();
      await clickHouse.command('TRUNCATE TABLE traces');
      await storeState(state, (row?.number ?? 0) + 1);
    },

    /**
     * The state comes first, so that a step that was interrupted is repeated, with a higher version; but how far the tables
     * are filled comes last, because until then searches must not rely on it.
     */
    async write(state, found) {
      const before = await readRow();
      // Other tables than those that the step is for.
      if (before?.step !== state.previous && before?.step !== state.step) throw changedMeanwhile();
      const number = before.number + 1;
      const { walkedTo } = before;
      await storeState({ ...state, walkedTo }, number);
      const gone = state.sequences.filter((sequence) => !found.has(sequence));
      if (gone.length > 0) {
        await clickHouse.command(
          `INSERT INTO traces (project_number, inserted_at, sequence, version, is_deleted)
           SELECT project_number, inserted_at, sequence, ${number}, 1 FROM traces FINAL WHERE sequence IN ${listOf(gone)}`,
        );
      }
      await clickHouse.insert(
        'traces',
        [...found.values()].map((trace) => toRow(trace, number)),
      );
      if (state.walkedTo !== walkedTo) await storeState(state, number);
    },
    newText: collectText,
    texts: { lengthOf: ({ text }) => text.length, lengthMax: STEP_TEXT_MAX_LENGTH },
  };
}

function changedMeanwhile(): Fault {
  return unavailableFault('The tables in ClickHouse were replaced meanwhile.', 1);
}

function toRow(trace: IndexedTrace<CollectedText>, version: number): object {
  const { sums, text } = trace;
  const durations = listDurations(sums.models);
  return {
    project_number: trace.projectNumber,
    inserted_at: trace.insertedAtMs,
    sequence: trace.sequence,
    version,
    is_deleted: 0,
    trace_id: trace.traceId,
    started_at: trace.startMs,
    updated_at: trace.updatedAtMs,
    total_time_ms: trace.totalTimeMs,
    total_cost_nano_usd: trace.totalCostNanoUsd,
    total_tokens: trace.totalTokens,
    first_token_ms: trace.firstTokenMs,
    span_count: sums.spanCount,
    has_error: Number(sums.hasError),
    prompt_tokens: sums.promptTokens,
    completion_tokens: sums.completionTokens,
    user_value: sums.user,
    customer_value: sums.customer,
    thread_value: sums.thread,
    labels: sums.labels,
    prompts: sums.prompts?.prompts ?? [],
    prompt_versions: sums.prompts?.versions ?? [],
    prompt_names: sums.prompts?.names ?? [],
    duration_models: durations.map(({ model }) => model),
    duration_kinds: durations.map(({ kind }) => kind),
    duration_values: durations.map(({ value }) => value),
    facets: trace.facets,
    text: text.text,
    has_any_text: Number(text.hasAnyText),
  };
}

const KEY = 'project_number, inserted_at, sequence';
const EVER_REMOVED = 'sequence IN (SELECT sequence FROM traces WHERE is_deleted = 1)';
/** The database may have been put back to the time before a trace was removed: its newest row counts. */
const REMOVED = `SELECT ${KEY} FROM traces WHERE ${EVER_REMOVED} GROUP BY ${KEY} HAVING argMax(is_deleted, version) = 1`;
const HIDDEN = `SELECT ${KEY} FROM traces WHERE is_deleted = 0 AND ${EVER_REMOVED}`;

/**
 * Takes removed traces from the disk: a row that says so only hides the others of its trace, whose texts stay until the engine
 * happens to merge them. Begins to rewrite the parts with such traces, and leaves all others. The rows that hide go a purge
 * later, once they hide nothing: parts are rewritten one by one, and a trace must not come back meanwhile. Returns false, and
 * begins nothing, while the purge before is at work.
 */
export async function purgeRemoved(clickHouse: ClickHouse): Promise<boolean> {
  const [last] = await clickHouse.rows<{ reason: string }>(UNFINISHED).catch(noneIfRefused);
  if (last !== undefined && last.reason !== '') throw new Error(`ClickHouse cannot rewrite its parts: ${last.reason}`);
  if (last !== undefined) return false;
  const [removed] = await clickHouse.rows<{ count: number }>(
    'SELECT toUInt32(count()) AS count FROM traces WHERE is_deleted = 1',
  );
  if (removed === undefined || removed.count === 0) return true;
  await clickHouse.command(`ALTER TABLE traces DELETE WHERE is_deleted = 1 AND (${KEY}) NOT IN (${HIDDEN})`);
  await clickHouse.command(`ALTER TABLE traces DELETE WHERE is_deleted = 0 AND (${KEY}) IN (${REMOVED})`);
  return true;
}

const UNFINISHED = `SELECT latest_fail_reason AS reason FROM system.mutations
  WHERE database = currentDatabase() AND table = 'traces' AND NOT is_done ORDER BY reason DESC LIMIT 1`;

/** A user without the right to read system.mutations purges all the same. */
function noneIfRefused(error: Error): [] {
  if (isRefusal(error)) return [];
  throw error;
}

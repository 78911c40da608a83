/** Writes the index of traces: one process at a time, in steps that are a transaction each. */

import type pg from 'pg';
import type { Known } from '../../search/index-steps.ts';
import { readIndexedTraces } from '../../search/indexed-traces.ts';
import type { IndexWork } from '../../search/indexer.ts';
import type { SearchRunner } from '../../search/search-runner.ts';
import type { IndexedMark, IndexedTrace } from '../../search/trace-index.ts';
import type { RowTypes } from './binary-arrays.ts';
import { isOtherRow, toFault } from './failures.ts';
import { durationCellsOf } from './model-durations.ts';
import type { Pool } from './pool.ts';
import { openQueries } from './statements.ts';
import { createTripleCollectors } from './text-triples.ts';
import { type PipelinedTransaction, runTransaction, whileLocked } from './transaction.ts';

type WriterDeps = {
  /** For the transactions. */
  readonly pool: Pool;
  /** Reads beside them. */
  readonly runner: SearchRunner;
  readonly rowTypes: RowTypes;
};

const TRACES_PER_STEP = 512;
const TRACES_AT_ONCE = 128;
/** A step ends early with traces whose texts take longer to read, or have more triples. */
const READ_MAX_MS = 5_000;
const TRIPLES_MAX = 4_000_000;
const BEGINNING = { projectNumber: 0, traceSequence: 0 };
// Only its holder lists pending traces, so that a mark is removed by who read its trace.
const INDEXER_LOCK = 0x5350_4958;
const TAKE_LOCK = { name: 'index-lock', text: `SELECT pg_try_advisory_xact_lock(${INDEXER_LOCK}) AS "isMine"` };

/** Runs the body unless another process indexes, null where it does. */
export function whileIndexer<T>(client: pg.PoolClient, body: () => Promise<T>): Promise<T | null> {
  return whileLocked(client, INDEXER_LOCK, body);
}

export function createIndexWork({ pool, runner, rowTypes }: WriterDeps): IndexWork {
  const newText = createTripleCollectors();
  const { searchPostgres } = openQueries();
  let position = BEGINNING;
  let durationsPosition = BEGINNING;

  async function listPending() {
    const { runQuery, queries } = runner;
    const isWhole = position === BEGINNING;
    const pending = await runQuery(queries.listAllPending, { ...position, limit: TRACES_PER_STEP });
    const last = pending.length < TRACES_PER_STEP ? undefined : pending.at(-1);
    // Moves on before it indexes, so that traces that fail do not delay the others.
    position = last === undefined ? BEGINNING : { projectNumber: last.projectNumber, traceSequence: last.sequence };
    return { pending, isLast: isWhole && last === undefined };
  }

  /** Traces that a process of an earlier version indexed. The transaction may have emptied the index, and locks it. */
  async function listWithoutDurations({ runQuery }: PipelinedTransaction, pending: readonly IndexedMark[]) {
    const limit = TRACES_PER_STEP - pending.length;
    const found =
      limit === 0 ? [] : await runQuery(searchPostgres.listWithoutDurations, { ...durationsPosition, limit });
    const last = found.length < limit ? undefined : found.at(-1);
    durationsPosition =
      last === undefined ? BEGINNING : { projectNumber: last.projectNumber, traceSequence: last.sequence };
    const known = new Set(pending.map(({ sequence }) => sequence));
    return found.filter(({ sequence }) => !known.has(sequence));
  }

  /** No row is locked meanwhile. */
  async function read(listed: readonly Known[]): Promise<Indexed> {
    const rows: IndexedTrace<Int16Array>[] = [];
    const done: Known[] = [];
    const endsAtMs = runner.nowMs() + READ_MAX_MS;
    let triples = 0;
    for (const some of cutByProject(listed)) {
      const [{ projectNumber } = BEGINNING] = some;
      const sequences = some.map(({ sequence }) => sequence).toSorted((one, other) => one - other);
      for await (const trace of readIndexedTraces(runner, projectNumber, { sequences, newText })) {
        rows.push(trace);
        triples += trace.text.length;
      }
      done.push(...some);
      if (triples > TRIPLES_MAX || runner.nowMs() > endsAtMs) break;
    }
    return { rows, read: done };
  }

  async function indexIn(transaction: PipelinedTransaction): Promise<'more' | 'done'> {
    const { rows: locks } = await transaction.send(TAKE_LOCK);
    if (!locks[0]?.isMine) return 'done';
    if (await takeOver(transaction)) return 'more';
    const { pending, isLast } = await listPending();
    const listed = [...pending, ...(await listWithoutDurations(transaction, pending))];
    const indexed = await read(listed);
    await write(transaction, rowTypes, indexed);
    const wereRead = new Set(indexed.read.map(({ sequence }) => sequence));
    await removeMarks(
      transaction,
      pending.filter(({ sequence }) => wereRead.has(sequence)),
    );
    return isLast && durationsPosition === BEGINNING && indexed.read.length === listed.length ? 'done' : 'more';
  }

  return {
    async indexSome() {
      try {
        return await pool.withConnection((client) => runTransaction(client, indexIn));
      } catch (error) {
        if (isOtherRow(error)) await rowTypes.load();
        throw toFault(error);
      }
    },
    // Every trace is in the index or pending.
    countUnbuilt: async () => 0,
  };
}

/** What is stored in place of a step while traces are marked: up to which sequence they are. */
const MARKING = 'marking ';
const MARKED_AT_ONCE = 10_000;

/**
 * While ClickHouse had the index, changes did not reach this one: every trace is indexed anew. Nothing else waits long: it is
 * emptied in a transaction of its own, and traces are marked some at a time. Returns whether there is more to do.
 */
async function takeOver(transaction: PipelinedTransaction): Promise<boolean> {
  const { searchIndex, searchPostgres } = openQueries();
  const { removeStep, insertStep } = searchPostgres;
  const [stored] = await transaction.runQuery(searchIndex.findStep, {});
  if (stored === undefined) return false;
  await transaction.change(removeStep, {});
  if (!stored.step.startsWith(MARKING)) {
    await transaction.send({ text: 'TRUNCATE indexed_traces, indexed_durations, indexed_model_durations' });
    await transaction.change(insertStep, { step: `${MARKING}0` });
    return true;
  }
  const { rows } = await transaction.send({ text: MARK_SOME, values: [Number(stored.step.slice(MARKING.length))] });
  const { last, count } = rows[0] ?? { last: null, count: 0 };
  if (count === MARKED_AT_ONCE) await transaction.change(insertStep, { step: `${MARKING}${last}` });
  return true;
}

const MARK_SOME = `WITH found AS MATERIALIZED (
    SELECT project_number, sequence FROM traces WHERE sequence > $1 ORDER BY sequence LIMIT ${MARKED_AT_ONCE}),
  marked AS (
    INSERT INTO search_pending AS known (project_number, trace_sequence, mark)
    SELECT project_number, sequence, 1 FROM found ORDER BY project_number, sequence
    ON CONFLICT (project_number, trace_sequence) DO UPDATE SET mark = known.mark + 1)
  SELECT max(sequence) AS last, count(*)::integer AS count FROM found`;

type Indexed = {
  readonly rows: readonly IndexedTrace<Int16Array>[];
  /** The traces of these rows, and those that are gone. */
  readonly read: readonly Known[];
};

async function write(transaction: PipelinedTransaction, rowTypes: RowTypes, { rows, read }: Indexed): Promise<void> {
  const { post, changeRows } = transaction;
  const { replaceIndexed, removeIndexed } = openQueries().searchPostgres;
  if (rows.length > 0) post(replaceIndexed, [rowTypes.encode(replaceIndexed, rows.map(toRow))]);
  const isFound = new Set(rows.map(({ sequence }) => sequence));
  changeRows(
    removeIndexed,
    read.filter(({ sequence }) => !isFound.has(sequence)),
  );
}

/** Only of traces that have not changed since they were listed. */
export async function removeMarks(
  { changeRows, runQuery }: PipelinedTransaction,
  marks: readonly IndexedMark[],
): Promise<void> {
  const { searchIndex } = openQueries();
  // As appends lock them.
  for (const [projectNumber, ofProject] of Map.groupBy(marks, (mark) => mark.projectNumber)) {
    await runQuery(searchIndex.lockPending, { projectNumber, sequences: ofProject.map(({ sequence }) => sequence) });
  }
  changeRows(
    searchIndex.removePending,
    marks.map(({ sequence, ...mark }) => ({ ...mark, traceSequence: sequence })),
  );
}

function cutByProject(listed: readonly Known[]): readonly (readonly Known[])[] {
  return [...Map.groupBy(listed, ({ projectNumber }) => projectNumber).values()].flatMap((traces) =>
    Array.from({ length: Math.ceil(traces.length / TRACES_AT_ONCE) }, (_, part) =>
      traces.slice(part * TRACES_AT_ONCE, (part + 1) * TRACES_AT_ONCE),
    ),
  );
}

function toRow({ sequence, text, ...trace }: IndexedTrace<Int16Array>) {
  const { startMs, facets, sums, ...facts } = trace;
  const { user, customer, thread, prompts, models, ...others } = sums;
  const { durationFacets, ...durations } = durationCellsOf(trace);
  return {
    ...{ ...facts, ...others, ...durations },
    facets: [...facets, ...durationFacets],
    traceSequence: sequence,
    startedAtMs: startMs,
    userValue: user,
    customerValue: customer,
    threadValue: thread,
    promptNames: prompts?.names ?? null,
    prompts: prompts?.prompts ?? null,
    promptVersions: prompts?.versions ?? null,
    triples: text,
  };
}

/** The index of traces in a file beside the database (search/index-steps.ts), and its upkeep. */

import { codeOf } from '../../errors.ts';
import {
  createIndexSteps,
  type IndexPlace,
  type IndexSource,
  type Known,
  type StepDone,
} from '../../search/index-steps.ts';
import type { Database } from './connection.ts';
import { storageFailureOf } from './failures.ts';
import type { Reading } from './readers.ts';
import { createQueryRunner } from './run-query.ts';
import { openSearchFile, readState, removeSearchFile, searchPathOf, storeState } from './search-file.ts';
import { type Merge, prepareMerge } from './search-merges.ts';
import { collectText } from './search-texts.ts';
import { prepareSearchWriter, type SearchWriter } from './search-writer.ts';
import { createYieldWhenDue } from './yield-when-due.ts';

export type SearchSteps = ReturnType<typeof createSearchSteps>;
/** The file, for what reads it. */
export type SearchedFile = Pick<SearchSteps, 'searchedFile' | 'noteFailure'>;
/** The work that the main thread asks for. */
export type SearchWork = Pick<SearchSteps, 'indexSome' | 'countUnbuilt'>;

type Opened = { readonly db: Database; readonly writer: SearchWriter; readonly merge: Merge };

/** A step ends early when its traces are large. */
const STEP = { tracesPerStep: 512, readMaxMs: 1_000 };
/** A step merges for twice as long as the last one wrote: then parts do not pile up. */
const MERGE_SHARE = 2;

export function createSearchSteps(reading: Reading) {
  const nowMs = () => performance.now();
  const source = createIndexSource(reading);
  const place: IndexPlace<string> = {
    readState: async () => readState((await open()).db),
    async renew(state) {
      isBroken = true;
      storeState((await open()).db, state);
      isOwn = true;
    },
    write,
    newText: collectText,
  };
  const steps = createIndexSteps(source, place, STEP);
  let opened: Opened | null = null;
  /** Whether the file is known to be of this database. */
  let isOwn = false;
  let isBroken = false;
  let mergeMs = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function open(): Promise<Opened> {
    const path = searchPathOf(reading.db.name);
    if (isBroken) {
      closeFile();
      removeSearchFile(path);
      isBroken = false;
    }
    if (opened !== null) return opened;
    const step = await source.readStep();
    // Another call may have opened it meanwhile.
    if (opened !== null) return opened;
    const file = openSearchFile(path);
    opened = { db: file, writer: prepareSearchWriter(file), merge: prepareMerge(file) };
    isOwn = step !== null && readState(file)?.step === step;
    return opened;
  }

  function closeFile(): void {
    opened?.db.close();
    opened = null;
    isOwn = false;
  }

  async function indexSome(): Promise<StepDone> {
    const isMerged = await mergeSome();
    const { step, isDone, isOwn: isKnownOwn } = await steps.next();
    isOwn ||= isKnownOwn;
    return { step, isDone: isDone && isMerged };
  }

  /** Returns whether all is merged. */
  async function mergeSome(): Promise<boolean> {
    const { merge } = await open();
    const [yieldWhenDue, endsAtMs] = [createYieldWhenDue(), nowMs() + mergeMs];
    while (merge()) {
      if (nowMs() >= endsAtMs) return false;
      await yieldWhenDue();
    }
    return true;
  }

  /** Replaces the traces of a step in the index, and removes those that were not found. */
  async function write(...[state, found]: Parameters<IndexPlace<string>['write']>): Promise<void> {
    const { db: file, writer } = await open();
    const startedAtMs = nowMs();
    file.exec('BEGIN IMMEDIATE');
    try {
      const yieldWhenDue = createYieldWhenDue(writer.settle);
      for (const sequence of state.sequences.toSorted((one, other) => one - other)) {
        const trace = found.get(sequence);
        if (trace === undefined) writer.remove(sequence);
        else writer.put(trace);
        // Searches see what is not committed yet, but leave these traces out: they are pending until the writer knows.
        await yieldWhenDue();
      }
      writer.end(true);
      storeState(file, state);
      file.exec('COMMIT');
      mergeMs = MERGE_SHARE * (nowMs() - startedAtMs);
    } finally {
      if (file.inTransaction) file.exec('ROLLBACK');
      writer.end(false);
    }
  }

  /** Whether the file is damaged. The next step makes it anew. */
  function noteFailure(error: unknown): boolean {
    isBroken ||= storageFailureOf(error) === 'damage';
    return isBroken;
  }

  /** One job after the other. */
  function run<T>(job: () => Promise<T>): Promise<T> {
    const result = last.then(job).catch((error: unknown) => {
      noteFailure(error);
      throw error;
    });
    last = result.catch(() => undefined);
    return result;
  }

  return {
    indexSome: () => run(indexSome),
    /** How many traces the file lacks because it is new; about. */
    countUnbuilt: () =>
      run(async () => {
        const state = readState((await open()).db);
        return isOwn && state !== null ? state.walkEnd - state.walkedTo : await source.findEnd();
      }),
    /** Null: the index cannot answer. */
    searchedFile: async (): Promise<Database | null> => {
      if (isBroken) return null;
      try {
        const { db: file } = await open();
        const state = isOwn ? readState(file) : null;
        return state !== null && state.walkedTo >= state.walkEnd ? file : null;
      } catch (error) {
        // Without a code it comes from no file.
        if (!noteFailure(error) && codeOf(error) === '') throw error;
        return null;
      }
    },
    noteFailure,
    close: () => run(async () => closeFile()),
  };
}

export function createIndexSource({ db, runRead, queries }: Reading): IndexSource {
  // A trace that is being erased has the negative number of its project.
  const columns = 'sequence, project_number AS projectNumber FROM traces WHERE project_number > 0 AND sequence';
  const step = db.prepare<[], string>('SELECT step FROM search_state').pluck();
  const end = db.prepare<[], number>('SELECT ifnull(max(sequence), 0) FROM traces').pluck();
  const list = db.prepare<[number, number, number], Known>(
    `SELECT ${columns} > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  );
  const find = db.prepare<[string], Known>(`SELECT ${columns} IN (SELECT value FROM json_each(?))`);
  const runner = createQueryRunner(db, runRead, { ...queries.search, ...queries.searchIndex });
  return {
    runner: { ...runner, nowMs: () => performance.now() },
    readStep: () => runRead(() => step.get() ?? null),
    findEnd: () => runRead(() => end.get() ?? 0),
    list: (after, to, limit) => runRead(() => list.all(after, to, limit)),
    find: (sequences) => runRead(() => find.all(JSON.stringify(sequences))),
    countOf: (sequence) => sequence,
  };
}

/**
 * The steps that keep the index up to date. A step changes the index in one transaction; then the writer removes the marks
 * of its traces in another, which also stores the token of the step in the database. The index is what the database says
 * where both have the same token. If the process ends between the two, the index is one step ahead, and the next step
 * repeats that one: the database may be a backup of the time before, with other traces. Otherwise the file is made anew.
 */

import { randomUUID } from 'node:crypto';
import { codeOf } from '../../errors.ts';
import { readIndexedTraces } from '../../search/indexed-traces.ts';
import type { IndexedMark, IndexedTrace } from '../../search/trace-index.ts';
import type { Database } from './connection.ts';
import { storageFailureOf } from './failures.ts';
import type { Reading } from './readers.ts';
import { createQueryRunner } from './run-query.ts';
import { openSearchFile, readState, removeSearchFile, type State, searchPathOf, storeState } from './search-file.ts';
import { type Merge, prepareMerge } from './search-merges.ts';
import { collectText } from './search-texts.ts';
import { prepareSearchWriter, type SearchWriter } from './search-writer.ts';
import { createTurns } from './turns.ts';

/** What the writer stores once the index has a step. */
export type IndexStep = { readonly step: string; readonly marks: readonly IndexedMark[] };

/** The step is null where there was nothing to do. `isDone`: too little is left to be worth another step. */
export type StepDone = { readonly step: IndexStep | null; readonly isDone: boolean };

export type SearchSteps = ReturnType<typeof createSearchSteps>;
/** The file, for what reads it. */
export type SearchedFile = Pick<SearchSteps, 'searchedFile' | 'noteFailure'>;
/** The work that the main thread asks for. */
export type SearchWork = Pick<SearchSteps, 'indexSome' | 'countUnbuilt'>;

type Known = { readonly projectNumber: number; readonly sequence: number };
type Opened = { readonly db: Database; readonly writer: SearchWriter; readonly merge: Merge };

const TRACES_PER_STEP = 512;
const READ_AT_ONCE = 128;
/** A step ends early when its traces are large. */
const READ_MAX_MS = 1_000;
/** A step merges for twice as long as the last one wrote: then parts do not pile up. */
const MERGE_SHARE = 2;
const START: Known = { projectNumber: 0, sequence: 0 };

export function createSearchSteps({ db, runRead, queries }: Reading) {
  const nowMs = () => performance.now();
  const runner = { ...createQueryRunner(db, runRead, { ...queries.search, ...queries.searchIndex }), nowMs };
  const main = prepareMain(db);
  let opened: Opened | null = null;
  /** Whether the file is known to be of this database. */
  let isOwn = false;
  let isBroken = false;
  let position = START;
  let mergeMs = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function open(): Promise<Opened> {
    const path = searchPathOf(db.name);
    if (isBroken) {
      closeFile();
      removeSearchFile(path);
      isBroken = false;
    }
    if (opened !== null) return opened;
    const step = await runRead(main.readStep);
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
    const { step, isDone } = await indexNext();
    return { step, isDone: isDone && isMerged };
  }

  /** Returns whether all is merged. */
  async function mergeSome(): Promise<boolean> {
    const { merge } = await open();
    const [turns, endsAtMs] = [createTurns(), nowMs() + mergeMs];
    while (merge()) {
      if (nowMs() >= endsAtMs) return false;
      await turns.next();
    }
    return true;
  }

  async function indexNext(): Promise<StepDone> {
    const { db: file } = await open();
    const [state, step] = [readState(file), await runRead(main.readStep)];
    if (state === null || step === null || (state.step !== step && state.previous !== step)) return await renew();
    if (state.step === step) return await goOn(state);
    const { found } = await read(await runRead(() => main.find(state.sequences)), Number.POSITIVE_INFINITY);
    await write(state, found);
    return { step: { step: state.step, marks: [] }, isDone: false };
  }

  async function renew(): Promise<StepDone> {
    isBroken = true;
    const { db: file } = await open();
    const step = randomUUID();
    const walkEnd = await runRead(main.findEnd);
    storeState(file, { step, previous: null, sequences: [], walkedTo: 0, walkEnd });
    isOwn = true;
    return { step: { step, marks: [] }, isDone: false };
  }

  /** Indexes some of the pending traces, and then some of those that the file lacks because it is new. */
  async function goOn({ step: previous, walkedTo, walkEnd }: State): Promise<StepDone> {
    isOwn = true;
    const marked = await listPending();
    // What the walk has still to reach needs no other step: until then the file is not searched.
    const isAhead = ({ sequence }: Known) => sequence > walkedTo && sequence <= walkEnd;
    const pending = marked.filter((each) => !isAhead(each));
    const limit = TRACES_PER_STEP - pending.length;
    const walked = walkedTo < walkEnd ? await runRead(() => main.list(walkedTo, walkEnd, limit)) : [];
    const listed = [...pending, ...walked];
    const { found, count } = await read(listed, READ_MAX_MS);
    const isCut = count < listed.length;
    const isWalked = !isCut && walked.length < limit;
    const isDone = isWalked && marked.length < TRACES_PER_STEP;
    if (listed.length === 0 && walkedTo === walkEnd) return { step: null, isDone };
    const step = randomUUID();
    const sequences = [...new Set(listed.slice(0, count).map(({ sequence }) => sequence))];
    const lastWalked = listed.slice(pending.length, count).at(-1)?.sequence ?? walkedTo;
    await write({ step, previous, sequences, walkedTo: isWalked ? walkEnd : lastWalked, walkEnd }, found);
    return { step: { step, marks: [...pending.slice(0, count), ...marked.filter(isAhead)] }, isDone };
  }

  async function listPending(): Promise<readonly IndexedMark[]> {
    const list = async ({ projectNumber, sequence: traceSequence }: Known, limit: number) =>
      await runner.runQuery(runner.queries.listAllPending, { projectNumber, traceSequence, limit });
    const behind = await list(position, TRACES_PER_STEP);
    const left = TRACES_PER_STEP - behind.length;
    const known = new Set(behind.map(({ sequence }) => sequence));
    const before = left > 0 && position !== START ? await list(START, left) : [];
    const pending = [...behind, ...before.filter(({ sequence }) => !known.has(sequence))];
    // Traces that change all the time must not keep others waiting.
    position = pending.at(-1) ?? START;
    return pending;
  }

  /** Reads traces in their order, and says how many of those listed it got to. */
  async function read(listed: readonly Known[], maxMs: number) {
    const found = new Map<number, IndexedTrace<string>>();
    const endsAtMs = nowMs() + maxMs;
    let count = 0;
    while (count < listed.length && (count === 0 || nowMs() < endsAtMs)) {
      const some = listed.slice(count, count + READ_AT_ONCE);
      for (const [projectNumber, of] of Map.groupBy(some, (each) => each.projectNumber)) {
        const sequences = of.map(({ sequence }) => sequence);
        const traces = await readIndexedTraces(runner, projectNumber, { sequences, newText: collectText });
        for (const trace of traces) found.set(trace.sequence, trace);
      }
      count += some.length;
    }
    return { found, count };
  }

  /** Replaces the traces of a step in the index, and removes those that were not found. */
  async function write(state: State, found: ReadonlyMap<number, IndexedTrace<string>>): Promise<void> {
    const { db: file, writer } = await open();
    const startedAtMs = nowMs();
    file.exec('BEGIN IMMEDIATE');
    try {
      const turns = createTurns();
      for (const sequence of state.sequences.toSorted((one, other) => one - other)) {
        const trace = found.get(sequence);
        if (trace === undefined) writer.remove(sequence);
        else writer.put(trace);
        // Searches see what is not committed yet, but leave these traces out: they are pending until the writer knows.
        await turns.next();
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
        return isOwn && state !== null ? state.walkEnd - state.walkedTo : await runRead(main.findEnd);
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

/** What a step reads of the database itself. */
function prepareMain(db: Database) {
  const columns = 'sequence, project_number AS projectNumber FROM traces WHERE sequence';
  const step = db.prepare<[], string>('SELECT step FROM search_state').pluck();
  const end = db.prepare<[], number>('SELECT ifnull(max(sequence), 0) FROM traces').pluck();
  const list = db.prepare<[number, number, number], Known>(
    `SELECT ${columns} > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  );
  const find = db.prepare<[string], Known>(`SELECT ${columns} IN (SELECT value FROM json_each(?))`);
  return {
    readStep: () => step.get() ?? null,
    findEnd: () => end.get() ?? 0,
    list: (after: number, to: number, limit: number) => list.all(after, to, limit),
    find: (sequences: readonly number[]) => find.all(JSON.stringify(sequences)),
  };
}

/**
 * The steps that keep the index of traces up to date, wherever it lies. A step changes the index at once; then the marks of
 * its traces are removed from the database in a transaction, which also stores the token of the step there. The index is what
 * the database says where both have the same token. If the process ends between the two, the index is one step ahead, and the
 * next step repeats that one: the database may be a backup of the time before, with other traces. Otherwise the index is made
 * anew.
 */

import { randomUUID } from 'node:crypto';
import { readIndexedTraces } from './indexed-traces.ts';
import type { SearchRunner } from './search-runner.ts';
import type { IndexedMark, IndexedTrace, TextCollector } from './trace-index.ts';

/** What the database stores once the index has a step. */
export type IndexStep = { readonly step: string; readonly marks: readonly IndexedMark[] };

/** The step is null where there was nothing to do. `isDone`: too little is left to be worth another step. */
export type StepDone = { readonly step: IndexStep | null; readonly isDone: boolean };

/** `isOwn`: the index is known to be of this database. */
type Stepped = StepDone & { readonly isOwn: boolean };

export type IndexState = {
  readonly step: string;
  /** Null: the index is new. */
  readonly previous: string | null;
  /** Of the traces that the step changed. */
  readonly sequences: readonly number[];
  /** While the index is built: up to which sequence it has all traces, and up to which it must have them. */
  readonly walkedTo: number;
  readonly walkEnd: number;
};

/** Where the index lies. */
export type IndexPlace<Text> = {
  /** Null: nothing was indexed yet. */
  readState(): Promise<IndexState | null>;
  /** Empties the index. */
  renew(state: IndexState): Promise<void>;
  /** Replaces the traces of a step, and removes those that were not found. */
  write(state: IndexState, found: ReadonlyMap<number, IndexedTrace<Text>>): Promise<void>;
  readonly newText: () => TextCollector<Text>;
};

export type Known = { readonly projectNumber: number; readonly sequence: number };

/** The database that is indexed. */
export type IndexSource = {
  readonly runner: SearchRunner;
  readStep(): Promise<string | null>;
  /** The highest sequence of a trace, 0 without one. */
  findEnd(): Promise<number>;
  /** By ascending sequence. */
  list(after: number, to: number, limit: number): Promise<readonly Known[]>;
  find(sequences: readonly number[]): Promise<readonly Known[]>;
};

export type IndexSizes = { readonly tracesPerStep: number; readonly readMaxMs: number };

const READ_AT_ONCE = 128;
const START: Known = { projectNumber: 0, sequence: 0 };

export function createIndexSteps<Text>(
  source: IndexSource,
  place: IndexPlace<Text>,
  { tracesPerStep, readMaxMs }: IndexSizes,
) {
  const { runner } = source;
  let position = START;

  async function next(): Promise<Stepped> {
    const [state, step] = [await place.readState(), await source.readStep()];
    if (state === null || step === null || (state.step !== step && state.previous !== step))
      return { ...(await renew()), isOwn: true };
    if (state.step === step) return { ...(await goOn(state)), isOwn: true };
    const { found } = await read(await source.find(state.sequences), Number.POSITIVE_INFINITY);
    await place.write(state, found);
    return { step: { step: state.step, marks: [] }, isDone: false, isOwn: false };
  }

  async function renew(): Promise<StepDone> {
    const step = randomUUID();
    const walkEnd = await source.findEnd();
    await place.renew({ step, previous: null, sequences: [], walkedTo: 0, walkEnd });
    return { step: { step, marks: [] }, isDone: false };
  }

  /** Indexes some of the pending traces, and then some of those that the index lacks because it is new. */
  async function goOn({ step: previous, walkedTo, walkEnd }: IndexState): Promise<StepDone> {
    const marked = await listPending();
    // What the walk has still to reach needs no other step: until then the file is not searched.
    const isAhead = ({ sequence }: Known) => sequence > walkedTo && sequence <= walkEnd;
    const pending = marked.filter((each) => !isAhead(each));
    const limit = tracesPerStep - pending.length;
    const walked = walkedTo < walkEnd ? await source.list(walkedTo, walkEnd, limit) : [];
    const listed = [...pending, ...walked];
    const { found, count } = await read(listed, readMaxMs);
    const isCut = count < listed.length;
    const isWalked = !isCut && walked.length < limit;
    const isDone = isWalked && marked.length < tracesPerStep;
    if (listed.length === 0 && walkedTo === walkEnd) return { step: null, isDone };
    const step = randomUUID();
    const sequences = [...new Set(listed.slice(0, count).map(({ sequence }) => sequence))];
    const lastWalked = listed.slice(pending.length, count).at(-1)?.sequence ?? walkedTo;
    await place.write({ step, previous, sequences, walkedTo: isWalked ? walkEnd : lastWalked, walkEnd }, found);
    return { step: { step, marks: [...pending.slice(0, count), ...marked.filter(isAhead)] }, isDone };
  }

  async function listPending(): Promise<readonly IndexedMark[]> {
    const list = async ({ projectNumber, sequence: traceSequence }: Known, limit: number) =>
      await runner.runQuery(runner.queries.listAllPending, { projectNumber, traceSequence, limit });
    const behind = await list(position, tracesPerStep);
    const left = tracesPerStep - behind.length;
    const known = new Set(behind.map(({ sequence }) => sequence));
    const before = left > 0 && position !== START ? await list(START, left) : [];
    const pending = [...behind, ...before.filter(({ sequence }) => !known.has(sequence))];
    // Traces that change all the time must not keep others waiting.
    position = pending.at(-1) ?? START;
    return pending;
  }

  /** Reads traces in their order, and says how many of those listed it got to. */
  async function read(listed: readonly Known[], maxMs: number) {
    const found = new Map<number, IndexedTrace<Text>>();
    const endsAtMs = runner.nowMs() + maxMs;
    let count = 0;
    while (count < listed.length && (count === 0 || runner.nowMs() < endsAtMs)) {
      const some = listed.slice(count, count + READ_AT_ONCE);
      for (const [projectNumber, of] of Map.groupBy(some, (each) => each.projectNumber)) {
        const sequences = of.map(({ sequence }) => sequence);
        const traces = await readIndexedTraces(runner, projectNumber, { sequences, newText: place.newText });
        for (const trace of traces) found.set(trace.sequence, trace);
      }
      count += some.length;
    }
    return { found, count };
  }

  return {
    /** Indexes some. */
    next,
  };
}

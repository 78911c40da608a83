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
  /** How much text the traces of a step may have before it ends; one trace may have more. */
  readonly texts?: { readonly lengthOf: (text: Text) => number; readonly lengthMax: number };
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
  /** About how many traces have this sequence or a lower one, expired ones included. */
  countOf(sequence: number): number;
};

export type IndexSizes = { readonly tracesPerStep: number; readonly readMaxMs: number };

type ReadMax = { readonly ms: number; readonly textLength: number };

const READ_AT_ONCE = 128;
/** A step that is repeated was ended by its limits before. */
const WHOLE: ReadMax = { ms: Number.POSITIVE_INFINITY, textLength: Number.POSITIVE_INFINITY };
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
    const { found } = await read(await source.find(state.sequences), WHOLE);
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
    const max = { ms: readMaxMs, textLength: place.texts?.lengthMax ?? Number.POSITIVE_INFINITY };
    const { found, settled } = await read(listed, max);
    const isSettled = ({ sequence }: Known) => settled.has(sequence);
    const isCut = !listed.every(isSettled);
    const isWalked = !isCut && walked.length < limit;
    const isDone = isWalked && marked.length < tracesPerStep;
    if (listed.length === 0 && walkedTo === walkEnd) return { step: null, isDone };
    const step = randomUUID();
    const leftAt = walked.findIndex((each) => !isSettled(each));
    const reached = walked.slice(0, leftAt < 0 ? undefined : leftAt).at(-1)?.sequence ?? walkedTo;
    const sequences = [...settled];
    await place.write({ step, previous, sequences, walkedTo: isWalked ? walkEnd : reached, walkEnd }, found);
    return { step: { step, marks: [...pending.filter(isSettled), ...marked.filter(isAhead)] }, isDone };
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

  /** Reads at least one of the traces. `settled` are those that were read, or are not there any more. */
  async function read(listed: readonly Known[], max: ReadMax) {
    const found = new Map<number, IndexedTrace<Text>>();
    const settled = new Set<number>();
    const endsAtMs = runner.nowMs() + max.ms;
    let textLength = 0;
    for (let start = 0; start < listed.length; start += READ_AT_ONCE) {
      if (start > 0 && runner.nowMs() >= endsAtMs) break;
      const some = listed.slice(start, start + READ_AT_ONCE);
      for (const [projectNumber, of] of Map.groupBy(some, (each) => each.projectNumber)) {
        const sequences = of.map(({ sequence }) => sequence).toSorted((one, other) => one - other);
        for await (const trace of readIndexedTraces(runner, projectNumber, { sequences, newText: place.newText })) {
          found.set(trace.sequence, trace);
          textLength += place.texts?.lengthOf(trace.text) ?? 0;
          if (textLength < max.textLength) continue;
          for (const sequence of sequences) if (sequence <= trace.sequence) settled.add(sequence);
          return { found, settled };
        }
        for (const sequence of sequences) settled.add(sequence);
      }
    }
    return { found, settled };
  }

  return {
    /** Indexes some. */
    next,
  };
}

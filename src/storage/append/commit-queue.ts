/** Collects appends during a commit, so that the next commit stores all of them. */

import type { RequestContent } from '../../domain/events/request-content.ts';
import { unavailableFault } from '../../domain/fault.ts';
import type { TraceAppend, TraceAppended } from '../../domain/traces/trace.ts';
import { type Append, type AppendOutcome, isReport, type Report, type Reported, WITHOUT_NOTES } from './apply.ts';

// Keeps transactions short, even when every append is as large as it may be.
const BATCH_MAX_APPENDS = 512;
const BATCH_MAX_BYTES = 8 * 1024 * 1024;
const ROW_BYTES = 512;
const UNDER_WAY_MAX = 2;
const RETRY_AFTER_SECONDS = 1;

type CommitQueueDeps = {
  /** Stores the first appends at least, and returns the outcomes of those it has stored. */
  readonly commit: (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>;
  /** The most bytes that may be queued. */
  readonly queueMaxBytes: number;
  /** So many bytes must wait for a second batch to leave while one is under way. */
  readonly besideBytesMin: number;
};

type Done = Exclude<AppendOutcome, Error>;

type Waiting = {
  readonly append: Append;
  readonly bytes: number;
  readonly resolve: (done: Done) => void;
  readonly reject: (error: unknown) => void;
};

export function createCommitQueue({ commit, queueMaxBytes, besideBytesMin }: CommitQueueDeps) {
  let waiting: Waiting[] = [];
  let queuedBytes = 0;
  let underWayBytes = 0;
  let underWay = 0;
  let isScheduled = false;
  let drained: PromiseWithResolvers<void> | null = null;

  function add(item: Append): Promise<Done> {
    const bytes = isReport(item) ? estimateReport(item) : estimateTrace(item);
    // An append larger than the whole queue is accepted when it is alone.
    if (queuedBytes > 0 && queuedBytes + bytes > queueMaxBytes) {
      return Promise.reject(unavailableFault('Too much is waiting to be stored; try again.', RETRY_AFTER_SECONDS));
    }
    queuedBytes += bytes;
    return new Promise((resolve, reject) => {
      waiting.push({ append: item, bytes, resolve, reject });
      schedule();
    });
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || underWay === UNDER_WAY_MAX) return;
    if (underWay > 0 && queuedBytes - underWayBytes < besideBytesMin) return;
    isScheduled = true;
    // Appends of the same turn of the event loop join the batch.
    setImmediate(() => {
      isScheduled = false;
      void send(takeBatch());
    });
  }

  function takeBatch(): Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const item of waiting) {
      bytes += item.bytes;
      if (count > 0 && (bytes > BATCH_MAX_BYTES || count >= BATCH_MAX_APPENDS)) break;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    const bytes = bytesOf(batch);
    underWay += 1;
    underWayBytes += bytes;
    let rest: readonly Waiting[] = [];
    try {
      const outcomes = await commit(batch.map((item) => item.append));
      if (outcomes.length === 0) throw new Error('no outcome for a batch');
      for (const [index, outcome] of outcomes.entries()) settle(batch[index], outcome);
      rest = batch.slice(outcomes.length);
    } catch (error) {
      for (const item of batch) item.reject(error);
    }
    underWay -= 1;
    underWayBytes -= bytes;
    queuedBytes -= bytes - bytesOf(rest);
    if (rest.length > 0) waiting = afterOthers([...rest, ...waiting], batch.slice(0, -rest.length));
    schedule();
    if (isBusy()) return;
    drained?.resolve();
    drained = null;
  }

  /** Whether any append is queued or under way. */
  function isBusy(): boolean {
    return underWay > 0 || waiting.length > 0;
  }

  return {
    /** Resolves when the append is durable. Rejects with the unavailable Fault when too much is waiting. */
    append: async (item: TraceAppend) => toAppended(await add(item)),
    /** The same for a report. */
    report: async <R extends Report>(item: R) => toReported<R>(await add(item)),
    isBusy,
    /** Resolves when the queue is empty. */
    async drain(): Promise<void> {
      if (!isBusy()) return;
      drained ??= Promise.withResolvers<void>();
      await drained.promise;
    },
  };
}

/** What a project has to store that loads much comes after all that other projects wait for, but not after later cuts. */
function afterOthers(waiting: readonly Waiting[], stored: readonly Waiting[]): Waiting[] {
  const projects = new Set(stored.map(projectOf));
  const { true: ofProjects = [], false: others = [] } = Object.groupBy(
    waiting,
    (item) => `${projects.has(projectOf(item))}`,
  );
  return [...others, ...ofProjects];
}

/** Undefined for reports that are of no project. */
function projectOf({ append }: Waiting): number | undefined {
  return 'projectNumber' in append ? append.projectNumber : undefined;
}

function bytesOf(items: readonly Waiting[]): number {
  return items.reduce((sum, item) => sum + item.bytes, 0);
}

function settle(item: Waiting | undefined, outcome: AppendOutcome): void {
  if (outcome instanceof Error) item?.reject(outcome);
  else item?.resolve(outcome);
}

function toAppended(done: Done): TraceAppended {
  if (done === null) return WITHOUT_NOTES;
  if ('reported' in done) throw new Error('outcome kind mismatch: the writer returned that of a report for a trace');
  return done;
}

function toReported<R extends Report>(done: Done): Reported[R['kind']] {
  if (done === null || !('reported' in done))
    throw new Error('outcome kind mismatch: the writer returned that of a trace for a report');
  // The outcome has the kind of the report.
  return done.reported as Reported[R['kind']];
}

/** A cheap estimate of the memory that a report holds until its commit. */
function estimateReport(report: Report): number {
  if (report.kind === 'settlement') return report.countMax * ROW_BYTES;
  if (report.kind === 'repricing') {
    return report.traces.reduce((bytes, { prices }) => bytes + ROW_BYTES * (1 + prices.length), 0);
  }
  if (report.kind === 'mending') return ROW_BYTES * report.calls.length;
  if (report.kind === 'measuring') {
    return report.traces.reduce((bytes, { spans }) => bytes + ROW_BYTES * (1 + spans.length), 0);
  }
  if (report.kind === 'evaluation')
    return report.outcome.kind === 'store' ? estimateTrace(report.outcome.append) : ROW_BYTES;
  if (report.kind === 'admission') return estimateContent(report.content) + ROW_BYTES * report.amounts.length;
  if (report.kind === 'outcome') {
    return estimateReport(report.report) + (report.trace === null ? 0 : estimateTrace(report.trace));
  }
  if (report.kind === 'renewal') return ROW_BYTES * (1 + report.requests.length);
  let bytes = ROW_BYTES;
  if (report.kind === 'requests') {
    for (const { content } of report.records) bytes += estimateContent(content);
  } else {
    for (const { dataJson } of report.events) bytes += ROW_BYTES + dataJson.length;
  }
  return bytes;
}

function estimateContent({ labelsJson, metadataJson }: RequestContent): number {
  return ROW_BYTES + labelsJson.length + metadataJson.length;
}

function estimateTrace({ metadataJson, expectedOutput, spans, evaluations }: TraceAppend): number {
  let bytes = ROW_BYTES + lengthOf(metadataJson) + lengthOf(expectedOutput ?? null);
  for (const span of spans) {
    bytes += ROW_BYTES + lengthOf(span.inputJson) + lengthOf(span.outputJson) + lengthOf(span.paramsJson);
    bytes += lengthOf(span.errorJson) + lengthOf(span.contextsJson) + lengthOf(span.otherMetricsJson);
    bytes += lengthOf(span.telemetryJson);
  }
  for (const evaluation of evaluations) {
    bytes +=
      ROW_BYTES + lengthOf(evaluation.details) + lengthOf(evaluation.inputsJson) + lengthOf(evaluation.errorJson);
  }
  return bytes;
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : text.length;
}

/**
 * Serves the calls of thread-calls.ts in a worker thread. The writer has the handle that writes, so that a large commit
 * never delays other work of the process. Long reads have another thread, so that the one that accepts traces never waits
 * for them.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { Fault } from '../../../domain/fault.ts';
import { runWithoutPauses } from '../../../domain/steps.ts';
import { StartError, toError } from '../../errors.ts';
import { openWaitingReadHandle, type RunRead } from './connection.ts';
import { describeFailure, storageFailureOf } from './failures.ts';
import { LockLostError, requireLock } from './lock.ts';
import { bindQueries } from './queries.ts';
import { type Call, CLOSE, type Reply, type ThreadInput } from './thread-calls.ts';

if (parentPort === null) throw new Error('calls are served in a worker thread');
const port = parentPort;

const input = workerData as ThreadInput;

// Each thread loads only its own code, which costs memory.
await (input.thread === 'writer' ? serveWriter(input) : serveReader(input));

async function serveWriter({ file, jobQueue, lockFile }: ThreadInput): Promise<void> {
  const [{ openCore }, { compileStatements }] = await Promise.all([import('./core.ts'), import('./statements.ts')]);
  const check = lockFile === null ? undefined : () => requireLock(lockFile);
  try {
    const { core } = openCore({ file, clock: Date.now, jobQueue, requireLock: check });
    serveCalls(core.verbs, core.close);
    reply({ kind: 'ready', verbs: Object.keys(core.verbs), statements: compileStatements() });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    reply({ kind: 'refused', message: error.message });
  }
}

async function serveReader({ file, statements, telemetryUrl }: ThreadInput): Promise<void> {
  if (statements === null) throw new Error('a thread that reads is given its statements');
  const [{ createReads, createTraceReader }, { openIndex }, { keepFilters }] = await Promise.all([
    import('./readers.ts'),
    import('./index-engine.ts'),
    import('./kept-filters.ts'),
  ]);
  const db = openWaitingReadHandle(file);
  // Errors are translated below, where their codes are still known.
  const readHere: RunRead = async (read) => read();
  const reading = { db, runRead: readHere, queries: bindQueries(statements) };
  const reads = createTraceReader(reading, async (steps) => runWithoutPauses(steps));
  const index = await openIndex(reading, telemetryUrl);
  const { indexSome, countUnbuilt } = index;
  const sums = createReads(reading, index.reads);
  serveCalls({ ...reads, ...sums, match: keepFilters(sums.match), indexSome, countUnbuilt }, async () => {
    await index.close();
    db.close();
  });
}

function serveCalls(verbs: object, close: () => void | Promise<void>): void {
  // The caller uses the types of the same verbs.
  const serving = verbs as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

  async function answer({ id, verb, args }: Call): Promise<void> {
    try {
      reply({ kind: 'done', id, value: await serving[verb]?.(...args) });
    } catch (thrown) {
      // All that this thread has cached may be wrong: the next one reads it again, once it has the lock.
      if (thrown instanceof LockLostError) setImmediate(() => raise(thrown));
      const error = toError(thrown);
      const failure = error instanceof LockLostError || isUnavailable(error) ? 'passing' : storageFailureOf(error);
      if (failure !== null) error.message = describeFailure(error, input.file);
      reply({ kind: 'failed', id, failure, error });
    }
  }

  async function end(): Promise<void> {
    await close();
    // Without the port the thread ends.
    port.close();
  }

  port.on('message', (message: Call | typeof CLOSE) => void (message === CLOSE ? end() : answer(message)));
}

/** Another database that the thread asks is away. */
function isUnavailable(error: Error): boolean {
  return error instanceof Fault && error.kind === 'unavailable';
}

function raise(error: Error): never {
  throw error;
}

function reply(reply: Reply): void {
  port.postMessage(reply);
}

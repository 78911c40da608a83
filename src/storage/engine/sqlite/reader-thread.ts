/** The thread for reads that may take long: whatever they look at, the thread that takes in traces goes on. */

import { parentPort, workerData } from 'node:worker_threads';
import { runAtOnce } from '../../../domain/steps.ts';
import { openReadHandle, type ReadLane } from './connection.ts';
import { isStorageFailure } from './failures.ts';
import { CLOSE, type ReadCall, type ReaderThreadInput, type ReadReply } from './thread-messages.ts';
import { prepareTraceReader } from './trace-reader.ts';

if (parentPort === null) throw new Error('the reader runs in a worker thread');
const port = parentPort;
const { file } = workerData as ReaderThreadInput;

const db = openReadHandle(file);
// Errors get their meaning where codes are still known: in answer.
const readHere: ReadLane = async (read) => read();
const reader = prepareTraceReader(db, readHere, async (steps) => runAtOnce(steps));

port.on('message', (message: ReadCall | typeof CLOSE) => {
  if (message !== CLOSE) {
    void answer(message);
    return;
  }
  db.close();
  // Nothing keeps the thread alive any more.
  port.close();
});

async function answer({ id, verb, args }: ReadCall): Promise<void> {
  // The other side calls with the types of the very same table.
  const run = reader[verb] as (...args: readonly unknown[]) => Promise<unknown>;
  try {
    tell({ kind: 'done', id, value: await run(...args) });
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    tell({ kind: 'failed', id, isStorageFailure: isStorageFailure(error), error });
  }
}

function tell(reply: ReadReply): void {
  port.postMessage(reply);
}

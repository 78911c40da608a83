/** The thread that holds the write handle, so that a large commit never delays accepting, refusing or answering others. */

import { parentPort, workerData } from 'node:worker_threads';
import { StartError } from '../../start-error.ts';
import { type Core, openCore } from './core.ts';
import { isStorageFailure } from './failures.ts';
import { type Call, CLOSE, type Reply, type WriterThreadInput } from './thread-messages.ts';

if (parentPort === null) throw new Error('the writer runs in a worker thread');
const port = parentPort;
const { file } = workerData as WriterThreadInput;

try {
  const { core } = openCore({ file, clock: Date.now });
  port.on('message', (message: Call | typeof CLOSE) => {
    if (message === CLOSE) void close(core);
    else void answer(core, message);
  });
  tell({ kind: 'ready' });
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  tell({ kind: 'refused', message: error.message });
}

function tell(reply: Reply): void {
  port.postMessage(reply);
}

async function answer(core: Core, { id, verb, args }: Call): Promise<void> {
  // The other side calls with the types of the very same table.
  const run = core.verbs[verb] as (...args: readonly unknown[]) => Promise<unknown>;
  try {
    tell({ kind: 'done', id, value: await run(...args) });
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    tell({ kind: 'failed', id, isStorageFailure: isStorageFailure(error), error });
  }
}

async function close(core: Core): Promise<void> {
  await core.close();
  // Nothing keeps the thread alive any more.
  port.close();
}

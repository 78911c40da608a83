/** Serves the calls of thread-calls.ts in a worker thread. */

import { parentPort, workerData } from 'node:worker_threads';
import { toError } from '../../errors.ts';
import { isStorageFailure } from './failures.ts';
import { type Call, CLOSE, type Reply, type ThreadInput } from './thread-calls.ts';

if (parentPort === null) throw new Error('calls are served in a worker thread');
const port = parentPort;

export const input = workerData as ThreadInput;

export function serveCalls(verbs: object, close: () => void | Promise<void>): void {
  // The caller uses the types of the same verbs.
  const serving = verbs as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

  async function answer({ id, verb, args }: Call): Promise<void> {
    try {
      reply({ kind: 'done', id, value: await serving[verb]?.(...args) });
    } catch (thrown) {
      const error = toError(thrown);
      reply({ kind: 'failed', id, isStorageFailure: isStorageFailure(error), error });
    }
  }

  async function end(): Promise<void> {
    await close();
    // Without the port the thread ends.
    port.close();
  }

  port.on('message', (message: Call | typeof CLOSE) => void (message === CLOSE ? end() : answer(message)));
}

export function reply(reply: Reply): void {
  port.postMessage(reply);
}

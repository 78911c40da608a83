/** What a thread of the pool does: one task after the other, each told when it begins and what came of it. */

import { parentPort } from 'node:worker_threads';
import type { ThreadReply } from '../pool/pool-thread.ts';
import { prepareTask, type Task } from './tasks.ts';

const port = parentPort;
if (port === null) throw new Error('This file runs in a thread of its own.');

const reply = (message: ThreadReply) => port.postMessage(message);

port.on('message', async (task: Task) => {
  try {
    const work = await prepareTask(task);
    reply({ kind: 'begun' });
    reply({ kind: 'done', value: work() });
  } catch (error) {
    reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});

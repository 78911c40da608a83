/** The thread of the write handle, so that a large commit never delays other work of the process. */

import { StartError } from '../../errors.ts';
import { openCore } from './core.ts';
import { input, reply, serveCalls } from './thread-serve.ts';

try {
  const { core } = openCore({ file: input.file, clock: Date.now, jobQueue: input.jobQueue });
  serveCalls(core.verbs, core.close);
  reply({ kind: 'ready' });
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  reply({ kind: 'refused', message: error.message });
}

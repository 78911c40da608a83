/** Copies in a process that kills itself at the first step of an action on a half-done table. */

import { copyDatabase } from '../../src/storage/copy/copy.ts';

const [from = '', to = '', action = '', table = ''] = process.argv.slice(2);
await copyDatabase({
  from,
  to,
  report(step) {
    const isThere = step.action === action && step.table === table && step.rows > 0;
    if (isThere && (step.rows < step.totalRows || action === 'verify')) process.kill(process.pid, 'SIGKILL');
  },
});
